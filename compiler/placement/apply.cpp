// Writes an assignment into the module: places in types, copies, and one constant for each device
// that reads it; see place.h.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "compiler/graph/diagnostics/op_name.h"
#include "compiler/placement/constraints.h"
#include "compiler/placement/copies.h"
#include "llvm/ADT/SetVector.h"
#include "mlir/IR/Builders.h"

namespace scopevm::compiler::placement {
namespace {

using graph::TensorType;

class Applier {
 public:
  Applier(mlir::ModuleOp module, const GraphProblem& graph, const Assignment& assignment)
      : module_(module), graph_(graph), machine_(*graph.problem.machine), assignment_(assignment) {
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
    // merge_copies() removes. Signatures are derived last, from the final types of arguments and
    // results.
    erase_annotations();
    merge_copies();
    for (auto function : module_.getOps<mlir::func::FuncOp>())
      if (function.isPublic() && !function.isExternal()) copy_at_boundary(function);
    for (auto function : module_.getOps<mlir::func::FuncOp>()) update_signature(function);
    module_.walk([&](graph::GroupOp group) { update_body(group); });
    return std::move(report_);
  }

 private:
  const Flow& flow(FlowIndex f) const { return graph_.problem.flows[f]; }
  DeviceIndex device(TaskIndex task) const { return *assignment_.devices[task]; }
  const std::string& device_name(DeviceIndex device) const { return machine_.devices[device].name; }

  void set_place(mlir::Value value, const std::string& place) {
    auto type = mlir::cast<TensorType>(value.getType());
    value.setType(type.withPlace(mlir::StringAttr::get(value.getContext(), place)));
  }

  // The pool as a place: "gpu.global.fast", or "gpu" for the global pool of gpu.
  std::string text_of(PoolIndex pool) const {
    const DeviceIndex owner = machine_.pools[pool].device;
    return pool == machine_.global_pool(owner) ? device_name(owner) : machine_.pool_name(pool);
  }

  // --- Values and their copies. ---

