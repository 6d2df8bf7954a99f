// Visits the ops of a graph and adds them to a Problem; see the header.
#include "compiler/placement/read/constraints.h"

#include "compiler/graph/diagnostics/op_name.h"
#include "compiler/placement/functions.h"
#include "compiler/placement/read/annotations.h"
#include "compiler/placement/read/problem_builder.h"
#include "compiler/placement/read/rules.h"
#include "compiler/placement/read/views.h"
#include "mlir/IR/Matchers.h"

namespace scopevm::compiler::placement {
namespace {

using graph::TensorType;

bool is_string(mlir::Type type) {
  auto tensor = mlir::dyn_cast<TensorType>(type);
  return tensor && tensor.getDtype() == DType::kStr;
}

bool has_strings(mlir::Operation* op) {
  return llvm::any_of(op->getOperandTypes(), is_string) ||
         llvm::any_of(op->getResultTypes(), is_string);
}

class ConstraintReader {
 public:
  ConstraintReader(mlir::ModuleOp module, const Machine& machine, const Rules& rules)
      : module_(module),
        machine_(machine),
        rules_(rules),
        annotations_(module, machine),
        builder_(machine, annotations_),
        graph_(builder_.graph()) {
    graph_.matched.assign(rules.size(), false);
  }

  Result<GraphProblem> run() {
    // All signatures precede all bodies, since a call refers to the tasks of its callee. Rules come
    // after the constraints of the graph, because the latter take precedence. Last, results without
    // a constraint get the default device.
    for (auto function : module_.getOps<mlir::func::FuncOp>()) add_parameters(function);
    for (auto function : module_.getOps<mlir::func::FuncOp>())
      if (!function.isExternal()) read(function);
    builder_.apply_required_scopes();
    for (const Ruled& ruled : ruled_) rules_.apply(ruled, builder_);
    place_results();
    SCOPEVM_RETURN_IF_ERROR(builder_.status());
    // Last, because required scopes and rules change the pools. Lists and closures have no flow.
    for (const View& view : views_)
      if (std::optional<FlowIndex> of = builder_.flow_of(annotations_.annotated(view.of)))
        keep_in_place(view, *of, graph_);
    builder_.drop_local_accesses();
    for (auto function : module_.getOps<mlir::func::FuncOp>())
      if (function.isPublic() && !function.isExternal()) mark_inputs_and_results(function);
    return std::move(graph_);
  }

 private:
  // --- Functions. ---

  struct Signature {
    std::vector<TaskIndex> parameters;
    std::vector<TaskIndex> results;
    std::vector<PoolRequirement> result_pools;
    std::vector<std::optional<Constraint>> result_scopes;
  };

  void add_parameters(mlir::func::FuncOp function) {
    Signature& signature = signatures_[function.getName()];
    if (function.isExternal()) return;
    const std::string of =
        function.isPublic() ? "" : " of @" + std::string(without_number(function.getName()));
    for (mlir::BlockArgument argument : function.getArguments()) {
      const unsigned i = argument.getArgNumber();
      const std::string name = graph::input_name(argument);
      const TaskIndex task = builder_.new_task("input \"" + name + "\"" + of);
      // Callers' tensors are in the host's memory, so an input stays there if it is unconstrained.
      if (function.isPublic()) graph_.problem.tasks[task].preferred = machine_.host_device();
      if (is_string(argument.getType())) builder_.restrict_to_host(task);
      builder_.make(argument, task, PoolRequirement::own_scope(), argument.getLoc());
      if (auto place = function.getArgAttrOfType<mlir::StringAttr>(i, kPlaceAttribute);
          place && builder_.flow_of(argument))
        builder_.place_value(argument, place.getValue(), "its type", argument.getLoc());
      if (function.isPublic()) ruled_.push_back({task, {{Rule::Kind::kInput, name}}, {argument}});
      signature.parameters.push_back(task);
    }
    for (unsigned i = 0; i < function.getNumResults(); ++i) {
      const std::string name = graph::output_name(function, i);
      const TaskIndex task = builder_.new_task("result \"" + name + "\"" + of);
      signature.results.push_back(task);
      signature.result_pools.push_back(PoolRequirement::own_scope());
      signature.result_scopes.emplace_back();
      if (is_string(function.getResultTypes()[i])) builder_.restrict_to_host(task);
      if (function.isPublic()) ruled_.push_back({task, {{Rule::Kind::kOutput, name}}, {}});
      place_result(function, i, signature);
    }
  }

