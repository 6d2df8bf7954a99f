// Merges spans into regions; see address_axis.h.
#include "tools/lab/plot/page/address_axis.h"

#include <algorithm>

namespace scopevm::lab {
namespace {

// Smaller unused ranges are shown: they are the fragmentation that a reader looks for.
constexpr uint64_t kLargeGap = uint64_t{8} << 20;

}  // namespace

AddressAxis::AddressAxis(const std::vector<Span>& spans) {
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  for (const Span& span : spans) ranges.emplace_back(span.address, span.address + span.size);
  std::ranges::sort(ranges);
  for (const auto& [begin, end] : ranges) {
    if (regions_.empty() || begin > regions_.back().address + regions_.back().bytes + kLargeGap)
      regions_.push_back({begin, 0, height()});
    Region& last = regions_.back();
    last.bytes = std::max(last.bytes, end - last.address);
  }
}

uint64_t AddressAxis::position(uint64_t address) const {
  const auto after = std::ranges::upper_bound(regions_, address, {}, &Region::address);
  const Region& region = *(after - 1);
  return address - region.address + region.position;
}

uint64_t AddressAxis::height() const {
  return regions_.empty() ? 0 : regions_.back().position + regions_.back().bytes;
}

}  // namespace scopevm::lab
