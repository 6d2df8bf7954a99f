// Writes an assignment into the module: places in types, copies, and one constant for each device
// that reads it; see place.h.
#include "compiler/placement/write/apply.h"

#include <algorithm>
#include <map>
#include <set>

#include "compiler/graph/rewrite/states.h"
#include "compiler/placement/solve/routes.h"
#include "compiler/placement/why/reasons.h"
#include "compiler/placement/write/inserted_copies.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

namespace scopevm::compiler::placement {
namespace {

using graph::PlaceAttr;
using graph::TensorType;

bool is_constant(mlir::Value value) { return mlir::matchPattern(value, mlir::m_Constant()); }

class Applier {
 public:
  Applier(mlir::ModuleOp module, const GraphProblem& graph, const Assignment& assignment)
      : module_(module),
        graph_(graph),
        machine_(*graph.problem.machine),
        assignment_(assignment),
        reasons_(graph, assignment) {
    report_.is_proved = assignment.is_proved;
    report_.notes = graph.notes;
    report_.matched = graph.matched;
  }

  Report run() {
    count_constants();
    for (FlowIndex f : graph_.values.indices())
      flow(f).is_free ? place_constant(f) : place_value(f);
    mark_devices();  // before ops are erased: it visits the ops of all tasks
    for (const auto& [op, why] : graph_.locals)
      op->setAttr(graph::kLocalAttribute, mlir::StringAttr::get(op->getContext(), why));
    // The order of these steps matters. Erasing ops joins copy chains and creates duplicates, which
    // InsertedCopies::merge() removes. Signatures are derived last, from the final types of
    // arguments and results.
    erase_annotations();
    copies_.merge(module_);
    for (auto function : module_.getOps<mlir::func::FuncOp>())
      if (function.isPublic() && !function.isExternal()) copy_at_boundary(function);
    for (auto function : module_.getOps<mlir::func::FuncOp>()) update_signature(function);
    module_.walk([&](mlir::Operation* op) {
      if (op->hasTrait<graph::HasIsolatedBody>()) update_body(op);
    });
    return std::move(report_);
  }

 private:
  const Flow& flow(FlowIndex f) const { return graph_.problem.flows[f]; }
  DeviceIndex device(TaskIndex task) const { return *assignment_.devices[task]; }
  const std::string& device_name(DeviceIndex device) const { return machine_.devices[device].name; }

  PlaceAttr place_of(PoolIndex pool) const {
    return placement::place_of(pool, machine_, mlir::ModuleOp(module_).getContext());
  }
  static PlaceAttr place_of(mlir::Value value) {
    return mlir::cast<TensorType>(value.getType()).getPlace();
  }
  static void set_place(mlir::Value value, PlaceAttr place) {
    value.setType(mlir::cast<TensorType>(value.getType()).withPlace(place));
  }

  // --- Values and their copies. ---

  void place_value(FlowIndex f) {
    // The solver does not store routes. route_of() is deterministic and returns the route that the
    // solver chose.
    const Route route = route_of(graph_.problem, flow(f), assignment_.devices);
    mlir::Value value = graph_.values[f];
    if (is_constant(value))
      value = place_required_constant(f, route.home);
    else
      set_place(value, place_of(route.home));
    note_choice(f, route.home);
    for (PoolIndex pool : route.copies) note_choice(f, pool);
    std::map<PoolIndex, std::vector<Use>> by_copy;
    for (const Use& use : graph_.uses[f])
      if (PoolIndex pool = pool_for(flow(f).readers[use.reader], flow(f), route);
          pool == route.home)
        use.operand->set(value);
      else
        by_copy[pool].push_back(use);
    // All copies through the host, and the readers on the host, share one copy in the host's
    // memory.
    std::map<PoolIndex, std::vector<Use>> from_host;
    const PoolIndex host = machine_.global_pool(machine_.host_device());
    for (const auto& [pool, uses] : by_copy)
      if (machine_.is_by_host(route.home, pool)) from_host[pool] = uses;
    for (const auto& [pool, uses] : from_host) {
      // The uses of the copy from the host count as uses of the copy in the host's memory, so that
      // the latter precedes all of them. The second insert_copy() then redirects these uses.
      by_copy[host].insert(by_copy[host].end(), uses.begin(), uses.end());
      by_copy.erase(pool);
    }
    for (const auto& [pool, uses] : by_copy) {
      mlir::Value copy = insert_copy(f, value, pool, uses);
      if (pool == host)
        for (const auto& [next, readers] : from_host) insert_copy(f, copy, next, readers);
    }
  }