  // Reads the place of a result from its attribute, else from the function's type. Collects the
  // model's results without a place in model_results_.
  void place_result(mlir::func::FuncOp function, unsigned i, Signature& signature) {
    auto type = mlir::dyn_cast<TensorType>(function.getResultTypes()[i]);
    if (!type) return;
    const std::string where = location_text(function.getLoc());
    const mlir::StringAttr written =
        written_place(function.getResultAttrOfType<mlir::StringAttr>(i, kPlaceAttribute), type);
    if (written) {
      std::optional<RequiredPlace> place = builder_.place_of(written.getValue(), where);
      if (!place) return;
      const Constraint wanted{*place, "its type \"" + written.getValue().str() + "\"", where};
      if (place->is_local)
        return builder_.fail(where,
                             graph_.tasks[signature.results[i]].name +
                                 " is required in scope local, but it is not computed by a kernel");
      if (!place->pool.is_any()) {
        signature.result_pools[i] = place->pool;
        signature.result_scopes[i] = wanted;
      }
      return builder_.constrain(signature.results[i], wanted);
    }
    if (function.isPublic()) model_results_.push_back(signature.results[i]);
  }

  // Places results of the model without a constraint on the default device, if it is permitted for
  // them. A result in a scope that the default device lacks is placed on a device that has the
  // scope.
  void place_results() {
    for (TaskIndex task : model_results_)
      if (!graph_.tasks[task].constraint && builder_.may_be(task, machine_.default_device))
        builder_.constrain(task, {{machine_.default_device, {}}, "default device for results", ""});
  }

  // Callers' tensors are in the host's memory: copies from and to it have a cost.
  void mark_inputs_and_results(mlir::func::FuncOp function) {
    for (mlir::BlockArgument argument : function.getArguments())
      if (std::optional<FlowIndex> flow = builder_.flow_of(argument))
        graph_.problem.flows[*flow].is_input = true;
    const std::vector<TaskIndex>& results = signatures_.at(function.getName()).results;
    for (Flow& flow : graph_.problem.flows)
      for (Reader& reader : flow.readers)
        if (llvm::is_contained(results, reader.task)) reader.is_result = true;
  }

  void read(mlir::func::FuncOp function) {
    const Signature& signature = signatures_.at(function.getName());
    mlir::Block& block = function.getBody().front();
    // Callers are read before callees, since clones are appended to the module.
    auto calls = times_of_.find(function.getName());
    builder_.enter(block, calls == times_of_.end() ? 1 : calls->second,
                   dims_of_[function.getName()]);
    read_block(block);
    for (mlir::OpOperand& operand : block.getTerminator()->getOpOperands())
      builder_.read(operand, signature.results[operand.getOperandNumber()],
                    signature.result_pools[operand.getOperandNumber()],
                    signature.result_scopes[operand.getOperandNumber()]);
  }

  void read_block(mlir::Block& block) {
    for (mlir::Operation& op : block.without_terminator()) read_op(&op);
  }

  // --- Ops. ---

  void read_op(mlir::Operation* op) {
    if (auto annotation = mlir::dyn_cast<graph::OnDeviceOp>(op)) return read_annotation(annotation);
    if (auto merge = mlir::dyn_cast<graph::MergeOp>(op)) return read_merge(merge);
    if (auto user = mlir::dyn_cast<graph::FunctionUserOp>(op))
      return user.isCall() ? read_call(user) : read_closure(user);
    const TaskIndex task = builder_.new_task("\"" + graph::op_name(op) + "\"", op);
    if (auto copy = mlir::dyn_cast<graph::DeviceCopyOp>(op)) return read_copy(copy, task);
    const bool is_kernel = has_kernel(op);
    for (mlir::OpResult result : op->getResults()) {
      const PoolRequirement pool =
          is_kept_by_vm(op) ? place_of_vm(machine_).pool
                            : scope_of(op, kResultScopes, result.getResultNumber(), task);
      builder_.make(result, task, pool, op->getLoc(), kernel_constraint(op, kResultScopes, pool),
                    is_kernel);
    }
    if (mlir::matchPattern(op, mlir::m_Constant()))
      // Not added to ruled_: rules do not apply to constants, because each device that reads a
      // constant loads it.
      return;
    if (has_strings(op)) builder_.restrict_to_host(task);
    if (std::optional<std::string> why = host_only(op)) builder_.on_host(task, *why, op->getLoc());
    ruled_.push_back({task,
                      {{Rule::Kind::kName, graph::op_name(op)},
                       {Rule::Kind::kType, op->getName().stripDialect().str()}},
                      {op->result_begin(), op->result_end()}});
    if (auto view = mlir::dyn_cast<mlir::ViewLikeOpInterface>(op))
      views_.push_back({*builder_.flow_of(op->getResult(0)), view.getViewSource(), task});
    for (mlir::OpOperand& operand : op->getOpOperands()) {
      const unsigned index = operand.getOperandNumber();
      const PoolRequirement pool = scope_of(op, kOperandScopes, index, task);
      if (is_kept_by_vm(op))
        builder_.read(operand, task, PoolRequirement::own_scope());
      else
        builder_.read(operand, task, pool, kernel_constraint(op, kOperandScopes, pool), is_kernel);
    }
  }

