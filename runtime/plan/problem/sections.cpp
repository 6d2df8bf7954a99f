#include "runtime/plan/problem/sections.h"

#include <algorithm>
#include <numeric>

#include "runtime/plan/steps.h"

namespace scopevm::plan {
namespace {

// The largest number of bytes that divides all sizes and required offsets, and that divides each
// alignment or is a multiple of it. Some plan of least height has offsets that are multiples of it.
int64_t unit_of(const std::vector<Item>& items) {
  int64_t unit = 0;
  for (const Item& item : items)
    unit = std::gcd(std::gcd(unit, item.size), item.offset.value_or(0));
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (const Item& item : items)
      if (unit % item.alignment != 0 && item.alignment % unit != 0) {
        unit = std::gcd(unit, item.alignment);
        has_changed = true;
      }
  }
  return unit;
}

void divide(std::vector<Item>& items, int64_t unit) {
  for (Item& item : items) {
    item.size /= unit;
    item.alignment = std::max<int64_t>(1, item.alignment / unit);
    if (item.offset) *item.offset /= unit;
  }
}

// Appends a section of the groups, which are moved from.
void add_section(const Groups& groups, std::vector<int> members, int64_t limit,
                 std::vector<Section>& sections) {
  Section section;
  section.groups = std::move(members);
  std::vector<Item>& items = section.instance.items;
  for (const int member : section.groups) {
    const Group& group = groups.groups[member];
    items.push_back({group.size, group.alignment, group.offset, group.lifespans});
  }
  section.unit = unit_of(items);
  section.capacity = limit / section.unit;
  divide(items, section.unit);
  contract_steps(items);
  section.lower_bound = lower_bound_of(section.instance);
  sections.push_back(std::move(section));
}

}  // namespace

std::vector<Section> split(const Groups& groups, const std::vector<int>& pools,
                           const std::vector<int64_t>& limits) {
  std::vector<int> order;
  for (size_t i = 0; i < groups.groups.size(); ++i)
    if (groups.groups[i].size > 0) order.push_back(static_cast<int>(i));
  const auto begin = [&](int group) { return groups.groups[group].lifespans.front().lower; };
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return pools[a] != pools[b] ? pools[a] < pools[b] : begin(a) < begin(b);
  });
  std::vector<Section> sections;
  std::vector<int> members;
  int64_t end = 0;  // of the members' lifespans
  const auto finish = [&] {
    if (members.empty()) return;
    const int pool = pools[members[0]];
    std::sort(members.begin(), members.end());
    add_section(groups, std::move(members), limits[pool], sections);
    members.clear();
  };
  for (const int group : order) {
    if (!members.empty() && (pools[group] != pools[members[0]] || begin(group) >= end)) finish();
    const int64_t upper = groups.groups[group].lifespans.back().upper;
    end = members.empty() ? upper : std::max(end, upper);
    members.push_back(group);
  }
  finish();
  return sections;
}

}  // namespace scopevm::plan