  // Reports that the flow's value or a copy is stored in `pool`, if the pool has a limit and no
  // constraint requires it.
  void note_choice(FlowIndex f, PoolIndex pool) {
    if (!machine_.pools[pool].is_limited()) return;
    const auto is_required = [&](TaskIndex task, const PoolRequirement& required) {
      // The global pool of a device is always permitted.
      return pool == machine_.global_pool(device(task)) ||
             (!required.is_any() && required.on(machine_, device(task)) == pool);
    };
    if (is_required(flow(f).maker, flow(f).pool)) return;
    for (const Reader& reader : flow(f).readers)
      if (is_required(reader.task, reader.pool)) return;
    report_.has_limited_choice = true;
  }

  PoolIndex pool_for(const Reader& reader, const Flow& of, const Route& route) const {
    const DeviceIndex at = device(reader.task);
    if (!reader.pool.is_any()) return *reader.pool.on(machine_, at);
    return pool_read_by(machine_, at, of, route);
  }

  // Inserts a copy of the flow's value, from `value` to `pool`, for these uses.
  mlir::Value insert_copy(FlowIndex f, mlir::Value value, PoolIndex pool,
                          const std::vector<Use>& uses) {
    return copies_.insert(value, place_of(pool), reasons_.of_copy(f, pool_of(value), pool, uses),
                          uses);
  }

  // Each device that reads a constant loads an instance of it, when a session is created. An op
  // that requires a scope reads an instance in that scope, or a copy if the pool lacks the room.
  void place_constant(FlowIndex f) {
    std::map<PoolIndex, mlir::Value> instances;
    std::map<PoolIndex, std::vector<Use>> copies;
    for (const Use& use : graph_.uses[f]) {
      const Reader& reader = flow(f).readers[use.reader];
      const DeviceIndex at = device(reader.task);
      const PoolIndex own = machine_.global_pool(at);
      const PoolIndex pool = reader.pool.is_any() ? own : *reader.pool.on(machine_, at);
      const bool is_instance = pool == own || (!reads_copy(reader) && stores_constants(pool));
      use.operand->set(instance_of(f, is_instance ? pool : own, instances));
      if (!is_instance) copies[pool].push_back(use);
    }
    for (const auto& [pool, uses] : copies) insert_copy(f, uses.front().operand->get(), pool, uses);
    // An unused constant: every tensor type needs a place.
    if (instances.empty())
      set_place(graph_.values[f], place_of(machine_.global_pool(machine_.default_device)));
  }

  // The instance of a constant in `pool`. The first instance is the op itself, the others are
  // clones.
  mlir::Value instance_of(FlowIndex f, PoolIndex pool,
                          std::map<PoolIndex, mlir::Value>& instances) {
    auto [entry, is_new] = instances.try_emplace(pool);
    if (!is_new) return entry->second;
    mlir::Operation* constant = graph_.values[f].getDefiningOp();
    if (instances.size() > 1) {
      mlir::OpBuilder builder(constant);
      builder.setInsertionPointAfter(constant);
      constant = builder.clone(*constant);
    }
    entry->second = constant->getResult(0);
    set_place(entry->second, place_of(pool));
    return entry->second;
  }

  // Whether the reader of a constant reads a copy in the scope that it requires. Such a reader is a
  // task without an op, whose value an op may overwrite, or a copy that the graph requires.
  bool reads_copy(const Reader& reader) const {
    mlir::Operation* op = graph_.tasks[reader.task].op;
    return !op || mlir::isa<graph::DeviceCopyOp, graph::OnDeviceOp>(op);
  }

