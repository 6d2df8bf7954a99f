// Parses a machine description. Every member is checked when it is read, so that a message can name
// it. See machine.h and docs/machine.md.
#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>
#include <set>

#include "compiler/machine/device_kind.h"
#include "compiler/machine/machine.h"
#include "compiler/machine/member.h"
#include "compiler/machine/ranks_json.h"
#include "vm/format/schema/records.h"

namespace scopevm::compiler {
namespace {

static_assert(Pool::kLeastAlignment == format::kLeastAlignment);

// The kinds that a description can give.
constexpr PoolKind kPoolKinds[] = {PoolKind::kHeap, PoolKind::kArena, PoolKind::kConstant};

constexpr std::string_view kMembers[] = {"devices", "pools", "links", "default_device"};
// Members of a device of any kind, in addition to DeviceKind::members().
constexpr std::string_view kDeviceMembers[] = {"name",      "kind", "workers", "max_stack_bytes",
                                               "alignment", "rank"};
// Members of a pool, in addition to those of PoolSpeed.
constexpr std::string_view kPoolMembers[] = {"device",      "scope",      "kind",
                                             "limit_bytes", "reached_by", "bytes_per_second"};

constexpr format::PoolSpeed kUnlimited;

// Visits a PoolSpeed: collects the names of its members.
struct SpeedMembers {
  std::vector<std::string_view>& names;

  void limited(const char* name, auto&&...) { names.push_back(name); }
};

// Visits a PoolSpeed: reads the members that a machine description gives.
struct SpeedReader {
  const Member& pool;
  Status status = {};

  void limited(const char* name, double& value, format::Range<double> range) {
    read(name, value, [&](const Member& member) { return member.number(range.least, range.most); });
  }
  void limited(const char* name, int64_t& value, format::Range<int64_t> range, int64_t) {
    read(name, value,
         [&](const Member& member) { return member.whole_number(range.least, range.most); });
  }
  void read(const char* name, auto& value, auto number) {
    const std::optional<Member> member = pool.find(name);
    if (!member || !status.ok()) return;
    auto result = number(*member);
    if (result.ok())
      value = *result;
    else
      status = std::move(result).status();
  }
};

// True if `text` consists of one or more letters, digits and `_`. If `may_have_dots`, it can have
// several such parts, separated by dots. Places consist of these names.
bool is_name(const std::string& text, bool may_have_dots) {
  bool after_dot = true;
  for (char c : text) {
    if (c == '.' && may_have_dots && !after_dot) {
      after_dot = true;
      continue;
    }
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_') return false;
    after_dot = false;
  }
  return !after_dot;
}

class MachineReader {
 public:
  explicit MachineReader(std::span<const DeviceKind* const> kinds)
      : kinds_(kinds),
        device_members_(std::begin(kDeviceMembers), std::end(kDeviceMembers)),
        pool_members_(std::begin(kPoolMembers), std::end(kPoolMembers)) {
    for (const DeviceKind* kind : kinds_)
      for (std::string_view member : kind->members())
        if (std::ranges::find(device_members_, member) == device_members_.end())
          device_members_.push_back(member);
    SpeedMembers speed_members{pool_members_};
    visit(speed_members, kUnlimited);
    pool_members_.push_back("pinned_for");
  }

  Result<Machine> read(const Member& root) {
    SCOPEVM_RETURN_IF_ERROR(root.check_object(kMembers));
    // Devices first: pools and the default device refer to them by name.
    std::optional<Member> devices = root.find("devices");
    if (!devices) return root.fail("missing member \"devices\"");
    SCOPEVM_ASSIGN_OR_RETURN(std::vector<Member> all, devices->elements());
    SCOPEVM_RETURN_IF_ERROR(check_count(*devices, all, format::kMaxDevices));
    for (const Member& device : all) SCOPEVM_RETURN_IF_ERROR(read_device(device));
    if (std::ranges::none_of(machine_.devices, &Device::is_host))
      return devices->fail("expected at least one device of kind \"" +
                           std::string(format::kHostKind) + "\", which runs the VM");
    if (std::optional<Member> pools = root.find("pools")) {
      SCOPEVM_ASSIGN_OR_RETURN(all, pools->elements());
      SCOPEVM_RETURN_IF_ERROR(check_count(*pools, all, format::kMaxPools));
      for (const Member& pool : all) SCOPEVM_RETURN_IF_ERROR(read_pool(pool));
    }
    SCOPEVM_RETURN_IF_ERROR(check_ranks(*devices, machine_));
    if (std::optional<Member> links = root.find("links")) {
      SCOPEVM_ASSIGN_OR_RETURN(all, links->elements());
      for (const Member& link : all) SCOPEVM_RETURN_IF_ERROR(read_link(link, machine_));
    }
    if (std::optional<Member> given = root.find("default_device")) {
      SCOPEVM_ASSIGN_OR_RETURN(machine_.default_device, device_of(*given));
    }
    SCOPEVM_RETURN_IF_ERROR(add_missing_pools(root));
    return std::move(machine_);
  }

