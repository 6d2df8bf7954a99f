// A graph function -> a Program function: values for graph values, views for reshapes, and for
// every other op the launches that its generator appends.
#include "compiler/kernels/lower.h"

#include <cstring>
#include <map>
#include <set>

#include "compiler/graph/elements.h"
#include "compiler/graph/graph_ops.h"
#include "compiler/kernels/checks.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace scopevm::kernels {
namespace {

using graph::TensorType;

// Requests are expected near this size where nothing is known; plans are made for it.
constexpr int64_t kRepresentativeDim = 64;

class FunctionLowering : public LoweringContext {
 public:
  FunctionLowering(Program& program, KernelModule& kernels)
      : program_(program), kernels_(kernels) {}

  Status run(mlir::func::FuncOp function, const std::map<std::string, DimBound>& dims) {
    function_.name = function.getName().str();
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      auto name = function.getArgAttrOfType<mlir::StringAttr>(i, "sv.name");
      ValueId id = add_value(name ? name.str() : "input" + std::to_string(i),
                             function.getArgument(i).getType());
      function_.values[id].origin = ValueOrigin::kInput;
      ids_[function.getArgument(i)] = id;
      function_.inputs.push_back(id);
    }
    collect_dimensions(dims);
    for (mlir::Operation& op : function.getBody().front())
      if (failed(lower_op(&op)))
        return Status(
            StatusCode::kUnsupported,
            "no kernel for " + op.getName().getStringRef().str() + " \"" + op_name(&op) + "\"");
    for (unsigned i = 0; i < function.getNumResults(); ++i) {
      auto name = function.getResultAttrOfType<mlir::StringAttr>(i, "sv.name");
      function_.output_names.push_back(name ? name.str() : "output" + std::to_string(i));
    }
    program_.functions.push_back(std::move(function_));
    return {};
  }

  KernelModule& kernels() override { return kernels_; }

  ValueId value_of(mlir::Value value) override {
    if (auto found = ids_.find(value); found != ids_.end()) return found->second;
    if (mlir::ElementsAttr elements = constant_of(value)) {
      ValueId id = add_constant(make_constant(elements, value));
      ids_[value] = id;
      return id;
    }
    // A result of the op being lowered.
    ValueId id = add_value(op_name(value.getDefiningOp()), value.getType());
    ids_[value] = id;
    return id;
  }

  mlir::ElementsAttr constant_of(mlir::Value value) override {
    auto op = value.getDefiningOp<graph::ConstantOp>();
    return op ? op.getValue() : nullptr;
  }

  ValueId intermediate(llvm::StringRef name, DType dtype, std::vector<DimExpr> shape) override {
    return add_value({.name = name.str(), .dtype = dtype, .shape = std::move(shape)});
  }

  ValueId constant(const std::string& key, llvm::function_ref<Constant()> make) override {
    auto [entry, is_new] = constants_by_key_.try_emplace(key, -1);
    if (is_new) entry->second = add_constant(make());
    return entry->second;
  }

  void launch(Step step) override {
    if (step.name.empty()) step.name = op_name(current_);
    function_.steps.push_back(std::move(step));
  }

 private:
  ValueId add_value(Value value) {
    value.place.pool = value.origin == ValueOrigin::kConstant ? kPoolConstant : kPoolWorkspace;
    function_.values.push_back(std::move(value));
    return static_cast<ValueId>(function_.values.size() - 1);
  }

  ValueId add_value(const std::string& name, mlir::Type type) {
    auto tensor = mlir::cast<TensorType>(type);
    return add_value({.name = name,
                      .dtype = tensor.getDtype(),
                      .shape = {tensor.getShape().begin(), tensor.getShape().end()}});
  }

  ValueId add_constant(Constant constant) {
    Value value{.name = constant.name,
                .dtype = constant.dtype,
                .shape = {constant.dims.begin(), constant.dims.end()},
                .origin = ValueOrigin::kConstant,
                .constant = static_cast<int>(program_.constants.size())};
    program_.constants.push_back(std::move(constant));
    return add_value(std::move(value));
  }

  Constant make_constant(mlir::ElementsAttr elements, mlir::Value value) {
    auto type = mlir::cast<TensorType>(value.getType());
    Constant constant = graph::constant_of_elements(elements, type.getDtype());
    constant.name = op_name(value.getDefiningOp());
    return constant;
  }

  void collect_dimensions(const std::map<std::string, DimBound>& bounds) {
    std::map<std::string, bool> seen;
    for (ValueId input : function_.inputs)
      for (DimExpr dim : function_.values[input].shape)
        for (const std::string& name : dim.symbols()) {
          if (!seen.try_emplace(name, true).second) continue;
          Dimension dimension{.name = name, .min = DimBound().min};
          if (auto bound = bounds.find(name); bound != bounds.end()) {
            dimension.min = bound->second.min;
            dimension.max = bound->second.max;
            dimension.multiple_of = bound->second.multiple_of;
          }
          int64_t near = std::clamp(kRepresentativeDim, dimension.min, dimension.max);
          near -= near % dimension.multiple_of;
          dimension.representative = std::max(near, std::max<int64_t>(dimension.min, 1));
          function_.dimensions.push_back(dimension);
        }
  }

