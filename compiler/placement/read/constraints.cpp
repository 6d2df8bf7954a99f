// Visits the ops of a graph and adds them to a Problem; see the header.
#include "compiler/placement/read/constraints.h"

#include <algorithm>

#include "compiler/graph/diagnostics/op_name.h"
#include "compiler/placement/functions.h"
#include "compiler/placement/read/problem_builder.h"

namespace scopevm::compiler::placement {
namespace {

using graph::TensorType;

class ConstraintReader : private FlowReader {
 public:
  ConstraintReader(mlir::ModuleOp module, const Machine& machine, const std::vector<Rule>& rules)
      : FlowReader(machine, rules), module_(module) {}

  Result<GraphProblem> run() {
    SCOPEVM_RETURN_IF_ERROR(read_rules());
    // All signatures precede all bodies, since a call refers to the tasks of its callee. Rules come
    // after the constraints of the graph, because the latter take precedence. Last, results without
    // a constraint get the default device.
    find_copies();
    for (auto function : module_.getOps<mlir::func::FuncOp>()) add_parameters(function);
    for (auto function : module_.getOps<mlir::func::FuncOp>())
      if (!function.isExternal()) read(function);
    apply_required_scopes();
    for (const Ruled& ruled : ruled_) apply_rules(ruled);
    place_results();
    SCOPEVM_RETURN_IF_ERROR(status_);
    // Last, because required scopes and rules change the pools.
    for (const View& view : views_) keep_in_place(view);
    return std::move(graph_);
  }

 private:
  using FlowReader::read;

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
      const TaskIndex task = new_task("input \"" + name + "\"" + of);
      // Callers' tensors are in the host's memory, so an input stays there if it is unconstrained.
      if (function.isPublic()) graph_.problem.tasks[task].preferred = machine_.host_device();
      if (is_string(argument.getType())) restrict_to_cpus(task);
      make(argument, task, PoolRequirement::own_scope(), argument.getLoc());
      if (auto place = function.getArgAttrOfType<mlir::StringAttr>(i, kPlaceAttribute);
          place && flow_of_.contains(argument))
        place_value(argument, place.getValue(), "its type", argument.getLoc());
      if (function.isPublic()) ruled_.push_back({task, {{Rule::Kind::kInput, name}}, {argument}});
      signature.parameters.push_back(task);
    }
    for (unsigned i = 0; i < function.getNumResults(); ++i) {
      const std::string name = graph::output_name(function, i);
      const TaskIndex task = new_task("result \"" + name + "\"" + of);
      signature.results.push_back(task);
      signature.result_pools.push_back(PoolRequirement::own_scope());
      signature.result_scopes.emplace_back();
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
    auto written = function.getResultAttrOfType<mlir::StringAttr>(i, kPlaceAttribute);
    if (!written) written = type.getPlace();
    if (written) {
      std::optional<RequiredPlace> place = place_of(written.getValue(), where);
      if (!place) return;
      const Constraint wanted{*place, "its type \"" + written.getValue().str() + "\"", where};
      if (place->is_local)
        return fail(where, graph_.tasks[signature.results[i]].name +
                               " is required in scope local, but it is not computed by a kernel");
      if (!place->pool.is_any()) {
        signature.result_pools[i] = place->pool;
        signature.result_scopes[i] = wanted;
      }
      return constrain(signature.results[i], wanted);
    }
    if (function.isPublic()) model_results_.push_back(signature.results[i]);
  }

  void read(mlir::func::FuncOp function) {
    const Signature& signature = signatures_.at(function.getName());
    mlir::Block& block = function.getBody().front();
    // Callers are read before callees, since clones are appended to the module.
    auto calls = times_of_.find(function.getName());
    times_ = calls == times_of_.end() ? 1 : calls->second;
    dims_ = dims_of_[function.getName()];
    for (mlir::Value argument : block.getArguments())
      if (auto flow = flow_of_.find(argument); flow != flow_of_.end()) {
        graph_.problem.flows[flow->second].times = times_;
        graph_.problem.flows[flow->second].bytes = bytes_of(tensor_of(argument));
      }
    read_block(block);
    for (mlir::OpOperand& operand : block.getTerminator()->getOpOperands())
      read(operand, signature.results[operand.getOperandNumber()],
           signature.result_pools[operand.getOperandNumber()],
           signature.result_scopes[operand.getOperandNumber()]);
  }