 private:
  // A module can store no more.
  static Status check_count(const Member& list, const std::vector<Member>& elements, size_t most) {
    if (elements.size() <= most) return {};
    return list.fail("expected at most " + std::to_string(most) + " elements, found " +
                     std::to_string(elements.size()));
  }

  Status read_device(const Member& member) {
    SCOPEVM_RETURN_IF_ERROR(member.check_object(device_members_));
    Device device;
    std::optional<Member> name = member.find("name");
    if (!name) return member.fail("missing member \"name\"");
    SCOPEVM_ASSIGN_OR_RETURN(device.name, name->text());
    if (!is_name(device.name, false))
      return name->fail("expected one or more letters, digits and _, found \"" + device.name +
                        "\"");
    if (machine_.find_device(device.name))
      return name->fail("duplicate device name \"" + device.name + "\"");
    SCOPEVM_ASSIGN_OR_RETURN(const DeviceKind* const kind, read_device_kind(member));
    device.kind = kind->name();
    device.number =
        // The ordinal among the devices of its kind, in the order of the description.
        static_cast<int>(std::ranges::count(machine_.devices, device.kind, &Device::kind));
    constexpr int64_t kWorkers = 64;
    if (!device.is_host()) device.workers = kWorkers;
    if (std::optional<Member> workers = member.find("workers")) {
      SCOPEVM_ASSIGN_OR_RETURN(device.workers, workers->whole_number(1));
      constexpr int64_t kMostWorkers = int64_t{1} << 24;
      if (device.workers > kMostWorkers)
        return workers->fail("expected at most " + std::to_string(kMostWorkers) + ", found " +
                             std::to_string(device.workers));
    }
    SCOPEVM_RETURN_IF_ERROR(kind->read_members(member, device));
    SCOPEVM_RETURN_IF_ERROR(check_members(member, *kind, device));
    SCOPEVM_RETURN_IF_ERROR(read_rank(member, device));
    SCOPEVM_ASSIGN_OR_RETURN(const int64_t alignment, read_alignment(member));
    alignments_.push_back(alignment);
    SCOPEVM_ASSIGN_OR_RETURN(const int64_t stack, read_stack_bytes(member, device));
    stack_bytes_.push_back(stack);
    machine_.devices.push_back(std::move(device));
    return {};
  }

  Result<const DeviceKind*> read_device_kind(const Member& device) const {
    std::optional<Member> kind = device.find("kind");
    if (!kind) return device.fail("missing member \"kind\"");
    SCOPEVM_ASSIGN_OR_RETURN(const std::string name, kind->text());
    if (auto known = std::ranges::find(kinds_, name, &DeviceKind::name); known != kinds_.end())
      return *known;
    std::string expected;
    for (const DeviceKind* known : kinds_) {
      if (known != kinds_.front()) expected += known == kinds_.back() ? " or " : ", ";
      expected += "\"" + std::string(known->name()) + "\"";
    }
    return kind->fail("expected " + expected + ", found \"" + name + "\"");
  }

  // Rejects members that belong to other kinds of devices.
  Status check_members(const Member& member, const DeviceKind& kind, const Device& device) const {
    std::vector<std::string_view> own(std::begin(kDeviceMembers), std::end(kDeviceMembers));
    own.insert(own.end(), kind.members().begin(), kind.members().end());
    // check_object() has accepted the members of all kinds; the message here can name the kind.
    for (std::string_view name : device_members_) {
      if (std::ranges::find(own, name) != own.end()) continue;
      std::optional<Member> given = member.find(std::string(name));
      if (given) return given->fail("not a member of a device of kind " + device.kind);
    }
    return {};
  }

