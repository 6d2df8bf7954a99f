// See ranks_json.h.
#include "compiler/machine/ranks_json.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "vm/format/schema/module_contents.h"

namespace scopevm::compiler {
namespace {

constexpr std::string_view kLinkMembers[] = {"ranks", "bytes_per_second", "latency_seconds"};
constexpr double kMostLatency = 3600;  // of a link, in seconds

}  // namespace

Status read_rank(const Member& member, Device& device) {
  std::optional<Member> rank = member.find("rank");
  if (!rank) return {};
  SCOPEVM_ASSIGN_OR_RETURN(const int64_t number, rank->whole_number(0, format::kMaxRanks - 1));
  if (number > 0 && !device.is_host())
    return rank->fail("expected 0 for a device of kind " + device.kind +
                      ": the other ranks have CPUs only");
  device.rank = static_cast<int>(number);
  return {};
}

Status check_ranks(const Member& devices, const Machine& machine) {
  if (machine.devices[machine.host_device()].rank != 0)
    return devices.fail("the first CPU, which runs the VM, has rank " +
                        std::to_string(machine.devices[machine.host_device()].rank) +
                        "; expected rank 0");
  std::set<int> ranks;
  for (const Device& device : machine.devices) ranks.insert(device.rank);
  for (int rank = 0; rank < *ranks.rbegin(); ++rank)
    if (!ranks.contains(rank))
      return devices.fail("no device has rank " + std::to_string(rank) + ", but one has rank " +
                          std::to_string(*ranks.rbegin()));
  return {};
}

Status read_link(const Member& member, Machine& machine) {
  SCOPEVM_RETURN_IF_ERROR(member.check_object(kLinkMembers));
  const std::optional<Member> given = member.find("ranks");
  if (!given) return member.fail("missing member \"ranks\"");
  SCOPEVM_ASSIGN_OR_RETURN(const std::vector<Member> ranks, given->elements());
  if (ranks.size() != 2)
    return given->fail("expected 2 elements, found " + std::to_string(ranks.size()));
  Link link;
  for (size_t i = 0; i < 2; ++i) {
    SCOPEVM_ASSIGN_OR_RETURN(const int64_t rank, ranks[i].whole_number(0, format::kMaxRanks - 1));
    link.ranks[i] = static_cast<int>(rank);
    if (std::ranges::find(machine.devices, link.ranks[i], &Device::rank) == machine.devices.end())
      return ranks[i].fail("no device has rank " + std::to_string(rank));
  }
  std::ranges::sort(link.ranks);
  if (link.ranks[0] == link.ranks[1]) return given->fail("expected two different ranks");
  if (std::ranges::find(machine.links, link.ranks, &Link::ranks) != machine.links.end())
    return given->fail("a second link of these ranks");
  if (std::optional<Member> speed = member.find("bytes_per_second")) {
    SCOPEVM_ASSIGN_OR_RETURN(link.bytes_per_second, speed->number(format::kBytesPerSecond.least,
                                                                  format::kBytesPerSecond.most));
  }
  if (std::optional<Member> latency = member.find("latency_seconds")) {
    SCOPEVM_ASSIGN_OR_RETURN(link.latency_seconds, latency->number(0, kMostLatency));
  }
  machine.links.push_back(link);
  return {};
}

}  // namespace scopevm::compiler