  void read_block(mlir::Block& block) {
    for (mlir::Operation& op : block.without_terminator()) read_op(&op);
  }

  // --- Ops. ---

  void read_op(mlir::Operation* op) {
    if (auto annotation = mlir::dyn_cast<graph::OnDeviceOp>(op)) return read_annotation(annotation);
    if (auto branch = mlir::dyn_cast<graph::IfOp>(op)) return read_if(branch);
    if (auto loop = mlir::dyn_cast<graph::LoopOp>(op)) return read_loop(loop);
    if (auto call = mlir::dyn_cast<graph::CallOp>(op)) return read_call(call);
    if (auto closure = mlir::dyn_cast<graph::ClosureOp>(op)) return read_closure(closure);
    const TaskIndex task = new_task("\"" + graph::op_name(op) + "\"", op);
    if (auto copy = mlir::dyn_cast<graph::DeviceCopyOp>(op)) return read_copy(copy, task);
    for (mlir::OpResult result : op->getResults()) {
      const PoolRequirement pool =
          is_kept_by_vm(op) ? place_of_vm().pool
                            : scope_of(op, kResultScopes, result.getResultNumber(), task);
      make(result, task, pool, op->getLoc(), kernel_constraint(op, kResultScopes, pool));
    }
    if (mlir::isa<graph::ConstantOp>(op))
      // Not added to ruled_: rules do not apply to constants, because each device that reads a
      // constant loads it.
      return;
    if (has_strings(op)) restrict_to_cpus(task);
    if (std::optional<std::string> why = host_only(op)) on_host(task, *why, op->getLoc());
    ruled_.push_back({task,
                      {{Rule::Kind::kName, graph::op_name(op)},
                       {Rule::Kind::kType, op->getName().stripDialect().str()}},
                      {op->result_begin(), op->result_end()}});
    if (mlir::isa<graph::ReshapeOp, graph::SliceOp>(op))
      views_.push_back({flow_of_.at(op->getResult(0)), op->getOpOperand(0).get(), task});
    for (mlir::OpOperand& operand : op->getOpOperands()) {
      const unsigned index = operand.getOperandNumber();
      const PoolRequirement pool = scope_of(op, kOperandScopes, index, task);
      if (is_kept_by_vm(op))
        read(operand, task, PoolRequirement::own_scope());
      else
        read(operand, task, pool, kernel_constraint(op, kOperandScopes, pool));
    }
  }

  // The result of a view may alias its operand, so both are stored in one pool, which
  // keep_in_place() chooses.
  struct View {
    FlowIndex flow;
    mlir::Value of;
    TaskIndex task;
  };
  void keep_in_place(const View& view) {
    auto of = flow_of_.find(annotated(view.of));
    // A list or closure.
    if (of == flow_of_.end()) return;
    Flow& source = graph_.problem.flows[of->second];
    Flow& result = graph_.problem.flows[view.flow];
    // A constant is stored on each device that reads it. It is read in another pool only if a scope
    // is required for the view.
    if (source.is_free && result.pool.is_default()) return;
    // A view without a required scope uses the pool that is required for the operand, if both are
    // required on the same device. Otherwise the view is stored in "global" of its device, and the
    // operand is copied to that pool if needed.
    if (result.pool.is_default()) {
      const bool is_same = source.pool.pool() && source_device(source) == source_device(result);
      result.pool = is_same ? source.pool : PoolRequirement::own_scope();
      if (is_same) graph_.scopes[view.flow] = graph_.scopes[of->second];
    }
    for (size_t i = 0; i < source.readers.size(); ++i) {
      // The view must read its operand in the view's pool, because the result aliases the operand.
      // Other ops read an operand in any pool that their device reaches.
      if (source.readers[i].task != view.task) continue;
      source.readers[i].pool = result.pool;
      graph_.reader_scopes[of->second][i] = graph_.scopes[view.flow];
    }
  }
  // The device of a flow's maker, if a constraint requires one.
  std::optional<DeviceIndex> source_device(const Flow& flow) const {
    const std::optional<Constraint>& constraint = graph_.tasks[flow.maker].constraint;
    return constraint ? constraint->place.device : std::nullopt;
  }