  void place_value(FlowIndex f) {
    // The solver does not store routes. route_of() is deterministic and returns the route that the
    // solver chose.
    const Route route = route_of(graph_.problem, flow(f), assignment_.devices);
    mlir::Value value = graph_.values[f];
    if (value.getDefiningOp<graph::ConstantOp>())
      value = place_required_constant(f, route.home);
    else
      set_place(value, text_of(route.home));
    note_choice(f, route.home);
    for (PoolIndex pool : route.copies) note_choice(f, pool);
    std::map<PoolIndex, std::vector<Use>> by_copy;
    for (const Use& use : graph_.uses[f])
      if (PoolIndex pool = pool_for(flow(f).readers[use.reader], route); pool == route.home)
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

  PoolIndex pool_for(const Reader& reader, const Route& route) const {
    const DeviceIndex at = device(reader.task);
    if (!reader.pool.is_any()) return *reader.pool.on(machine_, at);
    if (machine_.reaches(at, route.home)) return route.home;
    // The search succeeds, because the route has a reachable pool for each of these readers.
    return *std::ranges::find_if(route.copies,
                                 [&](PoolIndex pool) { return machine_.reaches(at, pool); });
  }

  // Inserts a copy of the flow's value, from `value` to `pool`, for these uses.
  mlir::Value insert_copy(FlowIndex f, mlir::Value value, PoolIndex pool,
                          const std::vector<Use>& uses) {
    mlir::OpBuilder builder(value.getContext());
    builder.setInsertionPoint(first_reader(value, uses));
    const PoolIndex from = *parse_pool(place_of(value), machine_);
    mlir::Value copy = make_copy(builder, value, text_of(pool), reason_of(f, from, pool, uses));
    for (const Use& use : uses) use.operand->set(copy);
    copies_.push_back(copy);
    return copy;
  }

  // The reason for a copy from `from` to `to`. A copy that an earlier placement inserted keeps its
  // reason.
  CopyReason reason_of(FlowIndex f, PoolIndex from, PoolIndex to, const std::vector<Use>& uses) {
    for (const Use& use : uses)
      if (auto known = mlir::dyn_cast<graph::DeviceCopyOp>(use.operand->getOwner());
          known && known.getTo() == text_of(to))
        if (std::optional<CopyReason> reason = copy_reason(known)) return *reason;
    const std::string name = name_of(graph_.values[f]);
    const std::optional<Constraint>& scope = graph_.scopes[f];
    if (graph_.values[f].getDefiningOp<graph::ConstantOp>() && scope &&
        scope->place.pool.on(machine_, device(flow(f).maker)) == to)
      return {name, text_of(to) + " lacks the room for the constant",
              "\"" + name + "\" is required in " + text_of(to) + ": " + placement::text_of(*scope)};
    return {name, why_stored(f, from, to), why_read(f, uses.front().reader, from, to)};
  }

  // Why the value is stored in `from`. If the maker's device reaches `to`, the reason is a required
  // scope: that of the value, or that of another reader. Otherwise the reason is the maker's
  // device.
  std::string why_stored(FlowIndex f, PoolIndex from, PoolIndex to) {
    if (flow(f).is_free) return "constants are stored on each device that reads them";
    const std::string& name = graph_.tasks[flow(f).maker].name;
    if (!machine_.reaches(device(flow(f).maker), to)) return why(flow(f).maker);
    const std::string is_stored = name + " is stored in " + text_of(from) + ": ";
    if (const auto& scope = graph_.scopes[f]) return is_stored + placement::text_of(*scope);
    for (size_t i = 0; i < flow(f).readers.size(); ++i) {
      const auto& scope = graph_.reader_scopes[f][i];
      const Reader& reader = flow(f).readers[i];
      if (scope && !reader.pool.is_any() && reader.pool.on(machine_, device(reader.task)) == from)
        return is_stored + graph_.tasks[reader.task].name + " reads it there (" +
               placement::text_of(*scope) + ")";
    }
    return why(flow(f).maker);
  }

  // Why a reader requires the value in `to`. If the reader's device reaches `from`, the reason is
  // its required scope. Otherwise the reason is its device.
  std::string why_read(FlowIndex f, size_t reader, PoolIndex from, PoolIndex to) {
    const TaskIndex task = flow(f).readers[reader].task;
    const auto& scope = graph_.reader_scopes[f][reader];
    if (!scope || !machine_.reaches(device(task), from)) return why(task);
    return graph_.tasks[task].name + " reads it in " + text_of(to) + ": " +
           placement::text_of(*scope);
  }

  // Merges copies of one value to one place. Such duplicates arise when an sv.device_copy or
  // sv.on_device of the graph is erased: copies of its result become copies of its operand. The
  // result is the same as for a graph without the erased op.
  void merge_copies() {
    for (size_t i = copies_.size(); i-- > 0;)
      if (copies_[i].use_empty()) erase_copy(i);  // an explicit copy whose result is unused
    for (size_t i = 0; i < copies_.size(); ++i) {
      const mlir::Value value = copies_[i].getDefiningOp()->getOperand(0);
      // From the end, since erase_copy() shifts the later elements.
      for (size_t k = copies_.size(); k-- > i + 1;) {
        if (copies_[k].getDefiningOp()->getOperand(0) != value ||
            copies_[k].getType() != copies_[i].getType())
          continue;
        copies_[k].replaceAllUsesWith(copies_[i]);
        erase_copy(k);
      }
    }
    arrange_copies();
  }

  // Moves each copy before its first reader. Copies are visited in reverse order, since a copy may
  // be the source of another. Copies before one reader are sorted by their source values, so that
  // the result does not depend on the order of insertion.
  void arrange_copies() {
    llvm::DenseMap<mlir::Value, size_t> order;
    auto add = [&](mlir::Value value) { order.try_emplace(value, order.size()); };
    module_.walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation* op) {
      llvm::for_each(op->getResults(), add);
      for (mlir::Region& region : op->getRegions())
        for (mlir::Block& block : region) llvm::for_each(block.getArguments(), add);
    });
    auto rank = [&](mlir::Value copy) {
      int depth = 0;
      mlir::Value value = copy;
      for (; value.getDefiningOp<graph::DeviceCopyOp>(); ++depth)
        value = value.getDefiningOp()->getOperand(0);
      return std::tuple(order.at(value), depth, place_of(copy));
    };
    std::vector<mlir::Value> sorted = copies_;
    std::ranges::stable_sort(sorted, [&](auto a, auto b) { return rank(a) < rank(b); });
    llvm::DenseMap<mlir::Operation*, mlir::Operation*> first_before;  // by reader
    for (mlir::Value copy : llvm::reverse(sorted)) {
      std::vector<Use> uses;
      for (mlir::OpOperand& use : copy.getUses()) uses.push_back({&use, 0});
      mlir::Operation* op = copy.getDefiningOp();
      mlir::Operation* reader = first_reader(op->getOperand(0), uses);
      auto [before, is_new] = first_before.try_emplace(reader, reader);
      op->moveBefore(before->second);
      before->second = op;
    }
  }

  void erase_copy(size_t i) {
    copies_[i].getDefiningOp()->erase();
    copies_.erase(copies_.begin() + static_cast<std::ptrdiff_t>(i));
  }