  // The value of a constant that the graph requires in `home`: the constant itself, or a copy of it
  // if the pool lacks the room.
  mlir::Value place_required_constant(FlowIndex f, PoolIndex home) {
    mlir::Value constant = graph_.values[f];
    const PoolIndex own = machine_.global_pool(device(flow(f).maker));
    const bool is_stored = home == own || graph_.uses[f].empty() || stores_constants(home);
    set_place(constant, place_of(is_stored ? home : own));
    return is_stored ? constant : insert_copy(f, constant, home, graph_.uses[f]);
  }

  // Adds up the bytes of the constants that ops or annotations require in each pool.
  void count_constants() {
    for (FlowIndex f : graph_.values.indices()) {
      if (!is_constant(graph_.values[f])) continue;
      std::set<PoolIndex> pools;
      if (!flow(f).is_free) pools.insert(*flow(f).pool.on(machine_, device(flow(f).maker)));
      for (const Reader& reader : flow(f).readers)
        if (flow(f).is_free && !reader.pool.is_any() && !reads_copy(reader))
          pools.insert(*reader.pool.on(machine_, device(reader.task)));
      for (PoolIndex pool : pools) constant_bytes_[pool] += static_cast<int64_t>(flow(f).bytes);
    }
  }

  // Whether a session stores the constants that are required in `pool`. If they exceed the limit
  // together, or if the pool is a stack, each call copies them, so that they share memory.
  bool stores_constants(PoolIndex pool) const {
    const int64_t bytes = constant_bytes_.at(pool);
    return machine_.pools[pool].kind != PoolKind::kStack &&
           bytes <= machine_.pools[pool].limit.value_or(bytes);
  }

  // --- Annotations, signatures and device attributes. ---

  void erase_annotations() {
    llvm::SmallVector<mlir::Operation*> constraints;
    module_.walk([&](mlir::Operation* op) {
      if (mlir::isa<graph::OnDeviceOp>(op)) constraints.push_back(op);
    });
    for (const TaskRecord& task : graph_.tasks)
      if (task.op && mlir::isa<graph::DeviceCopyOp>(task.op)) constraints.push_back(task.op);
    // In reverse, since an annotation may be the operand of a later one.
    for (mlir::Operation* op : llvm::reverse(constraints)) {
      op->getResult(0).replaceAllUsesWith(op->getOperand(0));
      op->erase();
    }
  }

  static void update_signature(mlir::func::FuncOp function) {
    if (function.isExternal()) return;
    mlir::Block& entry = function.getBody().front();
    function.setType(mlir::FunctionType::get(function.getContext(), entry.getArgumentTypes(),
                                             entry.getTerminator()->getOperandTypes()));
  }

  void update_body(mlir::Operation* group) {
    mlir::Block& block = group->getRegion(0).front();
    for (auto [argument, input] : llvm::zip(block.getArguments(), group->getOperands()))
      argument.setType(input.getType());
    const PlaceAttr place = place_of(group->getResult(0));
    const PlaceAttr embedded = PlaceAttr::get(group->getContext(), place.getDevice(), "");
    for (mlir::Operation& op : block.without_terminator())
      for (mlir::Value result : op.getResults())
        // The kernel embeds the constants of its body.
        set_place(result, is_constant(result) ? embedded : place);
  }

  void mark_devices() {
    for (TaskIndex task : graph_.tasks.indices()) {
      mlir::Operation* op = graph_.tasks[task].op;
      if (!op || mlir::isa<graph::DeviceCopyOp, graph::OnDeviceOp>(op) ||
          mlir::matchPattern(op, mlir::m_Constant()))
        continue;
      // The attribute is written only where the types do not imply the device, so that most ops of
      // a placed module need none.
      op->removeAttr(kDeviceAttribute);
      if (device_of(op, machine_) != device(task))
        op->setAttr(kDeviceAttribute,
                    mlir::StringAttr::get(op->getContext(), device_name(device(task))));
    }
  }

