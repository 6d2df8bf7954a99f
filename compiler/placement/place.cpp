// Runs the placement stage, and parses places and rules; see place.h.
#include "compiler/placement/place.h"

#include "compiler/placement/functions.h"
#include "compiler/placement/read/constraints.h"
#include "compiler/placement/solve/assignment.h"
#include "compiler/placement/why/copies.h"
#include "compiler/placement/write/apply.h"
#include "llvm/ADT/StringExtras.h"
#include "runtime/quoted.h"

namespace scopevm::compiler::placement {
namespace {

// A class of devices, as places write it: "kind:opencl".
struct DeviceClass {
  std::string_view prefix;  // "kind:"
  std::string_view what;    // "of kind"
  std::string RequiredPlace::* member;
};

constexpr DeviceClass kClasses[] = {{"kind:", "of kind", &RequiredPlace::kind},
                                    {"target:", "with target", &RequiredPlace::target}};

// The value of a class for a device; empty if the device has none.
std::string value_of(const DeviceClass& of, const Machine& machine, DeviceIndex device) {
  return of.member == &RequiredPlace::kind ? machine.devices[device].kind
                                           : machine.target_of(device);
}

// The values of all devices, without duplicates, as a list for messages.
std::string known_values(const DeviceClass& of, const Machine& machine) {
  std::vector<std::string> values;
  for (DeviceIndex device : machine.devices.indices()) {
    std::string value = value_of(of, machine, device);
    if (!value.empty() && std::ranges::find(values, value) == values.end())
      values.push_back(std::move(value));
  }
  return values.empty() ? "none" : llvm::join(values, ", ");
}

// Whether a constraint can require the pool. global.constant is excluded: it stores the constants
// without a required scope.
bool can_be_required(const Pool& pool) {
  return pool.kind != PoolKind::kConstant || pool.scope != "global.constant";
}

}  // namespace

Result<Report> place(mlir::ModuleOp module, const Machine& machine, const std::vector<Rule>& rules,
                     PoolChoice choice) {
  // On one device, all calls of a function have the same placement, so clones are not needed.
  if (machine.devices.size() > 1) clone_per_call(module);
  annotate_functions_of_closures(module, machine);
  SCOPEVM_ASSIGN_OR_RETURN(GraphProblem graph, read_constraints(module, machine, rules));
  graph.problem.may_choose_limited = choice == PoolChoice::kAny;
  const Assignment assignment = assign(graph.problem);
  Report report = apply(module, graph, assignment);
  report.seconds = static_cast<double>(assignment.cost.time) * 1e-12;
  report.copies = copies_of(module, machine);  // while each call has its own clone
  if (machine.devices.size() > 1) merge_equal_functions(module);
  SCOPEVM_RETURN_IF_ERROR(verify_places(module, machine));
  return report;
}

Result<RequiredPlace> parse_place(std::string_view text, const Machine& machine) {
  const std::string quoted = "place \"" + std::string(text) + "\"";
  const auto* const of = std::ranges::find_if(
      kClasses, [&](const DeviceClass& one) { return text.starts_with(one.prefix); });
  const bool names_class = of != std::end(kClasses);
  const auto [name, scope_name] = graph::PlaceAttr::split(text);
  const std::string scope = scope_name.str();
  RequiredPlace place{.is_local = scope == "local"};
  if (names_class) {
    std::string& value = place.*of->member;
    value = name.drop_front(of->prefix.size()).str();
    const auto is_in_class = [&](DeviceIndex device) {
      return value_of(*of, machine, device) == value;
    };
    if (value.empty() || llvm::none_of(machine.devices.indices(), is_in_class))
      return Status(StatusCode::kInvalidModel, quoted + ": the machine has no device " +
                                                   std::string(of->what) + " \"" + value +
                                                   "\"; it has " + known_values(*of, machine));
  } else if (!name.empty() || scope.empty()) {
    place.device = machine.find_device(name);
    if (!place.device)
      return Status(StatusCode::kInvalidModel, quoted + ": the machine has no device \"" +
                                                   std::string(name) + "\"; it has " +
                                                   machine.device_names());
  }
  if (scope.empty() || place.is_local) return place;
  const auto has_scope = [&](DeviceIndex device) {
    const std::optional<PoolIndex> pool = machine.find_pool(device, scope);
    return pool && can_be_required(machine.pools[*pool]) && place.permits_device(machine, device);
  };
  if (llvm::any_of(machine.devices.indices(), has_scope)) {
    place.pool = place.device ? PoolRequirement(*machine.find_pool(*place.device, scope))
                              : PoolRequirement::own_scope(scope);
    return place;
  }
  if (place.device)
    return Status(StatusCode::kInvalidModel,
                  quoted + ": device \"" + std::string(name) + "\" stores no values in scope \"" +
                      scope + "\"; it has " + known_scopes(*place.device, machine));
  return Status(StatusCode::kInvalidModel, quoted + ": no device " +
                                               (names_class ? place.class_text() + " " : "") +
                                               "stores values in scope \"" + scope + "\"");
}

std::optional<RequiredPlace> joined(const Machine& machine, const RequiredPlace& a,
                                    const RequiredPlace& b) {
  if (a.device && b.device && a.device != b.device) return std::nullopt;
  RequiredPlace both{.device = a.device ? a.device : b.device,
                     .pool = a.pool.is_any() ? b.pool : a.pool,
                     .is_local = a.is_local || b.is_local};
  if (both.is_local && !both.pool.is_any()) return std::nullopt;
  for (const DeviceClass& of : kClasses) {
    const std::string &first = a.*of.member, &second = b.*of.member;
    if (!first.empty() && !second.empty() && first != second) return std::nullopt;
    both.*of.member = first.empty() ? second : first;
  }
  if (!a.pool.is_any() && !b.pool.is_any()) {
    if (a.pool.scope(machine) != b.pool.scope(machine)) return std::nullopt;
    const std::optional<PoolRequirement> pool = joined(machine, a.pool, b.pool);
    if (!pool) return std::nullopt;
    both.pool = *pool;
  }
  const auto permits = [&](DeviceIndex device) { return both.permits(machine, device); };
  if (llvm::none_of(machine.devices.indices(), permits)) return std::nullopt;
  if (both.device)
    for (const DeviceClass& of : kClasses) (both.*of.member).clear();
  return both;
}

bool RequiredPlace::permits_device(const Machine& machine, DeviceIndex index) const {
  return (!device || device == index) && std::ranges::all_of(kClasses, [&](const DeviceClass& of) {
           const std::string& wanted = this->*of.member;
           return wanted.empty() || wanted == value_of(of, machine, index);
         });
}

bool RequiredPlace::permits(const Machine& machine, DeviceIndex index) const {
  return permits_device(machine, index) && (pool.is_any() || pool.on(machine, index));
}

std::string RequiredPlace::class_text() const {
  std::string text;
  for (const DeviceClass& of : kClasses)
    if (const std::string& value = this->*of.member; !value.empty())
      text += (text.empty() ? "" : " ") + std::string(of.what) + " " + value;
  return text;
}

std::string known_scopes(DeviceIndex device, const Machine& machine) {
  std::string known;
  for (PoolIndex pool : machine.pools.indices())
    if (machine.reaches(device, pool) && can_be_required(machine.pools[pool]))
      known += (known.empty() ? "" : ", ") + machine.pools[pool].scope;
  return known;
}

bool has_kernel_scopes(mlir::ModuleOp module) {
  return module
      .walk([](mlir::Operation* op) {
        return op->hasAttr(kOperandScopes) || op->hasAttr(kResultScopes)
                   ? mlir::WalkResult::interrupt()
                   : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

Result<Rule> parse_rule(const std::string& text) {
  constexpr std::pair<std::string_view, Rule::Kind> kKinds[] = {{"type:", Rule::Kind::kType},
                                                                {"input:", Rule::Kind::kInput},
                                                                {"output:", Rule::Kind::kOutput}};
  Rule rule{.text = text};
  std::string_view rest = text;
  for (auto [prefix, kind] : kKinds)
    if (rest.starts_with(prefix)) {
      rule.kind = kind;
      rest.remove_prefix(prefix.size());
      break;
    }
  // Node names may contain '=', places never do.
  const size_t equals = rest.rfind('=');
  if (equals == std::string_view::npos || equals == 0 || equals + 1 == rest.size())
    return Status(
        StatusCode::kInvalidArgument,
        "--place " + runtime::escaped(text) + ": expected PATTERN=PLACE, such as \"conv_*=gpu\"");
  rule.pattern = rest.substr(0, equals);
  rule.place = rest.substr(equals + 1);
  return rule;
}

std::optional<PoolIndex> pool_of(graph::PlaceAttr place, const Machine& machine) {
  const std::optional<DeviceIndex> device = machine.find_device(place.getDevice());
  if (!device) return std::nullopt;
  return place.getScope().empty() ? machine.global_pool(*device)
                                  : machine.find_pool(*device, place.getScope());
}

Result<PoolIndex> parse_pool(std::string_view text, const Machine& machine) {
  SCOPEVM_ASSIGN_OR_RETURN(const RequiredPlace place, parse_place(text, machine));
  if (!place.device)
    return Status(
        StatusCode::kInvalidModel,
        "place \"" + std::string(text) + "\" has no device; expected DEVICE or DEVICE.SCOPE");
  return place.pool.pool().value_or(machine.global_pool(*place.device));
}

graph::PlaceAttr place_of(PoolIndex pool, const Machine& machine, mlir::MLIRContext* context) {
  return graph::PlaceAttr::get(context, text_of(pool, machine));
}

std::string text_of(PoolIndex pool, const Machine& machine) {
  const DeviceIndex owner = machine.pools[pool].device;
  return pool == machine.global_pool(owner) ? machine.devices[owner].name : machine.pool_name(pool);
}

DeviceIndex device_of(mlir::Operation* op, const Machine& machine) {
  auto named = op->getAttrOfType<mlir::StringAttr>(kDeviceAttribute);
  if (named)
    if (std::optional<DeviceIndex> device = machine.find_device(named.getValue())) return *device;
  auto of_type = [&](mlir::Type type) -> std::optional<DeviceIndex> {
    auto tensor = mlir::dyn_cast<graph::TensorType>(type);
    if (!tensor || !tensor.getPlace()) return std::nullopt;
    return machine.find_device(tensor.getPlace().getDevice());
  };
  for (mlir::Type type : op->getResultTypes())
    if (std::optional<DeviceIndex> device = of_type(type)) return *device;
  for (mlir::Type type : op->getOperandTypes())
    if (std::optional<DeviceIndex> device = of_type(type)) return *device;
  return machine.host_device();
}

}  // namespace scopevm::compiler::placement