  static mlir::Value make_copy(mlir::OpBuilder& builder, mlir::Value value,
                               const std::string& place, const CopyReason& reason) {
    auto name = mlir::StringAttr::get(value.getContext(), place);
    return builder.create<graph::DeviceCopyOp>(
        with_reason(value.getLoc(), reason),
        mlir::cast<TensorType>(value.getType()).withPlace(name), value, name, mlir::StringAttr());
  }

  // The op before which a copy for these uses is inserted. The copy is as late as possible, and
  // inside a branch if all readers are in it. It is never inside a loop in which the value is
  // invariant.
  static mlir::Operation* first_reader(mlir::Value value, const std::vector<Use>& uses) {
    mlir::Block* block = value.getParentBlock();
    while (true) {
      llvm::SetVector<mlir::Operation*> readers;
      for (const Use& use : uses)
        // A reader inside a loop counts as the loop itself: the copy is then outside of it.
        readers.insert(block->findAncestorOpInBlock(*use.operand->getOwner()));
      mlir::Operation* first = *std::min_element(
          readers.begin(), readers.end(), [](auto* a, auto* b) { return a->isBeforeInBlock(b); });
      mlir::Block* inner = nullptr;
      if (readers.size() == 1 && mlir::isa<graph::IfOp>(first))
        for (mlir::Region& region : first->getRegions())
          if (llvm::all_of(uses, [&](const Use& use) {
                return region.isAncestor(use.operand->getOwner()->getParentRegion());
              }))
            inner = &region.front();
      if (!inner) return first;
      block = inner;
    }
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
    if (instances.empty()) set_place(graph_.values[f], device_name(machine_.default_device));
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
    set_place(entry->second, text_of(pool));
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
    set_place(constant, text_of(is_stored ? home : own));
    return is_stored ? constant : insert_copy(f, constant, home, graph_.uses[f]);
  }

