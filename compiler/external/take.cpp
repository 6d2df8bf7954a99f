// Offers the parts of a graph that the patterns of a library match to the library; see take.h.
#include "compiler/external/take.h"

#include <set>

#include "compiler/external/alternatives.h"
#include "compiler/external/describe.h"
#include "compiler/external/library.h"
#include "compiler/external/partition/partition.h"
#include "compiler/external/partition/patterns.h"
#include "compiler/graph/diagnostics/op_name.h"
#include "compiler/graph/graph_ops.h"
#include "compiler/graph/values/constant_array.h"
#include "compiler/graph/values/elements.h"
#include "compiler/program/program.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace scopevm::compiler::external {
namespace {

using graph::TensorType;

// Checks that the formula uses only the dims of the function and the thread count.
Status check_workspace(const scopevm_external_library& library, mlir::func::FuncOp function,
                       const std::string& workspace) {
  const std::string where = function.getName().str() + ": workspace \"" + workspace + "\" ";
  const auto formula = DimExpr::parse(workspace);
  if (!formula) return invalid(library, where + "is not a formula");
  std::set<std::string> names = {kThreadsSymbol};
  for (mlir::Type type :
       llvm::concat<const mlir::Type>(function.getArgumentTypes(), function.getResultTypes()))
    for (DimExpr dim : mlir::cast<graph::TensorType>(type).getShape())
      if (dim.kind() == DimExpr::Kind::kSymbol) names.insert(std::string(dim.symbol_name()));
  for (const std::string& name : formula->symbols())
    if (!names.contains(name))
      return invalid(library, where + "uses " + name + ", which is not a dim of the function");
  return {};
}

std::vector<size_t> constant_operands(mlir::func::FuncOp function) {
  std::vector<size_t> operands;
  for (size_t i = 0; i < function.getNumArguments(); ++i)
    if (function.getArgAttr(i, kConstant)) operands.push_back(i);
  return operands;
}

// Sets the attribute kPrepared of the parameters that the library prepares.
void mark_prepared(mlir::func::FuncOp function,
                   const std::vector<scopevm_external_constant>& constants) {
  mlir::Builder builder(function.getContext());
  for (const scopevm_external_constant& constant : constants)
    if (constant.bytes > 0)
      function.setArgAttr(
          constant.operand, kPrepared,
          builder.getDictionaryAttr(
              {builder.getNamedAttr("bytes", builder.getI64IntegerAttr(constant.bytes)),
               builder.getNamedAttr("layout", builder.getStringAttr(text_in(constant.layout)))}));
}

TensorType prepared_type(mlir::MLIRContext* context, int64_t bytes) {
  return TensorType::get(context, DType::kU8, {DimExpr(bytes)});
}

std::vector<graph::CallExternOp> calls_of(mlir::ModuleOp module, mlir::func::FuncOp function) {
  std::vector<graph::CallExternOp> calls;
  const auto uses = mlir::SymbolTable::getSymbolUses(function, module);
  for (const mlir::SymbolTable::SymbolUse& use : *uses)
    calls.push_back(mlir::cast<graph::CallExternOp>(use.getUser()));
  return calls;
}

// Replaces the constant operands that the library prepares by their prepared forms.
Status prepare_operands(mlir::ModuleOp module, const scopevm_external_library& library,
                        mlir::func::FuncOp function, const std::string& description,
                        const std::vector<scopevm_external_constant>& constants) {
  // By constant and operand: calls can share a constant.
  llvm::DenseMap<std::pair<mlir::Value, size_t>, mlir::Value> prepared;
  for (graph::CallExternOp call : calls_of(module, function)) {
    for (const scopevm_external_constant& each : constants) {
      if (each.bytes == 0) continue;
      mlir::OpOperand& operand = call->getOpOperand(each.operand);
      auto [known, is_new] = prepared.try_emplace({operand.get(), each.operand});
      if (is_new) {
        auto constant = operand.get().getDefiningOp<graph::ConstantOp>();
        SCOPEVM_ASSIGN_OR_RETURN(
            const PreparedConstant bytes,
            prepare(library, function.getName().str(), description, each,
                    graph::constant_of_elements(constant.getValue(),
                                                constant.getResult().getType().getDtype())));
        mlir::OpBuilder builder(constant);
        known->second = builder.create<graph::ConstantOp>(
            constant.getLoc(), prepared_type(module.getContext(), each.bytes),
            graph::elements_attribute(module.getContext(), DType::kU8, each.bytes,
                                      {bytes->data(), bytes->size()}, bytes, "prepared"));
      }
      operand.set(known->second);
    }
  }
  return {};
}

// Replaces the function by a declaration with the same symbol.
void replace_by_declaration(mlir::func::FuncOp function, const std::string& library,
                            const std::string& description, const std::string& workspace) {
  mlir::OpBuilder builder(function);
  llvm::SmallVector<mlir::Type> parameters(function.getArgumentTypes());
  for (auto [i, type] : llvm::enumerate(parameters))
    if (auto prepared = function.getArgAttrOfType<mlir::DictionaryAttr>(i, kPrepared))
      type = prepared_type(type.getContext(), prepared.getAs<mlir::IntegerAttr>("bytes").getInt());
  auto declaration = builder.create<graph::ExternOp>(
      function.getLoc(), function.getName(),
      builder.getFunctionType(parameters, function.getResultTypes()), library, nullptr, nullptr,
      nullptr, builder.getStringAttr(description), workspace);
  function.erase();
  // Calls refer to the function by name.
  (void)declaration;
}

ExternalExplanation::Part part_of(mlir::func::FuncOp function, mlir::ModuleOp module) {
  ExternalExplanation::Part part;
  part.function = function.getName().str();
  if (auto patterns = function->getAttrOfType<mlir::ArrayAttr>(kPatterns))
    for (mlir::Attribute pattern : patterns)
      part.patterns.push_back(mlir::cast<mlir::StringAttr>(pattern).getValue().str());
  for (mlir::Operation& op : function.getBody().front().without_terminator())
    part.ops.push_back(graph::op_name(&op));
  part.calls = static_cast<int64_t>(calls_of(module, function).size());
  return part;
}

// Replaces an outlined function by a declaration. Prepares its constant operands.
Status declare(mlir::ModuleOp module, const scopevm_external_library& library,
               mlir::func::FuncOp function, const Answer& answer) {
  mark_prepared(function, answer.constants);
  const std::string description = describe(function);
  SCOPEVM_RETURN_IF_ERROR(
      prepare_operands(module, library, function, description, answer.constants));
  replace_by_declaration(function, library.name, description, answer.workspace);
  return {};
}

Status return_ops(mlir::ModuleOp module, mlir::func::FuncOp function) {
  const std::string name = function.getName().str();
  if (succeeded(inline_back(module, function))) return {};
  return Status(StatusCode::kInternal, "cannot inline " + name);
}

Result<Alternatives> alternatives_of(mlir::ModuleOp module, const scopevm_external_library& library,
                                     mlir::func::FuncOp function, const Answer& answer) {
  Alternatives both;
  both.key = std::string(library.name) + " " +
             (library.version != nullptr ? std::string(library.version) + " " : "") +
             describe(function);
  for (graph::CallExternOp call : calls_of(module, function)) {
    const llvm::FailureOr<graph::DimBindings> dims = graph::bind_extern(call);
    if (failed(dims)) return Status(StatusCode::kInternal, "cannot bind " + both.key);
    graph::DimBindings& in_main = both.calls.emplace_back();
    for (const auto& [name, dim] : *dims) in_main.emplace(name_in_main(name), dim);
  }
  both.own = module_of_call(function, calls_of(module, function).front());
  both.library = both.own->clone();
  const auto copy_in = [&](mlir::ModuleOp alternative) {
    return alternative.lookupSymbol<mlir::func::FuncOp>(function.getNameAttr());
  };
  SCOPEVM_RETURN_IF_ERROR(return_ops(*both.own, copy_in(*both.own)));
  SCOPEVM_RETURN_IF_ERROR(declare(*both.library, library, copy_in(*both.library), answer));
  return both;
}

// Offers an outlined function to the library. If it refuses the function, or is slower, the ops
// return to the graph. If it is slower, `declined`, if any, becomes an attribute of the ops.
Result<ExternalExplanation::Part> offer(mlir::ModuleOp module,
                                        const scopevm_external_library& library,
                                        mlir::func::FuncOp function, const MeasurePart& measure,
                                        std::optional<llvm::StringRef> declined) {
  SCOPEVM_ASSIGN_OR_RETURN(
      const Answer answer,
      query(library, function.getName().str(), describe(function), constant_operands(function)));
  ExternalExplanation::Part part = part_of(function, module);
  part.library = library.name;
  part.is_taken = answer.is_accepted;
  part.reason = answer.reason;
  if (answer.is_accepted) {
    SCOPEVM_RETURN_IF_ERROR(check_workspace(library, function, answer.workspace));
    part.workspace = answer.workspace;
    if (measure) {
      SCOPEVM_ASSIGN_OR_RETURN(Alternatives both,
                               alternatives_of(module, library, function, answer));
      SCOPEVM_ASSIGN_OR_RETURN(part.seconds, measure(std::move(both)));
      part.is_taken = is_faster(part.seconds->library, part.seconds->own);
    }
    if (part.is_taken) {
      SCOPEVM_RETURN_IF_ERROR(declare(module, library, function, answer));
      return part;
    }
    part.reason = "scopevm's kernels are faster";
    for (mlir::Operation& op : function.getBody().front().without_terminator())
      if (declined) op.setAttr(*declined, mlir::UnitAttr::get(module.getContext()));
  }
  SCOPEVM_RETURN_IF_ERROR(return_ops(module, function));
  return part;
}

}  // namespace