  llvm::LogicalResult lower_op(mlir::Operation* op) {
    current_ = op;
    collect_checks(op, function_.checks);
    op->walk([&](mlir::Operation* inner) {
      if (inner != op) collect_checks(inner, function_.checks);
    });
    if (mlir::isa<graph::ConstantOp>(op)) return mlir::success();  // made when first used
    if (auto reshape = mlir::dyn_cast<graph::ReshapeOp>(op)) return lower_reshape(reshape);
    if (auto terminator = mlir::dyn_cast<mlir::func::ReturnOp>(op)) return lower_return(terminator);
    mlir::Operation* first = op;
    if (auto group = mlir::dyn_cast<graph::GroupOp>(op)) {
      for (mlir::Operation& inner : group.getBody().front())
        if (!mlir::isa<graph::ConstantOp>(inner)) {
          first = &inner;
          break;
        }
    }
    if (mlir::isa<graph::MatMulOp, graph::ConvOp, graph::ConvTransposeOp>(first))
      return lower_contraction(op, *this);
    if (is_elementwise(first) ||
        mlir::isa<graph::GroupOp, graph::ReduceSumOp, graph::ReduceMeanOp, graph::ReduceProdOp,
                  graph::ReduceMaxOp, graph::ReduceMinOp, graph::ArgMaxOp, graph::ArgMinOp,
                  graph::SoftmaxOp, graph::LogSoftmaxOp, graph::CumSumOp, graph::LayerNormOp>(op))
      return lower_map_reduce(op, *this);
    return lower_movement(op, *this);
  }

  // Every output gets bytes of its own: one that is an input, a constant, or shares its bytes with
  // an earlier output is copied first.
  llvm::LogicalResult lower_return(mlir::func::ReturnOp op) {
    std::set<ValueId> taken;
    for (mlir::OpOperand& operand : op->getOpOperands()) {
      ValueId root = value_of(operand.get());
      while (function_.values[root].origin == ValueOrigin::kView)
        root = function_.values[root].view_of;
      bool is_own = function_.values[root].origin == ValueOrigin::kStep;
      if (!is_own || !taken.insert(root).second) {
        mlir::OpBuilder builder(op);
        auto type = mlir::cast<TensorType>(operand.get().getType());
        auto copy =
            builder.create<graph::ExpandOp>(operand.get().getLoc(), type, operand.get(),
                                            graph::DimsAttr::get(op.getContext(), type.getShape()));
        if (failed(lower_movement(copy, *this))) return mlir::failure();
        operand.set(copy);
        taken.insert(value_of(copy));
      }
      function_.outputs.push_back(value_of(operand.get()));
    }
    return mlir::success();
  }

  llvm::LogicalResult lower_reshape(graph::ReshapeOp op) {
    ValueId of = value_of(op.getX());
    ValueId view = add_value(op_name(op), op.getResult().getType());
    function_.values[view].origin = ValueOrigin::kView;
    function_.values[view].view_of = of;
    function_.values[view].place = function_.values[of].place;
    ids_[op.getResult()] = view;
    return mlir::success();
  }

  Program& program_;
  KernelModule& kernels_;
  Function function_;
  llvm::DenseMap<mlir::Value, ValueId> ids_;
  std::map<std::string, ValueId> constants_by_key_;
  mlir::Operation* current_ = nullptr;
};

}  // namespace

Result<Program> lower(mlir::ModuleOp graph, KernelModule& kernels,
                      const std::map<std::string, DimBound>& dims) {
  Program program;
  program.devices = {{"cpu", "cpu"}};
  program.pools = {{"global", PoolKind::kHeap},
                   {"global.workspace", PoolKind::kArena},
                   {"global.constant", PoolKind::kConstant}};
  auto main = graph.lookupSymbol<mlir::func::FuncOp>("main");
  if (!main || main.isExternal())
    return Status(StatusCode::kInvalidModel, "the module has no function @main");
  std::string diagnostics;
  mlir::ScopedDiagnosticHandler handler(graph.getContext(), [&](mlir::Diagnostic& diagnostic) {
    diagnostics += (diagnostics.empty() ? "" : "; ") + diagnostic.str();
    return mlir::success();
  });
  Status status = FunctionLowering(program, kernels).run(main, dims);
  if (!status.is_ok()) {
    if (diagnostics.empty()) return status;
    return Status(status.code(), std::string(status.message()) + ": " + diagnostics);
  }
  program.kernels = kernels.kernels();
  return program;
}

}  // namespace scopevm::kernels