  // Why the op runs on the host; empty if it may run elsewhere.
  static std::optional<std::string> host_only(mlir::Operation* op) {
    auto host = mlir::dyn_cast<graph::HostOp>(op);
    return host ? std::optional(host.getHostReason().str()) : std::nullopt;
  }
  // Whether the op reads its operands and writes its results. A view shares the bytes of its
  // operand, and each device stores constants.
  static bool has_kernel(mlir::Operation* op) {
    return !mlir::isa<mlir::ViewLikeOpInterface>(op) && !is_kept_by_vm(op) &&
           !mlir::matchPattern(op, mlir::m_Constant());
  }
  // Whether the op reads or makes a list or closure. The VM stores the values of such an op.
  static bool is_kept_by_vm(mlir::Operation* op) {
    auto is_kept = [](mlir::Type type) {
      return mlir::isa<graph::ListType, graph::ClosureType>(type);
    };
    return mlir::isa<graph::HostOp>(op) && (llvm::any_of(op->getOperandTypes(), is_kept) ||
                                            llvm::any_of(op->getResultTypes(), is_kept));
  }

  // The scope that a kernel requires for one operand or result. It does not constrain the device.
  PoolRequirement scope_of(mlir::Operation* op, const char* attribute, unsigned index,
                           TaskIndex task) {
    auto scopes = op->getAttrOfType<mlir::ArrayAttr>(attribute);
    if (!scopes || index >= scopes.size()) return {};
    auto scope = mlir::dyn_cast<mlir::StringAttr>(scopes[index]);
    if (!scope || scope.getValue().empty()) return {};
    auto type = op->getNumResults() > 0 ? tensor_of(op->getResult(0)) : TensorType();
    // First placement: the op has no device yet, so the scope does not denote a pool. place() runs
    // again, see has_kernel_scopes().
    if (!type || !type.getPlace()) return {};
    const DeviceIndex device = device_of(op, machine_);
    if (std::optional<PoolIndex> pool = machine_.find_pool(device, scope.getValue())) return *pool;
    builder_.fail(location_text(op->getLoc()),
                  graph_.tasks[task].name + " requires scope " + scope.getValue().str() +
                      ", which device " + machine_.devices[device].name +
                      " does not have; it has " + known_scopes(device, machine_));
    return {};
  }

  // The constraint that requires `pool`, the result of scope_of().
  static std::optional<Constraint> kernel_constraint(mlir::Operation* op, const char* attribute,
                                                     const PoolRequirement& pool) {
    if (pool.is_any()) return std::nullopt;
    const bool is_located = static_cast<bool>(op->getLoc()->findInstanceOf<mlir::FileLineColLoc>());
    return Constraint{{.pool = pool},
                      std::string(attribute) + " of \"" + graph::op_name(op) + "\"",
                      is_located ? location_text(op->getLoc()) : "",
                      ""};
  }