Status take(mlir::ModuleOp module, const scopevm_external_library& library,
            const MeasurePart& measure, std::vector<ExternalExplanation::Part>& parts) {
  if (library.patterns == nullptr) return {};
  SCOPEVM_ASSIGN_OR_RETURN(const Patterns patterns,
                           Patterns::parse(library.patterns, library.name, *module.getContext()));
  const auto offer_all = [&](std::optional<llvm::StringRef> declined) -> Status {
    for (mlir::func::FuncOp function : outline(module)) {
      SCOPEVM_ASSIGN_OR_RETURN(ExternalExplanation::Part part,
                               offer(module, library, function, measure, declined));
      parts.push_back(std::move(part));
    }
    return {};
  };
  if (library.merges_parts != 0) {
    partition(module, patterns);
    merge(module);
    module.walk([](graph::PartitionOp partition) {
      if (partition.getPatterns().size() == 1) dissolve(partition);
    });
    // The matches of a merged part can be faster alone.
    SCOPEVM_RETURN_IF_ERROR(offer_all(std::nullopt));
  }
  for (mlir::func::FuncOp pattern : patterns.functions()) {
    partition(module, pattern, library.name);
    SCOPEVM_RETURN_IF_ERROR(offer_all(kDeclined));
  }
  // The next library can be faster.
  module.walk([](mlir::Operation* op) { op->removeDiscardableAttr(kDeclined); });
  return {};
}

}  // namespace scopevm::compiler::external