  static Result<int64_t> read_alignment(const Member& member) {
    std::optional<Member> given = member.find("alignment");
    if (!given) return Pool::kLeastAlignment;
    SCOPEVM_ASSIGN_OR_RETURN(const int64_t bytes, given->whole_number(Pool::kLeastAlignment));
    if (bytes <= format::kMostAlignment && std::has_single_bit(static_cast<uint64_t>(bytes)))
      return bytes;
    return given->fail("expected a power of two, at most " +
                       std::to_string(format::kMostAlignment) + ", found " + std::to_string(bytes));
  }

  // Reads max_stack_bytes, the limit of the device's stack; 0 if the device has no stack.
  static Result<int64_t> read_stack_bytes(const Member& member, const Device& device) {
    std::optional<Member> given = member.find("max_stack_bytes");
    if (!given) return device.is_host() ? Machine::kStackBytes : 0;
    if (!device.is_host()) return given->fail("only a CPU has a stack");
    SCOPEVM_ASSIGN_OR_RETURN(const int64_t bytes, given->whole_number(0));
    if (bytes <= format::kMaxStackBytes) return bytes;
    return given->fail("expected at most " + std::to_string(format::kMaxStackBytes) + ", found " +
                       std::to_string(bytes));
  }

  Result<DeviceIndex> device_of(const Member& member) {
    SCOPEVM_ASSIGN_OR_RETURN(const std::string name, member.text());
    std::optional<DeviceIndex> device = machine_.find_device(name);
    if (device) return *device;
    return member.fail("unknown device \"" + name + "\"; expected one of " +
                       machine_.device_names());
  }

  Status read_pool(const Member& member) {
    SCOPEVM_RETURN_IF_ERROR(member.check_object(pool_members_));
    Pool pool;
    std::optional<Member> device = member.find("device"), scope = member.find("scope");
    if (!device) return member.fail("missing member \"device\"");
    if (!scope) return member.fail("missing member \"scope\"");
    SCOPEVM_ASSIGN_OR_RETURN(pool.device, device_of(*device));
    SCOPEVM_ASSIGN_OR_RETURN(pool.scope, scope->text());
    if (!is_name(pool.scope, true) ||
        (pool.scope != "global" && !pool.scope.starts_with("global.")))
      return scope->fail("expected \"global\" or \"global.NAME\", found \"" + pool.scope + "\"");
    if (pool.scope == kStackScope)
      return scope->fail("reserved for the stack; set \"max_stack_bytes\" of the device instead");
    for (const Pool& other : machine_.pools)
      if (other.device == pool.device && other.scope == pool.scope)
        return scope->fail("duplicate scope \"" + pool.scope + "\" of device \"" +
                           machine_.devices[pool.device].name + "\"");
    SCOPEVM_RETURN_IF_ERROR(read_kind(member, pool));
    SCOPEVM_RETURN_IF_ERROR(read_numbers(member, pool));
    SCOPEVM_RETURN_IF_ERROR(read_reached(member, pool));
    SCOPEVM_RETURN_IF_ERROR(read_pinned(member, pool));
    machine_.pools.push_back(std::move(pool));
    return {};
  }

  static Status read_kind(const Member& member, Pool& pool) {
    pool.kind = default_kind(pool.scope);
    std::optional<Member> kind = member.find("kind");
    if (!kind) return {};
    SCOPEVM_ASSIGN_OR_RETURN(const std::string text, kind->text());
    auto known = std::ranges::find(kPoolKinds, text, format::name_of<PoolKind>);
    if (known == std::end(kPoolKinds))
      return kind->fail("expected \"heap\", \"arena\" or \"constant\", found \"" + text + "\"");
    pool.kind = *known;
    // The compiler relies on the kinds of these three scopes.
    if (pool.scope == "global" || pool.scope == "global.workspace" ||
        pool.scope == "global.constant")
      if (pool.kind != default_kind(pool.scope))
        return kind->fail("scope \"" + pool.scope + "\" must be of kind \"" +
                          std::string(format::name_of(default_kind(pool.scope))) + "\", found \"" +
                          text + "\"");
    return {};
  }