  // An annotation with constrain_body constrains the maker of its value, unless it is a copy.
  void read_annotation(graph::OnDeviceOp annotation) {
    if (annotations_.is_copy(annotation)) {
      const TaskIndex task =
          builder_.new_task("\"" + graph::op_name(annotation) + "\"", annotation);
      return read_copy_to(annotation, annotation.getPlace(), "sv.on_device", task);
    }
    const mlir::Value value = annotations_.annotated(annotation.getX());
    const auto source = annotation->getAttrOfType<mlir::StringAttr>(graph::kConstraintSource);
    if (annotation.getConstrainBody() && builder_.flow_of(value))
      builder_.place_value(value, annotation.getPlace(), source ? source.str() : "sv.on_device",
                           annotation.getLoc());
    // Reports an unknown place even if nothing reads the annotated value.
    builder_.place_of(annotation.getPlace(), location_text(annotation.getLoc()));
  }

  void read_copy(graph::DeviceCopyOp copy, TaskIndex task) {
    if (copy.getFrom()) {
      mlir::Value value = annotations_.annotated(copy.getX());
      if (builder_.flow_of(value))
        builder_.place_value(value, *copy.getFrom(), "sv.device_copy from", copy.getLoc());
    }
    read_copy_to(copy, copy.getTo(), "sv.device_copy to", task);
  }

  void read_copy_to(mlir::Operation* op, llvm::StringRef place_name, const std::string& by,
                    TaskIndex task) {
    const std::string where = location_text(op->getLoc());
    std::optional<RequiredPlace> place = builder_.place_of(place_name, where);
    if (!place) return;
    const Constraint wanted{*place, by + " \"" + place_name.str() + "\"", where};
    if (place->is_local)
      return builder_.fail(where, graph_.tasks[task].name + " is a copy to scope local (" +
                                      wanted.why + "); expected a scope of memory");
    builder_.constrain(task, wanted);
    // A pool of another device would not suffice, even if this device reaches it: the op requires a
    // copy in the device's own memory.
    const PoolRequirement pool = place->pool.is_any() ? PoolRequirement::own_scope() : place->pool;
    std::optional<Constraint> scope;
    if (!place->pool.is_any()) scope = wanted;
    builder_.make(op->getResult(0), task, pool, op->getLoc(), scope);
    builder_.read(op->getOpOperand(0), task, pool, scope);
  }

  // --- Control flow. ---

  // Adds the task of a merge point: every branch stores its operand at the place of the value.
  TaskIndex new_merge_point(mlir::Operation* op, mlir::OpResult value) {
    return builder_.new_task(
        "\"" + graph::op_name(op) + "\"" +
        (op->getNumResults() > 1 ? " result " + std::to_string(value.getResultNumber()) : ""));
  }

  void read_merge(graph::MergeOp op) {
    read_conditions(op, op);
    std::vector<TaskIndex> merge_points;
    for (mlir::OpResult result : op->getResults()) {
      merge_points.push_back(new_merge_point(op, result));
      if (is_string(result.getType())) builder_.restrict_to_host(merge_points.back());
      builder_.make(result, merge_points.back(), PoolRequirement::own_scope(), op.getLoc());
      if (op.isDynamicallySized(result))
        builder_.on_host(merge_points.back(),
                         "dynamically sized accumulators are stored on the host", op.getLoc());
    }
    read_merge_operands(op, op, merge_points);
    // The initial values are read once, before the loop; everything below runs in each iteration.
    const double outside = builder_.times();
    builder_.set_times(outside * op.getAssumedTrips([&](DimExpr dim) {
      return representative(dim, builder_.dims());
    }));
    for (mlir::Region& region : op->getRegions()) {
      for (mlir::BlockArgument argument : region.getArguments()) {
        // The argument, the initial value, the yielded value and the result share one task: a
        // carried value keeps its place across iterations.
        const unsigned i = argument.getArgNumber();
        builder_.make(argument, merge_points[i], pool_of(op->getResult(i)), op.getLoc(),
                      scope_of(op->getResult(i)));
      }
      read_block(region.front());
      read_conditions(op, region.front().getTerminator());
      read_merge_operands(op, region.front().getTerminator(), merge_points);
    }
    builder_.set_times(outside);
  }

  // Adds the conditions among the operands of `reader`, which is `op` or a terminator of its
  // regions. They have separate tasks, because only the conditions must be on the host, not the
  // results.
  void read_conditions(graph::MergeOp op, mlir::Operation* reader) {
    for (mlir::OpOperand& operand : reader->getOpOperands()) {
      if (op.getMergePoint(operand)) continue;
      const TaskIndex condition =
          builder_.new_task("the condition of \"" + graph::op_name(op) + "\"");
      builder_.on_host(condition, "conditions are read on the host", op.getLoc());
      builder_.read(operand, condition);
    }
  }

