// Tasks, flows and demands; see flow_reader.h.
#include "compiler/placement/flow_reader.h"

#include <algorithm>

namespace scopevm::placement {
namespace {

using graph::TensorType;

// Dims are taken for this many where nothing is known; plans are made for the same.
constexpr int64_t kRepresentativeDim = 64;

}  // namespace

double representative(DimExpr e) {
  std::optional<int64_t> value = e.evaluate([](std::string_view) { return kRepresentativeDim; });
  return value ? static_cast<double>(std::max<int64_t>(*value, 0)) : 0;
}

std::string text_of(const Demand& demand) {
  return demand.why + (demand.where.empty() ? "" : " at " + demand.where);
}

int FlowReader::new_task(std::string name, mlir::Operation* op) {
  Task task{.preferred = machine_.default_device};
  for (size_t d = 0; d < machine_.devices.size(); ++d) task.devices.push_back(static_cast<int>(d));
  graph_.problem.tasks.push_back(std::move(task));
  graph_.tasks.push_back({std::move(name), op, std::nullopt});
  return static_cast<int>(graph_.tasks.size() - 1);
}

void FlowReader::demand(int task, Demand wanted) {
  TaskRecord& record = graph_.tasks[task];
  if (record.demand && record.demand->place.device != wanted.place.device)
    return fail(wanted.where, record.name + " is placed on " + device_name(wanted.place.device) +
                                  " by " + wanted.why + ", and on " +
                                  device_name(record.demand->place.device) + " by " +
                                  text_of(*record.demand));
  if (record.demand) return;
  if (!may_be(task, wanted.place.device))
    return fail(wanted.where, record.name + " cannot be on " + device_name(wanted.place.device) +
                                  ", where " + wanted.why + " places it: " + kNoTexts);
  graph_.problem.tasks[task].devices = {wanted.place.device};
  record.demand = std::move(wanted);
}

void FlowReader::on_host(int task, const std::string& why, mlir::Location location) {
  demand(task, {{machine_.host_device(), kAny}, why, location_text(location)});
}

std::optional<Place> FlowReader::place_of(llvm::StringRef text, const std::string& where) {
  Result<Place> place = parse_place(text, machine_);
  if (place.is_ok()) return *place;
  fail(where, std::string(place.status().message()));
  return std::nullopt;
}

void FlowReader::fail(const std::string& where, const std::string& message) {
  if (status_.is_ok())
    status_ = Status(StatusCode::kInvalidModel, (where.empty() ? "" : where + ": ") + message);
}

void FlowReader::make(mlir::Value value, int task, int pool, mlir::Location location) {
  TensorType type = tensor_of(value);
  if (!type) return;
  Flow flow{.maker = task, .pool = pool};
  flow.bytes =
      representative(type.getElementCount()) * static_cast<double>(byte_size(type.getDtype()));
  flow.times = times_;
  flow_of_[value] = static_cast<int>(graph_.problem.flows.size());
  graph_.problem.flows.push_back(std::move(flow));
  graph_.values.push_back(value);
  graph_.uses.emplace_back();
  if (type.getPlace()) place_value(value, type.getPlace().getValue(), "its type", location);
}

void FlowReader::place_value(mlir::Value value, llvm::StringRef text, const std::string& by,
                             mlir::Location location) {
  const std::string where = location_text(location);
  std::optional<Place> place = place_of(text, where);
  if (!place) return;
  // An op may store its results in memory of another device that it reaches.
  if (auto maker = value.getDefiningOp(); maker && maker->hasAttr(kDeviceAttribute)) {
    auto device =
        machine_.find_device(maker->getAttrOfType<mlir::StringAttr>(kDeviceAttribute).getValue());
    if (device && place->pool == kAny) place->pool = machine_.global_pool(place->device);
    if (device) place->device = *device;
  }
  Flow& flow = graph_.problem.flows[flow_of_.at(value)];
  if (flow.is_free) return;
  demand(flow.maker, {*place, by + " \"" + text.str() + "\"", where});
  if (place->pool == kAny) return;
  const Demand scope{*place, by + " \"" + text.str() + "\"", where};
  auto [first, is_first] = scopes_.try_emplace(value, scope);
  if (flow.pool >= 0 && flow.pool != place->pool)
    return fail(where, graph_.tasks[flow.maker].name + " is stored in scope " +
                           machine_.pools[place->pool].scope + " by " + scope.why + ", and in " +
                           machine_.pools[flow.pool].scope + " by " +
                           (is_first ? "its kernel" : text_of(first->second)));
  flow.pool = place->pool;
}

void FlowReader::read(mlir::OpOperand& operand, int task, int pool) {
  // sv.on_device that constrains its result speaks of who reads it.
  mlir::Value value = operand.get();
  while (auto wish = value.getDefiningOp<graph::OnDeviceOp>()) {
    if (wish.getConstrainResult()) {
      const std::string where = location_text(wish.getLoc());
      if (std::optional<Place> place = place_of(wish.getPlace(), where)) {
        const Demand wanted{*place, "sv.on_device \"" + wish.getPlace().str() + "\"", where};
        demand(task, wanted);
        if (place->pool != kAny && graph_.tasks[task].op) pool = place->pool;
        if (place->pool != kAny && !graph_.tasks[task].op) lie_in(task, wanted);
      }
    }
    if (copies_.contains(wish)) break;
    value = wish.getX();
  }
  auto flow = flow_of_.find(value);
  if (flow == flow_of_.end()) return;  // a list or closure
  std::vector<Reader>& readers = graph_.problem.flows[flow->second].readers;
  readers.push_back({task, pool});
  graph_.uses[flow->second].push_back({&operand, static_cast<int>(readers.size() - 1)});
}

void FlowReader::lie_in(int task, const Demand& wanted) {
  auto [first, is_first] = stores_.try_emplace(task, wanted);
  if (!is_first && first->second.place.pool != wanted.place.pool)
    fail(wanted.where, graph_.tasks[task].name + " is stored at " + wanted.why + ", and at " +
                           text_of(first->second));
}

void FlowReader::apply_stores() {
  for (const auto& [task, wanted] : stores_) {
    const int pool = wanted.place.pool;
    auto store = [&, task = task](int& current) {
      if (current >= 0 && current != pool)
        fail(wanted.where, graph_.tasks[task].name + " is stored at " + wanted.why +
                               ", and in scope " + machine_.pools[current].scope);
      current = pool;
    };
    for (Flow& flow : graph_.problem.flows) {
      if (flow.maker == task) store(flow.pool);
      for (Reader& reader : flow.readers)
        if (reader.task == task) store(reader.pool);
    }
  }
}

bool FlowReader::is_text(mlir::Type type) {
  auto tensor = mlir::dyn_cast<TensorType>(type);
  return tensor && tensor.getDtype() == DType::kStr;
}

bool FlowReader::has_texts(mlir::Operation* op) {
  return llvm::any_of(op->getOperandTypes(), is_text) ||
         llvm::any_of(op->getResultTypes(), is_text);
}

void FlowReader::leave_out_devices(int task) {
  std::erase_if(graph_.problem.tasks[task].devices,
                [&](int device) { return !machine_.devices[device].is_cpu(); });
}

bool FlowReader::may_be(int task, int device) const {
  return llvm::is_contained(graph_.problem.tasks[task].devices, device);
}

}  // namespace scopevm::placement