  // Adds up the bytes of the constants that ops or annotations require in each pool.
  void count_constants() {
    for (FlowIndex f : graph_.values.indices()) {
      if (!graph_.values[f].getDefiningOp<graph::ConstantOp>()) continue;
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

  void update_body(graph::GroupOp group) {
    mlir::Block& block = group.getBody().front();
    for (auto [argument, input] : llvm::zip(block.getArguments(), group.getInputs()))
      argument.setType(input.getType());
    const std::string place = place_of(group->getResult(0));
    for (mlir::Operation& op : block.without_terminator())
      for (mlir::Value result : op.getResults())
        // The kernel embeds the constants of its body.
        set_place(result,
                  mlir::isa<graph::ConstantOp>(op) ? place.substr(0, place.find('.')) : place);
  }

  void mark_devices() {
    for (TaskIndex task : graph_.tasks.indices()) {
      mlir::Operation* op = graph_.tasks[task].op;
      if (!op || mlir::isa<graph::DeviceCopyOp, graph::OnDeviceOp, graph::ConstantOp>(op)) continue;
      // The attribute is written only where the types do not imply the device, so that most ops of
      // a placed module need none.
      op->removeAttr(kDeviceAttribute);
      if (device_of(op, machine_) != device(task))
        op->setAttr(kDeviceAttribute,
                    mlir::StringAttr::get(op->getContext(), device_name(device(task))));
    }
  }

  // --- Inputs and results of the model. ---

  // Callers' tensors are in the host's memory. An input in memory that a non-CPU device reaches is
  // copied from there, and a result on a non-CPU device is copied to the host. The function's type
  // then has the host's place.
  void copy_at_boundary(mlir::func::FuncOp function) {
    const std::string host = device_name(machine_.host_device());
    const std::string callers = "callers' tensors are stored on " + host;
    mlir::Block& block = function.getBody().front();
    // At the beginning of the function, so that the copy of an input precedes all its readers.
    mlir::OpBuilder builder = mlir::OpBuilder::atBlockBegin(&block);
    for (mlir::BlockArgument argument : block.getArguments()) {
      if (!is_reached_by_devices(argument)) continue;
      const std::string place = place_of(argument), name = name_of(argument);
      const CopyReason reason{name, callers, input_why(argument)};
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
      if (!is_on_device(value)) continue;
      operand.set(make_copy(builder, value, host,
                            {name_of(value), "results are stored on " + place_of(value), callers}));
      function.removeResultAttr(operand.getOperandNumber(),
                                mlir::StringAttr::get(value.getContext(), kPlaceAttribute));
    }
  }

  // Whether a tensor is stored in memory of a non-CPU device.
  bool is_on_device(mlir::Value value) const {
    if (!mlir::isa<TensorType>(value.getType())) return false;
    return !machine_.devices[machine_.pools[pool_of(value)].device].is_host();
  }

  bool is_reached_by_devices(mlir::Value value) const {
    if (!mlir::isa<TensorType>(value.getType())) return false;
    return llvm::any_of(machine_.pools[pool_of(value)].reached,
                        [&](DeviceIndex device) { return !machine_.devices[device].is_host(); });
  }

  PoolIndex pool_of(mlir::Value value) const { return *parse_pool(place_of(value), machine_); }

  std::string input_why(mlir::Value input) {
    const auto is_input = [&](mlir::Value value) { return value == input; };
    const std::optional<FlowIndex> f = find_index(graph_.values, is_input);
    return f ? why(flow(*f).maker) : "";
  }

  // --- The report. ---

  static std::string place_of(mlir::Value value) {
    return mlir::cast<TensorType>(value.getType()).getPlace().getValue().str();
  }

  // Describes the constraint that determines a task's device: its own, or that of the nearest
  // constrained task on the same device. Breadth-first search along shared values finds the nearest
  // one.
  std::string why(TaskIndex task) {
    const TaskRecord& record = graph_.tasks[task];
    const std::string on_device = device_name(device(task));
    const std::string is_on = record.name + " is placed on " + on_device;
    if (const Constraint* constraint = constraint_of(task))
      return is_on + ": " +
             (constraint->operand.empty() ? placement::text_of(*constraint)
                                          : "it reads \"" + constraint->operand + "\" there (" +
                                                placement::text_of(*constraint) + ")");
    if (std::optional<TaskIndex> near = nearest_constraint(task))
      return is_on + ": lowest copy cost, because " + graph_.tasks[*near].name +
             " is required on " + on_device + " (" + placement::text_of(*constraint_of(*near)) +
             ")";
    return is_on + ": " +
           (record.scope ? placement::text_of(*record.scope) : "no constraint applies");
  }

  // The constraint that determines the task's device or its class. A required scope does if only
  // one permitted device is left.
  const Constraint* constraint_of(TaskIndex task) const {
    const TaskRecord& record = graph_.tasks[task];
    if (record.constraint) return &*record.constraint;
    const auto of_class = std::ranges::find_if(record.classes, [&](const Constraint& constraint) {
      return llvm::any_of(machine_.devices.indices(), [&](DeviceIndex device) {
        return !constraint.place.permits(machine_, device);
      });
    });
    if (of_class != record.classes.end()) return &*of_class;
    return record.scope && graph_.problem.tasks[task].devices.size() == 1 ? &*record.scope
                                                                          : nullptr;
  }

  std::optional<TaskIndex> nearest_constraint(TaskIndex task) {
    if (neighbours_.empty()) find_neighbours();
    IndexedVector<TaskIndex, bool> is_seen(graph_.tasks.size(), false);
    std::vector<TaskIndex> queue = {task};
    is_seen[task] = true;
    for (size_t i = 0; i < queue.size(); ++i) {
      if (constraint_of(queue[i])) return queue[i];
      for (TaskIndex next : neighbours_[queue[i]])
        if (device(next) == device(task) && !is_seen[next]) {
          is_seen[next] = true;
          queue.push_back(next);
        }
    }
    return std::nullopt;
  }

  // Neighbours are the maker of a value and its readers, and consecutive readers on one device,
  // which share a copy.
  void find_neighbours() {
    neighbours_.resize(graph_.tasks.size());
    auto join = [&](TaskIndex a, TaskIndex b) {
      if (a == b) return;
      neighbours_[a].push_back(b);
      neighbours_[b].push_back(a);
    };
    for (const Flow& flow : graph_.problem.flows) {
      if (flow.is_free) continue;
      std::map<DeviceIndex, TaskIndex> last;
      for (const Reader& reader : flow.readers) {
        join(flow.maker, reader.task);
        auto [before, is_first] = last.try_emplace(device(reader.task), reader.task);
        if (!is_first) join(std::exchange(before->second, reader.task), reader.task);
      }
    }
  }

  mlir::ModuleOp module_;
  const GraphProblem& graph_;
  const Machine& machine_;
  const Assignment& assignment_;
  IndexedVector<TaskIndex, std::vector<TaskIndex>> neighbours_;  // filled by find_neighbours()
  Report report_;
  std::vector<mlir::Value> copies_;
  std::map<PoolIndex, int64_t> constant_bytes_;  // of constants that are required in the pool
};

}  // namespace

Report apply(mlir::ModuleOp module, const GraphProblem& graph, const Assignment& assignment) {
  return Applier(module, graph, assignment).run();
}

}  // namespace scopevm::compiler::placement