  // Adds the operands that are merged: each is stored in the pool of the merged value.
  void read_merge_operands(graph::MergeOp op, mlir::Operation* reader,
                           llvm::ArrayRef<TaskIndex> merge_points) {
    for (mlir::OpOperand& operand : reader->getOpOperands())
      if (mlir::OpResult value = op.getMergePoint(operand))
        builder_.read(operand, merge_points[value.getResultNumber()], pool_of(value),
                      scope_of(value));
  }

  // Why the value is required in pool_of(value).
  std::optional<Constraint> scope_of(mlir::Value value) const {
    const std::optional<FlowIndex> flow = builder_.flow_of(value);
    return flow ? graph_.scopes[*flow] : std::nullopt;
  }

  PoolRequirement pool_of(mlir::Value value) const {
    const std::optional<FlowIndex> flow = builder_.flow_of(value);
    return flow ? graph_.problem.flows[*flow].pool : PoolRequirement::own_scope();
  }

  // --- Calls. ---

  void read_call(graph::FunctionUserOp call) {
    const llvm::StringRef name = call.getCalleeAttr().getValue();
    const Signature& callee = signatures_.at(name);
    auto function = module_.lookupSymbol<mlir::func::FuncOp>(name);
    // Accumulates: beyond the limit on clones, several calls share a callee.
    times_of_[name] += builder_.times();
    for (mlir::OpOperand& operand : call->getOpOperands()) {
      const TaskIndex task = callee.parameters[operand.getOperandNumber()];
      mlir::BlockArgument parameter = function.getArgument(operand.getOperandNumber());
      // An argument is read by the task of the callee's parameter, so caller and callee agree on
      // its place.
      builder_.read(operand, task, pool_of(parameter), scope_of(parameter));
      pass_dims(tensor_of(operand.get()), tensor_of(parameter), dims_of_[name]);
    }
    for (mlir::OpResult result : call->getResults())
      builder_.make(result, callee.results[result.getResultNumber()],
                    callee.result_pools[result.getResultNumber()], call.getLoc(),
                    callee.result_scopes[result.getResultNumber()]);
  }

  // Evaluates a parameter's symbols at the argument's representative dims. The first call
  // determines the values.
  void pass_dims(TensorType argument, TensorType parameter, DimValues& dims) const {
    if (!argument || !parameter) return;
    for (auto [given, dim] : llvm::zip(argument.getShape(), parameter.getShape()))
      if (dim.kind() == DimExpr::Kind::kSymbol)
        dims.try_emplace(std::string(dim.symbol_name()), representative(given, builder_.dims()));
  }

  // A caller of a closure does not know the callee, so functions of closures have their parameters
  // and results on the host.
  void read_closure(graph::FunctionUserOp closure) {
    const Signature& callee = signatures_.at(closure.getCalleeAttr().getValue());
    for (const std::vector<TaskIndex>* tasks : {&callee.parameters, &callee.results})
      for (TaskIndex task : *tasks)
        builder_.on_host(task, "lists and closures are stored on the host", closure.getLoc());
    for (mlir::OpOperand& operand : closure->getOpOperands())
      builder_.read(operand, callee.parameters[operand.getOperandNumber()],
                    PoolRequirement::own_scope());
  }

  mlir::ModuleOp module_;
  const Machine& machine_;
  const Rules& rules_;
  const Annotations annotations_;
  ProblemBuilder builder_;
  GraphProblem& graph_;  // of builder_
  std::vector<Ruled> ruled_;
  std::vector<TaskIndex> model_results_;
  llvm::StringMap<Signature> signatures_;
  llvm::StringMap<double> times_of_;    // by function: calls per call of the model
  llvm::StringMap<DimValues> dims_of_;  // by function: dims at its first call
  std::vector<View> views_;
};

}  // namespace

Result<GraphProblem> read_constraints(mlir::ModuleOp module, const Machine& machine,
                                      const std::vector<Rule>& rules) {
  SCOPEVM_ASSIGN_OR_RETURN(const Rules parsed, Rules::parse(rules, machine));
  return ConstraintReader(module, machine, parsed).run();
}

}  // namespace scopevm::compiler::placement