  // Why the op runs on the host; empty if it may run elsewhere.
  static std::optional<std::string> host_only(mlir::Operation* op) {
    auto host = mlir::dyn_cast<graph::HostOp>(op);
    return host ? std::optional(host.getHostReason().str()) : std::nullopt;
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
    fail(location_text(op->getLoc()),
         graph_.tasks[task].name + " requires scope " + scope.getValue().str() + ", which device " +
             device_name(device) + " does not have; it has " + known_scopes(device, machine_));
    return {};
  }

  // Finds the annotations that are copies: annotations whose place cannot be joined with the places
  // of inner annotations, or with the host if the VM makes the annotated value. If an inner
  // annotation constrains the readers, the outer one is not a copy.
  void find_copies() {
    llvm::DenseMap<mlir::Value, RequiredPlace> places;  // of annotations, by annotated value
    const llvm::SetVector<mlir::func::FuncOp> closures = functions_of_closures(module_);
    const auto is_made_by_vm = [&](mlir::Value value) {
      auto argument = mlir::dyn_cast<mlir::BlockArgument>(value);
      if (!argument)
        return mlir::isa<graph::HostOp>(value.getDefiningOp()) || is_accumulator(value);
      auto function = mlir::dyn_cast<mlir::func::FuncOp>(argument.getOwner()->getParentOp());
      return function && closures.contains(function);
    };
    // The annotations of one value that are not nested are joined first, so that the copies do not
    // depend on the order of ops.
    for (bool is_nested : {false, true})
      module_.walk([&](graph::OnDeviceOp annotation) {
        if (!annotation.getConstrainBody() || is_annotated(annotation.getX()) != is_nested) return;
        Result<RequiredPlace> place = parse_place(annotation.getPlace(), machine_);
        if (!place.ok()) return;  // read_annotation() reports it
        const mlir::Value value = annotated(annotation.getX());
        const bool is_of_vm = is_made_by_vm(value);
        if (is_of_vm) places.try_emplace(value, place_of_vm());
        auto [known, is_first] = places.try_emplace(value, *place);
        if (is_first) return;
        if (std::optional<RequiredPlace> both = joined(machine_, known->second, *place)) {
          known->second = *both;
        } else if ((is_nested || is_of_vm) && !constrains_readers(annotation.getX())) {
          copies_.insert(annotation);
          places.try_emplace(annotation.getResult(), *place);
        }
      });
  }

  // The place of the values that the VM makes.
  RequiredPlace place_of_vm() const {
    const DeviceIndex host = machine_.host_device();
    return {.device = host, .pool = machine_.global_pool(host)};
  }

  // Whether an annotation constrains the maker of `value`.
  static bool is_annotated(mlir::Value value) {
    for (; auto inner = value.getDefiningOp<graph::OnDeviceOp>(); value = inner.getX())
      if (inner.getConstrainBody()) return true;
    return false;
  }

  // Whether an annotation constrains the readers of `value`. An outer annotation counts as a
  // reader: a different place then conflicts instead of being a copy.
  bool constrains_readers(mlir::Value value) const {
    for (; auto inner = value.getDefiningOp<graph::OnDeviceOp>(); value = inner.getX()) {
      if (inner.getConstrainResult()) return true;
      if (copies_.contains(inner)) return false;
    }
    return false;
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
    if (copies_.contains(annotation)) {
      const TaskIndex task = new_task("\"" + graph::op_name(annotation) + "\"", annotation);
      return read_copy_to(annotation, annotation.getPlace(), "sv.on_device", task);
    }
    const mlir::Value value = annotated(annotation.getX());
    if (annotation.getConstrainBody() && flow_of_.contains(value))
      place_value(value, annotation.getPlace(), "sv.on_device", annotation.getLoc());
    // Reports an unknown place even if nothing reads the annotated value.
    place_of(annotation.getPlace(), location_text(annotation.getLoc()));
  }

