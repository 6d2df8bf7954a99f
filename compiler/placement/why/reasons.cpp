// Words the reasons of copies; see the header.
#include "compiler/placement/why/reasons.h"

#include <algorithm>
#include <map>
#include <utility>

#include "mlir/IR/Matchers.h"

namespace scopevm::compiler::placement {

CopyReason Reasons::of_copy(FlowIndex f, PoolIndex from, PoolIndex to,
                            const std::vector<Use>& uses) {
  for (const Use& use : uses)
    if (auto known = mlir::dyn_cast<graph::DeviceCopyOp>(use.operand->getOwner());
        known && known.getTo() == text_of(to, machine_))
      if (std::optional<CopyReason> reason = copy_reason(known)) return *reason;
  const std::string name = name_of(graph_.values[f]);
  const std::optional<Constraint>& scope = graph_.scopes[f];
  if (mlir::matchPattern(graph_.values[f], mlir::m_Constant()) && scope &&
      scope->place.pool.on(machine_, device(flow(f).maker)) == to)
    return {name, text_of(to, machine_) + " lacks the room for the constant",
            "\"" + name + "\" is required in " + text_of(to, machine_) + ": " + text_of(*scope)};
  return {name, why_stored(f, from, to), why_read(f, uses.front().reader, from, to)};
}

// Why the value is stored in `from`. If the maker's device reaches `to`, the reason is a required
// scope: that of the value, or that of another reader. Otherwise the reason is the maker's
// device.
std::string Reasons::why_stored(FlowIndex f, PoolIndex from, PoolIndex to) {
  if (flow(f).is_free) return "constants are stored on each device that reads them";
  const std::string& name = graph_.tasks[flow(f).maker].name;
  if (!machine_.reaches(device(flow(f).maker), to)) return why(flow(f).maker);
  const std::string is_stored = name + " is stored in " + text_of(from, machine_) + ": ";
  if (const auto& scope = graph_.scopes[f]) return is_stored + text_of(*scope);
  for (size_t i = 0; i < flow(f).readers.size(); ++i) {
    const auto& scope = graph_.reader_scopes[f][i];
    const Reader& reader = flow(f).readers[i];
    if (scope && !reader.pool.is_any() && reader.pool.on(machine_, device(reader.task)) == from)
      return is_stored + graph_.tasks[reader.task].name + " reads it there (" + text_of(*scope) +
             ")";
  }
  return why(flow(f).maker);
}

// Why a reader requires the value in `to`. If the reader's device reaches `from`, the reason is
// its required scope. Otherwise the reason is its device.
std::string Reasons::why_read(FlowIndex f, size_t reader, PoolIndex from, PoolIndex to) {
  const TaskIndex task = flow(f).readers[reader].task;
  const auto& scope = graph_.reader_scopes[f][reader];
  if (!scope || !machine_.reaches(device(task), from)) return why(task);
  return graph_.tasks[task].name + " reads it in " + text_of(to, machine_) + ": " + text_of(*scope);
}

std::string Reasons::of_input(mlir::Value input) {
  const auto is_input = [&](mlir::Value value) { return value == input; };
  const std::optional<FlowIndex> f = find_index(graph_.values, is_input);
  return f ? why(flow(*f).maker) : "";
}

// Describes the constraint that determines a task's device: its own, or that of the nearest
// constrained task on the same device. Breadth-first search along shared values finds the nearest
// one.
std::string Reasons::why(TaskIndex task) {
  const TaskRecord& record = graph_.tasks[task];
  const std::string on_device = device_name(device(task));
  const std::string is_on = record.name + " is placed on " + on_device;
  if (const Constraint* constraint = constraint_of(task))
    return is_on + ": " +
           (constraint->operand.empty()
                ? text_of(*constraint)
                : "it reads \"" + constraint->operand + "\" there (" + text_of(*constraint) + ")");
  if (std::optional<TaskIndex> near = nearest_constraint(task))
    return is_on + ": lowest cost, because " + graph_.tasks[*near].name + " is required on " +
           on_device + " (" + text_of(*constraint_of(*near)) + ")";
  return is_on + ": " + (record.scope ? text_of(*record.scope) : "no constraint applies");
}

// The constraint that determines the task's device or its class. A required scope does if only
// one permitted device is left.
const Constraint* Reasons::constraint_of(TaskIndex task) const {
  const TaskRecord& record = graph_.tasks[task];
  if (record.constraint) return &*record.constraint;
  const auto of_class = std::ranges::find_if(record.classes, [&](const Constraint& constraint) {
    return llvm::any_of(machine_.devices.indices(), [&](DeviceIndex device) {
      return !constraint.place.permits(machine_, device);
    });
  });
  if (of_class != record.classes.end()) return &*of_class;
  return record.scope && graph_.problem.tasks[task].devices.size() == 1 ? &*record.scope : nullptr;
}

std::optional<TaskIndex> Reasons::nearest_constraint(TaskIndex task) {
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
void Reasons::find_neighbours() {
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

}  // namespace scopevm::compiler::placement
