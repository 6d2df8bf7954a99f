// Builds tasks, flows and constraints; see the header.
#include "compiler/placement/read/problem_builder.h"

#include <algorithm>
#include <limits>

#include "compiler/graph/diagnostics/op_name.h"
#include "mlir/IR/Matchers.h"

namespace scopevm::compiler::placement {
using graph::TensorType;

TaskIndex ProblemBuilder::new_task(std::string name, mlir::Operation* op) {
  const TaskIndex index = graph_.tasks.next_index();
  Task task{.preferred = machine_.default_device};
  llvm::append_range(task.devices, machine_.devices.indices());
  graph_.problem.tasks.push_back(std::move(task));
  graph_.tasks.push_back({std::move(name), op, std::nullopt});
  return index;
}

// Handles a scope without a device: restricts the task to the devices that have the scope.
void ProblemBuilder::constrain_scope(TaskIndex task, const Constraint& wanted) {
  TaskRecord& record = graph_.tasks[task];
  const std::string_view scope = wanted.place.pool.scope(machine_);
  std::vector<DeviceIndex>& devices = graph_.problem.tasks[task].devices;
  std::vector<DeviceIndex> left;
  for (DeviceIndex device : devices)
    if (machine_.find_pool(device, scope)) left.push_back(device);
  if (left.empty()) {
    const Constraint* const other = record.constraint        ? &*record.constraint
                                    : record.classes.empty() ? nullptr
                                                             : &record.classes.front();
    return fail(wanted.where, record.name + " is required in scope " + std::string(scope) + " (" +
                                  wanted.why + ")" + (other ? " and " + required_on(*other) : "") +
                                  "; device " + device_name(devices.front()) +
                                  " does not have the scope");
  }
  devices = std::move(left);
  if (!record.scope) record.scope = wanted;
}

const Constraint* ProblemBuilder::conflicting(const TaskRecord& task,
                                              const RequiredPlace& place) const {
  const auto excludes = [&](const Constraint& other) {
    return llvm::none_of(machine_.devices.indices(), [&](DeviceIndex device) {
      return place.permits_device(machine_, device) && other.place.permits_device(machine_, device);
    });
  };
  if (task.constraint && excludes(*task.constraint)) return &*task.constraint;
  const auto other = std::ranges::find_if(task.classes, excludes);
  return other == task.classes.end() ? nullptr : &*other;
}

std::string ProblemBuilder::required_on(const Constraint& constraint) const {
  return "on " + device_text(constraint.place) + " (" + text_of(constraint) + ")";
}

std::string ProblemBuilder::device_text(const RequiredPlace& place) const {
  return place.device ? device_name(*place.device) : "a device " + place.class_text();
}

void ProblemBuilder::constrain(TaskIndex task, const Constraint& wanted) {
  const RequiredPlace& place = wanted.place;
  // A scope without a device only excludes the devices that lack the scope.
  if (!place.device && !place.pool.is_any()) constrain_scope(task, wanted);
  if (!place.names_device()) return;
  TaskRecord& record = graph_.tasks[task];
  if (const Constraint* other = conflicting(record, place))
    return fail(wanted.where, record.name + " is required on " + device_text(place) + " (" +
                                  wanted.why + ") and " + required_on(*other));
  // Only the first constraint on the same device is kept: reports name one source.
  if (place.device && record.constraint) return;
  if (!may_be(task, place))
    return fail(wanted.where, record.name + " cannot be placed on " + device_text(place) + " (" +
                                  wanted.why + "): " + why_not(task, place));
  std::erase_if(graph_.problem.tasks[task].devices,
                [&](DeviceIndex device) { return !place.permits(machine_, device); });
  if (place.device)
    record.constraint = wanted;
  else
    record.classes.push_back(wanted);
}

void ProblemBuilder::on_host(TaskIndex task, const std::string& why, mlir::Location location) {
  constrain(task, {{.device = machine_.host_device()}, why, location_text(location)});
}

std::optional<RequiredPlace> ProblemBuilder::place_of(llvm::StringRef text,
                                                      const std::string& where) {
  Result<RequiredPlace> place = parse_place(text, machine_);
  if (place.ok()) return *place;
  fail(where, std::string(place.status().message()));
  return std::nullopt;
}

void ProblemBuilder::fail(const std::string& where, const std::string& message) {
  // The first error is reported; later ones may follow from it.
  if (status_.ok())
    status_ = Status(StatusCode::kInvalidModel, (where.empty() ? "" : where + ": ") + message);
}

std::optional<FlowIndex> ProblemBuilder::flow_of(mlir::Value value) const {
  auto flow = flow_of_.find(value);
  return flow == flow_of_.end() ? std::nullopt : std::optional(flow->second);
}

void ProblemBuilder::enter(mlir::Block& block, double times, DimValues dims) {
  times_ = times;
  dims_ = std::move(dims);
  for (mlir::Value argument : block.getArguments())
    if (std::optional<FlowIndex> flow = flow_of(argument)) {
      graph_.problem.flows[*flow].times = times_;
      graph_.problem.flows[*flow].bytes = bytes_of(tensor_of(argument));
    }
}

double ProblemBuilder::bytes_of(TensorType type) const {
  return representative(type.getBytes(), dims_);
}

double ProblemBuilder::most_bytes_of(TensorType type) {
  return static_cast<double>(interval_of(type.getBytes()).max);
}

void ProblemBuilder::make(mlir::Value value, TaskIndex task, PoolRequirement pool,
                          mlir::Location location, std::optional<Constraint> scope,
                          bool is_written) {
  TensorType type = tensor_of(value);
  // Lists and closures have no flow: they are always stored by the VM.
  if (!type) return;
  flow_of_[value] = graph_.problem.flows.next_index();
  graph_.problem.flows.push_back({.maker = task,
                                  .pool = std::move(pool),
                                  .is_free = mlir::matchPattern(value, mlir::m_Constant()),
                                  .bytes = bytes_of(type),
                                  .most_bytes = most_bytes_of(type),
                                  .times = times_,
                                  .writes = is_written ? times_ : 0});
  graph_.values.push_back(value);
  graph_.uses.emplace_back();
  graph_.scopes.push_back(std::move(scope));
  graph_.reader_scopes.emplace_back();
  if (type.getPlace()) place_value(value, type.getPlace().str(), "its type", location);
}

void ProblemBuilder::place_value(mlir::Value value, llvm::StringRef text, const std::string& by,
                                 mlir::Location location) {
  const std::string where = location_text(location);
  std::optional<RequiredPlace> place = place_of(text, where);
  if (!place) return;
  // An op may store its results in a pool of another device that its own device reaches. In a
  // module that is placed again, the attribute therefore names the maker's device, and the type
  // names the pool.
  if (auto maker = value.getDefiningOp(); maker && maker->hasAttr(kDeviceAttribute)) {
    auto device =
        machine_.find_device(maker->getAttrOfType<mlir::StringAttr>(kDeviceAttribute).getValue());
    if (device && place->device && place->pool.is_any())
      place->pool = machine_.global_pool(*place->device);
    if (device && place->device) place->device = device;
  }
  const FlowIndex index = flow_of_.at(value);
  Flow& flow = graph_.problem.flows[index];
  // Each device that reads a constant loads it. A constant that is required in a scope is stored
  // there only, like any other value.
  if (flow.is_free && place->pool.is_any()) return;
  flow.is_free = false;
  const Constraint scope{*place, by + " \"" + text.str() + "\"", where};
  constrain(flow.maker, scope);
  if (place->is_local) return require_local(value, scope);
  if (place->pool.is_any()) return;
  std::optional<Constraint>& first = graph_.scopes[index];
  const std::optional<PoolRequirement> pool = joined(machine_, flow.pool, place->pool);
  if (!pool)
    return fail(where, graph_.tasks[flow.maker].name + " is required in scope " +
                           std::string(place->pool.scope(machine_)) + " (" + scope.why +
                           ") and in scope " + std::string(flow.pool.scope(machine_)) + " (" +
                           (first ? text_of(*first) : "its kernel") + ")");
  flow.pool = *pool;
  if (!first) first = scope;
  // The values of a merge point are all stored in its scope, so the scope also applies to its
  // operands.
  if (!graph_.tasks[flow.maker].op) require_scope(flow.maker, scope);
}

void ProblemBuilder::require_local(mlir::Value value, const Constraint& wanted) {
  mlir::Operation* op = value.getDefiningOp();
  Flow& flow = graph_.problem.flows[flow_of_.at(value)];
  // The other ops have no kernel, or one whose results are always in memory.
  if (op && op->getNumResults() == 1 && op->getNumRegions() == 0 &&
      !op->hasTrait<graph::ProvidesStorage>() &&
      !mlir::isa<graph::HostOp, graph::DeviceCopyOp>(op)) {
    graph_.locals.insert({op, text_of(wanted)});
    // The readers run on the device of the maker if constraints permit it: a copy of the value
    // would be an error.
    flow.times = std::numeric_limits<double>::max();
  } else {
    fail(wanted.where, graph_.tasks[flow.maker].name + " is required in scope local (" +
                           wanted.why + "), but it is not computed by a kernel");
  }
}

void ProblemBuilder::read(mlir::OpOperand& operand, TaskIndex task, PoolRequirement pool,
                          std::optional<Constraint> scope, bool is_accessed) {
  // An sv.on_device with constrain_result constrains the readers of its result.
  mlir::Value value = operand.get();
  while (auto annotation = value.getDefiningOp<graph::OnDeviceOp>()) {
    if (annotation.getConstrainResult()) {
      const std::string where = location_text(annotation.getLoc());
      if (std::optional<RequiredPlace> place = place_of(annotation.getPlace(), where)) {
        const Constraint wanted{*place, "sv.on_device \"" + annotation.getPlace().str() + "\"",
                                where, name_of(annotations_.annotated(operand.get()))};
        constrain(task, wanted);
        if (!place->pool.is_any() && graph_.tasks[task].op) {
          pool = place->pool;
          scope = wanted;
        }
        if (!place->pool.is_any() && !graph_.tasks[task].op) require_scope(task, wanted);
      }
    }
    // The result of an annotation that copies is a separate flow.
    if (annotations_.is_copy(annotation)) break;
    value = annotation.getX();
  }
  auto flow = flow_of_.find(value);
  if (flow == flow_of_.end()) return;  // a list or closure
  std::vector<Reader>& readers = graph_.problem.flows[flow->second].readers;
  graph_.uses[flow->second].push_back({&operand, readers.size()});
  readers.push_back({task, std::move(pool), is_accessed ? times_ : 0});
  graph_.reader_scopes[flow->second].push_back(std::move(scope));
}

void ProblemBuilder::drop_local_accesses() {
  for (FlowIndex f : graph_.problem.flows.indices()) {
    if (!graph_.locals.contains(graph_.values[f].getDefiningOp())) continue;
    graph_.problem.flows[f].writes = 0;
    for (Reader& reader : graph_.problem.flows[f].readers) reader.reads = 0;
  }
}

void ProblemBuilder::require_scope(TaskIndex task, const Constraint& wanted) {
  auto [first, is_first] = required_scopes_.try_emplace(task, wanted);
  if (is_first) return;
  if (auto pool = joined(machine_, first->second.place.pool, wanted.place.pool))
    first->second.place.pool = *pool;
  else
    fail(wanted.where, graph_.tasks[task].name + " is required in scope " +
                           std::string(wanted.place.pool.scope(machine_)) + " (" + wanted.why +
                           ") and in scope " +
                           std::string(first->second.place.pool.scope(machine_)) + " (" +
                           text_of(first->second) + ")");
}

void ProblemBuilder::apply_required_scopes() {
  auto store = [&](TaskIndex task, PoolRequirement& current, std::optional<Constraint>& source) {
    auto wanted = required_scopes_.find(task);
    if (wanted == required_scopes_.end()) return;
    const Constraint& scope = wanted->second;
    const std::optional<PoolRequirement> both = joined(machine_, current, scope.place.pool);
    if (!both)
      fail(scope.where, graph_.tasks[task].name + " is required in scope " +
                            std::string(scope.place.pool.scope(machine_)) + " (" + scope.why +
                            ") and in scope " + std::string(current.scope(machine_)));
    current = both.value_or(scope.place.pool);
    if (!source) source = scope;
  };
  for (FlowIndex f : graph_.problem.flows.indices()) {
    Flow& flow = graph_.problem.flows[f];
    store(flow.maker, flow.pool, graph_.scopes[f]);
    for (size_t i = 0; i < flow.readers.size(); ++i)
      store(flow.readers[i].task, flow.readers[i].pool, graph_.reader_scopes[f][i]);
  }
}

void ProblemBuilder::restrict_to_host(TaskIndex task) {
  std::erase_if(graph_.problem.tasks[task].devices,
                [&](DeviceIndex device) { return device != machine_.host_device(); });
}

std::string ProblemBuilder::why_not(TaskIndex task, const RequiredPlace& place) const {
  const std::optional<Constraint>& scope = graph_.tasks[task].scope;
  const auto has_scope = [&](DeviceIndex device) {
    return place.permits(machine_, device) && scope->place.pool.on(machine_, device);
  };
  if (!scope || llvm::any_of(machine_.devices.indices(), has_scope)) return kNoStrings;
  return (place.device ? "device " + device_name(*place.device) + " does not have"
                       : "no device " + place.class_text() + " has") +
         " the scope required by " + text_of(*scope);
}

bool ProblemBuilder::may_be(TaskIndex task, DeviceIndex device) const {
  return llvm::is_contained(graph_.problem.tasks[task].devices, device);
}

bool ProblemBuilder::may_be(TaskIndex task, const RequiredPlace& place) const {
  return llvm::any_of(graph_.problem.tasks[task].devices,
                      [&](DeviceIndex device) { return place.permits(machine_, device); });
}

}  // namespace scopevm::compiler::placement