  void read_copy(graph::DeviceCopyOp copy, TaskIndex task) {
    if (copy.getFrom()) {
      mlir::Value value = annotated(copy.getX());
      if (flow_of_.contains(value))
        place_value(value, *copy.getFrom(), "sv.device_copy from", copy.getLoc());
    }
    read_copy_to(copy, copy.getTo(), "sv.device_copy to", task);
  }

  void read_copy_to(mlir::Operation* op, llvm::StringRef place_name, const std::string& by,
                    TaskIndex task) {
    const std::string where = location_text(op->getLoc());
    std::optional<RequiredPlace> place = place_of(place_name, where);
    if (!place) return;
    const Constraint wanted{*place, by + " \"" + place_name.str() + "\"", where};
    if (place->is_local)
      return fail(where, graph_.tasks[task].name + " is a copy to scope local (" + wanted.why +
                             "); expected a scope of memory");
    constrain(task, wanted);
    // A pool of another device would not suffice, even if this device reaches it: the op requires a
    // copy in the device's own memory.
    const PoolRequirement pool = place->pool.is_any() ? PoolRequirement::own_scope() : place->pool;
    std::optional<Constraint> scope;
    if (!place->pool.is_any()) scope = wanted;
    make(op->getResult(0), task, pool, op->getLoc(), scope);
    read(op->getOpOperand(0), task, pool, scope);
  }

  // --- Control flow. ---

  // Adds the task of a merge point: every branch stores its operand at the place of the value.
  TaskIndex new_merge_point(mlir::Operation* op, mlir::Value value) {
    return new_task(
        "\"" + graph::op_name(op) + "\"" +
        (op->getNumResults() > 1
             ? " result " + std::to_string(mlir::cast<mlir::OpResult>(value).getResultNumber())
             : ""));
  }

  void read_if(graph::IfOp branch) {
    // The condition has a separate task, because only the condition must be on the host, not the
    // results.
    const TaskIndex condition = new_task("the condition of \"" + graph::op_name(branch) + "\"");
    on_host(condition, "conditions are read on the host", branch.getLoc());
    read(branch->getOpOperand(0), condition);
    std::vector<TaskIndex> merge_points;
    for (mlir::Value result : branch->getResults()) {
      merge_points.push_back(new_merge_point(branch, result));
      make(result, merge_points.back(), PoolRequirement::own_scope(), branch.getLoc());
    }
    for (mlir::Region& region : branch->getRegions()) {
      read_block(region.front());
      for (mlir::OpOperand& operand : region.front().getTerminator()->getOpOperands())
        read_merge_operand(operand, branch->getResult(operand.getOperandNumber()),
                           merge_points[operand.getOperandNumber()]);
    }
  }

  // Adds an operand of a merge point: it is stored in the pool of the merged value.
  void read_merge_operand(mlir::OpOperand& operand, mlir::Value value, TaskIndex merge_point) {
    read(operand, merge_point, pool_of(value), scope_of(value));
  }

  void read_loop(graph::LoopOp loop) {
    mlir::Block& block = loop.getBody().front();
    const size_t carried = block.getNumArguments();
    const double outside = times_;
    std::vector<TaskIndex> merge_points;
    for (mlir::Value result : loop->getResults()) {
      merge_points.push_back(new_merge_point(loop, result));
      make(result, merge_points.back(), PoolRequirement::own_scope(), loop.getLoc());
      if (is_accumulator(result))
        on_host(merge_points.back(), "dynamically sized accumulators are stored on the host",
                loop.getLoc());
    }
    for (size_t i = 0; i < carried; ++i)
      read_merge_operand(loop->getOpOperand(static_cast<unsigned>(i)), loop->getResult(i),
                         merge_points[i]);
    // The initial values are read once, before the loop; everything below runs in each iteration.
    times_ *= trips_of(loop, [&](DimExpr e) { return representative(e, dims_); });
    for (size_t i = 0; i < carried; ++i)
      // The argument, the initial value, the yielded value and the result share one task: a carried
      // value keeps its place across iterations.
      make(block.getArgument(i), merge_points[i], pool_of(loop->getResult(i)), loop.getLoc(),
           scope_of(loop->getResult(i)));
    read_block(block);
    const unsigned first = loop.getHasCondition() ? 1 : 0;
    for (mlir::OpOperand& operand : block.getTerminator()->getOpOperands()) {
      if (operand.getOperandNumber() < first) {
        const TaskIndex condition = new_task("the condition of \"" + graph::op_name(loop) + "\"");
        on_host(condition, "conditions are read on the host", loop.getLoc());
        read(operand, condition);
      } else {
        const unsigned i = operand.getOperandNumber() - first;
        read_merge_operand(operand, loop->getResult(i), merge_points[i]);
      }
    }
    times_ = outside;
  }