  // --- Inputs and results of the model. ---

  // Callers' tensors are in the host's memory. An input in memory that a non-CPU device or another
  // rank reaches is copied from there, and a result on such a device is copied to the host. The
  // function's type then has the host's place.
  void copy_at_boundary(mlir::func::FuncOp function) {
    const PlaceAttr host = place_of(machine_.global_pool(machine_.host_device()));
    const std::string callers = "callers' tensors are stored on " + host.str();
    mlir::Block& block = function.getBody().front();
    // At the beginning of the function, so that the copy of an input precedes all its readers.
    mlir::OpBuilder builder = mlir::OpBuilder::atBlockBegin(&block);
    const StatesOfRanks states = states_of_ranks(function);
    for (mlir::BlockArgument argument : block.getArguments()) {
      if (!is_reached_by_devices(argument) || states.values.contains(argument)) continue;
      const PlaceAttr place = place_of(argument);
      const std::string name = name_of(argument);
      const CopyReason reason{name, callers, reasons_.of_input(argument)};
      set_place(argument, host);
      mlir::Value copy = make_copy(builder, argument, place, reason);
      copy.getDefiningOp()->setLoc(with_reason(
          mlir::NameLoc::get(mlir::StringAttr::get(argument.getContext(), name)), reason));
      argument.replaceAllUsesExcept(copy, copy.getDefiningOp());
      function.removeArgAttr(argument.getArgNumber(), kPlaceAttribute);
    }
    builder.setInsertionPoint(block.getTerminator());
    for (mlir::OpOperand& operand : block.getTerminator()->getOpOperands()) {
      mlir::Value value = operand.get();
      if (!is_on_device(value) || states.outputs.contains(operand.getOperandNumber())) continue;
      operand.set(
          make_copy(builder, value, host,
                    {name_of(value), "results are stored on " + place_of(value).str(), callers}));
      function.removeResultAttr(operand.getOperandNumber(),
                                mlir::StringAttr::get(value.getContext(), kPlaceAttribute));
    }
  }

  // States in place in the memory of other ranks. They stay there.
  struct StatesOfRanks {
    llvm::SmallDenseSet<mlir::Value> values;
    llvm::SmallDenseSet<unsigned> outputs;
  };
  StatesOfRanks states_of_ranks(mlir::func::FuncOp function) const {
    StatesOfRanks states;
    mlir::Operation* const end = function.getBody().front().getTerminator();
    for (const auto& [argument, output] : graph::arguments_in_place(function)) {
      const PoolIndex pool = pool_of(argument);
      // Other ranks have CPUs only.
      if (pool_of(end->getOperand(output)) != pool ||
          machine_.devices[machine_.pools[pool].device].rank == 0)
        continue;
      states.values.insert(argument);
      states.outputs.insert(output);
    }
    return states;
  }

  // Whether a tensor is stored in memory of a non-CPU device or of another rank.
  bool is_on_device(mlir::Value value) const {
    if (!mlir::isa<TensorType>(value.getType())) return false;
    return !machine_.devices[machine_.pools[pool_of(value)].device].is_of_callers();
  }

  bool is_reached_by_devices(mlir::Value value) const {
    if (!mlir::isa<TensorType>(value.getType())) return false;
    return llvm::any_of(machine_.pools[pool_of(value)].reached, [&](DeviceIndex device) {
      return !machine_.devices[device].is_of_callers();
    });
  }

  PoolIndex pool_of(mlir::Value value) const {
    return *placement::pool_of(place_of(value), machine_);
  }

  mlir::ModuleOp module_;
  const GraphProblem& graph_;
  const Machine& machine_;
  const Assignment& assignment_;
  Reasons reasons_;
  Report report_;
  InsertedCopies copies_;
  std::map<PoolIndex, int64_t> constant_bytes_;  // of constants that are required in the pool
};

}  // namespace

Report apply(mlir::ModuleOp module, const GraphProblem& graph, const Assignment& assignment) {
  return Applier(module, graph, assignment).run();
}

}  // namespace scopevm::compiler::placement