  static PoolKind default_kind(const std::string& scope) {
    if (scope == "global") return PoolKind::kHeap;
    return scope == "global.constant" ? PoolKind::kConstant : PoolKind::kArena;
  }

  static Status read_numbers(const Member& member, Pool& pool) {
    if (std::optional<Member> limit = member.find("limit_bytes")) {
      SCOPEVM_ASSIGN_OR_RETURN(pool.limit, limit->whole_number(0));
    }
    return read_speed(member, pool);
  }

  static Status read_speed(const Member& member, Pool& pool) {
    for (format::PoolSpeed* speed : {&pool.speed, &pool.planned_speed}) {
      if (std::optional<Member> both = member.find("bytes_per_second")) {
        constexpr auto kRange = format::kBytesPerSecond;
        SCOPEVM_ASSIGN_OR_RETURN(speed->read_bytes_per_second,
                                 both->number(kRange.least, kRange.most));
        speed->write_bytes_per_second = speed->read_bytes_per_second;
      }
      // The bandwidths of one direction take precedence.
      SpeedReader reader{member};
      visit(reader, *speed);
      SCOPEVM_RETURN_IF_ERROR(std::move(reader.status));
    }
    return {};
  }

  Status read_reached(const Member& member, Pool& pool) {
    pool.reached = {pool.device};
    std::optional<Member> reached = member.find("reached_by");
    if (!reached) return {};
    SCOPEVM_ASSIGN_OR_RETURN(std::vector<Member> devices, reached->elements());
    std::set<DeviceIndex> others;
    std::optional<DeviceIndex> sharing;  // the device of another kind
    for (const Member& device : devices) {
      SCOPEVM_ASSIGN_OR_RETURN(const DeviceIndex index, device_of(device));
      if (machine_.devices[index].kind != machine_.devices[pool.device].kind) {
        SCOPEVM_RETURN_IF_ERROR(check_sharing(device, pool, index));
        // The driver of this device allocates the blocks.
        if (sharing && sharing != index)
          return device.fail("the pool is already reached by \"" + machine_.devices[*sharing].name +
                             "\"; expected at most one device that is not a CPU");
        sharing = index;
      }
      if (machine_.devices[index].rank != machine_.devices[pool.device].rank)
        return device.fail("device \"" + machine_.devices[index].name +
                           "\" has another rank than the pool");
      if (index != pool.device) others.insert(index);
    }
    pool.reached.insert(pool.reached.end(), others.begin(), others.end());
    return {};
  }

  // Checks that `device`, of another kind than the pool's owner, can reach the pool.
  Status check_sharing(const Member& member, const Pool& pool, DeviceIndex device) const {
    const std::string& kind = machine_.devices[device].kind;
    const auto of_kind = [&](const DeviceKind* one) { return one->name() == kind; };
    if (!machine_.devices[pool.device].is_host() ||
        !(*std::ranges::find_if(kinds_, of_kind))->reaches_host_memory())
      return member.fail("a device of kind " + kind + " cannot access memory of a device of kind " +
                         machine_.devices[pool.device].kind);
    // Callers' tensors are in "global", and the driver of the device does not allocate them.
    if (pool.scope == "global" || pool.scope == "global.workspace")
      return member.fail("a device of kind " + kind + " cannot access scope \"" + pool.scope +
                         "\" of a CPU; describe a further pool");
    if (pool.kind == PoolKind::kArena) return {};
    return member.fail("only a pool of kind \"arena\" can be reached by devices of several kinds");
  }

  Status read_pinned(const Member& member, Pool& pool) {
    std::optional<Member> pinned = member.find("pinned_for");
    if (!pinned) return {};
    SCOPEVM_ASSIGN_OR_RETURN(pool.pinned_for, device_of(*pinned));
    if (machine_.devices[*pool.pinned_for].is_host())
      return pinned->fail("expected a non-CPU device, whose driver pins the memory");
    if (!machine_.devices[pool.device].is_host())
      return pinned->fail("only memory of a CPU can be pinned");
    if (std::ranges::any_of(
            pool.reached, [&](DeviceIndex device) { return !machine_.devices[device].is_host(); }))
      return pinned->fail("the pool is reached by a device that is not a CPU");
    if (pool.kind == PoolKind::kArena) return {};
    return pinned->fail("only a pool of kind \"arena\" can be pinned");
  }