  // Why the value is required in pool_of(value).
  std::optional<Constraint> scope_of(mlir::Value value) const {
    auto flow = flow_of_.find(value);
    return flow == flow_of_.end() ? std::nullopt : graph_.scopes[flow->second];
  }

  PoolRequirement pool_of(mlir::Value value) const {
    auto flow = flow_of_.find(value);
    return flow == flow_of_.end() ? PoolRequirement::own_scope()
                                  : graph_.problem.flows[flow->second].pool;
  }

  // Whether the value is a dynamically sized accumulator: when it is full, the VM copies it to a
  // larger storage. Results of a loop after the carried values gather one element per iteration.
  static bool is_accumulator(mlir::Value value) {
    auto loop = value.getDefiningOp<graph::LoopOp>();
    return loop && (loop.getHasCondition() || loop.getTripCount().getValue().empty()) &&
           mlir::cast<mlir::OpResult>(value).getResultNumber() >=
               loop.getBody().front().getNumArguments();
  }

  // --- Calls. ---

  void read_call(graph::CallOp call) {
    const Signature& callee = signatures_.at(call.getCallee());
    // Accumulates: beyond the limit on clones, several calls share a callee.
    times_of_[call.getCallee()] += times_;
    for (mlir::OpOperand& operand : call->getOpOperands()) {
      const TaskIndex task = callee.parameters[operand.getOperandNumber()];
      auto function = module_.lookupSymbol<mlir::func::FuncOp>(call.getCallee());
      mlir::BlockArgument parameter = function.getArgument(operand.getOperandNumber());
      // An argument is read by the task of the callee's parameter, so caller and callee agree on
      // its place.
      read(operand, task, pool_of(parameter), scope_of(parameter));
      pass_dims(tensor_of(operand.get()), tensor_of(parameter), dims_of_[call.getCallee()]);
    }
    for (mlir::OpResult result : call->getResults())
      make(result, callee.results[result.getResultNumber()],
           callee.result_pools[result.getResultNumber()], call.getLoc(),
           callee.result_scopes[result.getResultNumber()]);
  }

  // Evaluates a parameter's symbols at the argument's representative dims. The first call
  // determines the values.
  void pass_dims(TensorType argument, TensorType parameter, DimValues& dims) const {
    if (!argument || !parameter) return;
    for (auto [given, dim] : llvm::zip(argument.getShape(), parameter.getShape()))
      if (dim.kind() == DimExpr::Kind::kSymbol)
        dims.try_emplace(std::string(dim.symbol_name()), representative(given, dims_));
  }

  // A caller of a closure does not know the callee, so functions of closures have their parameters
  // and results on the host.
  void read_closure(graph::ClosureOp closure) {
    const Signature& callee = signatures_.at(closure.getCallee());
    for (const std::vector<TaskIndex>* tasks : {&callee.parameters, &callee.results})
      for (TaskIndex task : *tasks)
        on_host(task, "lists and closures are stored on the host", closure.getLoc());
    for (mlir::OpOperand& operand : closure->getOpOperands())
      read(operand, callee.parameters[operand.getOperandNumber()], PoolRequirement::own_scope());
  }

  mlir::ModuleOp module_;
  llvm::StringMap<Signature> signatures_;
  llvm::StringMap<double> times_of_;    // by function: calls per call of the model
  llvm::StringMap<DimValues> dims_of_;  // by function: dims at its first call
  std::vector<View> views_;
};

}  // namespace

Result<GraphProblem> read_constraints(mlir::ModuleOp module, const Machine& machine,
                                      const std::vector<Rule>& rules) {
  return ConstraintReader(module, machine, rules).run();
}

}  // namespace scopevm::compiler::placement
