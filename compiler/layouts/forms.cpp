// Builds a module for each form of a convolution; see forms.h.
#include "compiler/layouts/forms.h"

#include <set>

#include "compiler/layouts/models/image.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "vm/format/schema/entry_name.h"

namespace scopevm::compiler::layouts {
namespace {

using graph::TensorType;

TensorType unplaced(mlir::Value value) { return graph::type_of(value).withPlace(nullptr); }

// The image by channel, whose dims that are not constant are symbols of their own.
TensorType image_of(mlir::Value x, graph::DimBindings& dims) {
  const TensorType type = unplaced(x);
  llvm::SmallVector<DimExpr> shape;
  for (DimExpr dim : type.getShape()) {
    if (!dim.is_constant()) {
      const std::string name = "d" + std::to_string(shape.size());
      dims.emplace(name, dim);
      dim = DimExpr::symbol(name);
    }
    shape.push_back(dim);
  }
  return type.withShape(shape);
}

// A module with a copy of the convolution by channel. Weights and bias are constants of `main`.
mlir::OwningOpRef<mlir::ModuleOp> by_channel_module(mlir::Operation* op, graph::DimBindings& dims) {
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(op->getLoc());
  mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(module->getBody());
  auto main = builder.create<mlir::func::FuncOp>(op->getLoc(), format::kEntryName,
                                                 mlir::FunctionType::get(op->getContext(), {}, {}));
  mlir::Block* block = &main.getBody().emplaceBlock();
  builder.setInsertionPointToEnd(block);
  llvm::SmallVector<mlir::Value> operands = {
      block->addArgument(image_of(op->getOperand(0), dims), op->getLoc())};
  for (mlir::Value constant : llvm::drop_begin(op->getOperands())) {
    mlir::Value copy = builder.clone(*constant.getDefiningOp())->getResult(0);
    copy.setType(unplaced(constant));
    operands.push_back(copy);
  }
  // The type of the result is inferred from those of the operands.
  mlir::OperationState state(op->getLoc(), op->getName().getStringRef(), operands, {},
                             op->getAttrs());
  llvm::SmallVector<mlir::Type> types;
  if (failed(mlir::cast<mlir::InferTypeOpInterface>(op).inferReturnTypes(
          op->getContext(), op->getLoc(), operands, op->getAttrDictionary(),
          op->getPropertiesStorage(), {}, types)))
    return nullptr;
  state.addTypes(types);
  mlir::Operation* copy = builder.create(state);
  builder.create<mlir::func::ReturnOp>(op->getLoc(), copy->getResults());
  main.setType(mlir::FunctionType::get(op->getContext(), block->getArgumentTypes(), types));
  main.setArgAttr(0, "sv.name", builder.getStringAttr("x0"));
  main.setResultAttr(0, "sv.name", builder.getStringAttr("y0"));
  return module;
}

// A copy of the module by channel in which the convolution is blocked, with schedule `schedule`.
mlir::OwningOpRef<mlir::ModuleOp> blocked_module(mlir::ModuleOp by_channel, ImageOp conv,
                                                 BlockedForm form, size_t schedule) {
  mlir::OwningOpRef<mlir::ModuleOp> module = by_channel.clone();
  auto main = *module->getOps<mlir::func::FuncOp>().begin();
  mlir::Block& block = main.getBody().front();
  main.walk([&](ImageOp op) {
    if (op->getName() == conv->getName()) conv = op;
  });
  mlir::BlockArgument x = block.getArgument(0);
  if (!form.reads_plain) x.setType(blocked_type(graph::type_of(x)));
  mlir::OpBuilder builder(conv);
  mlir::IRMapping operands;
  operands.map(x, x);
  form.schedule = schedule;
  const mlir::Value result = conv.createBlocked(builder, form, operands);
  conv->replaceAllUsesWith(mlir::ValueRange{result});
  conv->erase();
  main.setType(mlir::FunctionType::get(main.getContext(), block.getArgumentTypes(),
                                       block.getTerminator()->getOperandTypes()));
  return module;
}

std::string key_of(Candidate candidate, const schedule::Core& core, graph::DimBindings& dims) {
  std::string key;
  llvm::raw_string_ostream out(key);
  out << candidate.op->getName() << " " << candidate.op->getAttrDictionary() << " "
      << image_of(candidate.op->getOperand(0), dims);
  for (mlir::Value constant : llvm::drop_begin(candidate.op->getOperands()))
    out << " " << unplaced(constant);
  out << "; " << candidate.op.getByChannelScheduleText(core);
  BlockedForm& form = candidate.form;
  for (form.schedule = 0; form.schedule < form.schedules.size(); ++form.schedule)
    out << "; " << candidate.op.getScheduleText(form, core);
  return key;
}

std::string id_of(const std::string& key, const graph::DimBindings& dims) {
  std::string id = key;
  for (const auto& [name, dim] : dims) id += " " + name + "=" + dim.str();
  return id;
}

}  // namespace

std::optional<std::string> id_of(const Candidate& candidate, const schedule::Core& core) {
  if (!candidate.is_convolution()) return std::nullopt;
  graph::DimBindings dims;
  const std::string key = key_of(candidate, core, dims);
  return id_of(key, dims);
}

std::vector<Forms> forms_of(mlir::ModuleOp module, const Machine& machine, const Options& options) {
  std::vector<Forms> found;
  std::set<std::string> ids;
  module.lookupSymbol<mlir::func::FuncOp>(format::kEntryName).walk([&](mlir::Operation* op) {
    const std::optional<Candidate> image_op = candidate(op, machine, options);
    if (!image_op || !image_op->is_convolution()) return;
    Forms forms;
    forms.key = key_of(*image_op, *options.core, forms.dims);
    forms.id = id_of(forms.key, forms.dims);
    if (!ids.insert(forms.id).second) return;
    forms.modules.push_back(by_channel_module(op, forms.dims));
    if (!forms.modules.front()) return;
    for (size_t i = 0; i < image_op->form.schedules.size(); ++i)
      forms.modules.push_back(
          blocked_module(*forms.modules.front(), image_op->op, image_op->form, i));
    found.push_back(std::move(forms));
  });
  return found;
}

}  // namespace scopevm::compiler::layouts