  // Adds the pools that every device has, and stacks. Then computes the alignments and sorts all
  // pools. "global" and "global.workspace" store the values without a required scope. Therefore the
  // same devices must reach both.
  Status add_missing_pools(const Member& root) {
    for (DeviceIndex device : machine_.devices.indices()) {
      Pool* global = find(device, "global");
      Pool* workspace = find(device, "global.workspace");
      if (global && workspace && global->reached != workspace->reached)
        return root.fail("pools: \"global\" and \"global.workspace\" of device \"" +
                         machine_.devices[device].name + "\" must have the same \"reached_by\"");
      std::vector<DeviceIndex> reached = {device};
      if (global || workspace) reached = (global ? global : workspace)->reached;
      for (const char* scope : {"global", "global.workspace"})
        if (!find(device, scope)) add(device, scope, reached);
      if (!find(device, "global.constant")) add(device, "global.constant", reached);
      if (stack_bytes_[device] == 0) continue;
      add(device, kStackScope, reached);
      machine_.pools.back().kind = PoolKind::kStack;
      machine_.pools.back().limit = stack_bytes_[device];
    }
    for (Pool& pool : machine_.pools)
      if (pool.kind == PoolKind::kHeap || pool.kind == PoolKind::kArena)
        for (DeviceIndex device : pool.reached)
          // The strictest alignment of all devices whose kernels access the pool. Stacks are parts
          // of frames, which always have the least alignment.
          pool.alignment = std::max(pool.alignment, alignments_[device]);
    // Sorts by device, with the three required scopes first, and stacks after all other pools. The
    // module then does not depend on the order of pools in the description.
    std::ranges::stable_sort(machine_.pools, {}, [](const Pool& pool) {
      const std::string_view scope = pool.scope;
      const int rank = scope == "global"             ? 0
                       : scope == "global.workspace" ? 1
                       : scope == "global.constant"  ? 2
                                                     : 3;
      return std::tuple(pool.kind == PoolKind::kStack, pool.device, rank, pool.scope);
    });
    return {};
  }

  Pool* find(DeviceIndex device, std::string_view scope) {
    for (Pool& pool : machine_.pools)
      if (pool.device == device && pool.scope == scope) return &pool;
    return nullptr;
  }

  void add(DeviceIndex device, const char* scope, std::vector<DeviceIndex> reached) {
    machine_.pools.push_back({.scope = scope,
                              .kind = default_kind(scope),
                              .device = device,
                              .reached = std::move(reached)});
  }

  const std::span<const DeviceKind* const> kinds_;
  std::vector<std::string_view> device_members_;  // of all kinds
  std::vector<std::string_view> pool_members_;
  Machine machine_;
  IndexedVector<DeviceIndex, int64_t> stack_bytes_;
  IndexedVector<DeviceIndex, int64_t> alignments_;
};

}  // namespace

Result<Machine> parse_machine(std::string_view text, const std::string& origin,
                              std::span<const DeviceKind* const> kinds) {
  using nlohmann::json;
  constexpr int kMaxDepth = 200;
  bool is_too_deep = false;
  // Elements that are nested too deep are discarded, because the functions of nlohmann::json
  // recurse.
  const json::parser_callback_t limit_depth = [&](int depth, json::parse_event_t, const json&) {
    is_too_deep = is_too_deep || depth > kMaxDepth;
    return depth <= kMaxDepth;
  };
  const json value = json::parse(text, limit_depth, false);
  if (is_too_deep)
    return Status(StatusCode::kInvalidModel,
                  origin + ": nested more than " + std::to_string(kMaxDepth) + " deep");
  if (value.is_discarded()) {
    // Parses again, with exceptions, for the position of the error.
    try {
      [[maybe_unused]] const json unused = json::parse(text);
    } catch (const json::exception& error) {
      std::string what = error.what();
      if (size_t end = what.find("] "); end != std::string::npos) what = what.substr(end + 2);
      return Status(StatusCode::kInvalidModel, origin + ": " + what);
    }
  }
  return MachineReader(kinds).read(Member(value, origin + ":"));
}

}  // namespace scopevm::compiler
