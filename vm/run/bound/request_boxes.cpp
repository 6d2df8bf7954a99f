// Subtracts the boxes of the variants from the box of all requests; see request_boxes.h.
#include "vm/run/bound/request_boxes.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

namespace scopevm::vm {
namespace {

// Boxes from which further variants are subtracted. The number of boxes can grow exponentially with
// that of dimensions.
constexpr size_t kMostParts = 4096;

// The least common multiple. Above 64 bits: the largest number, which has no other multiple in the
// range of a dimension than 0.
int64_t common_multiple(int64_t a, int64_t b) {
  int64_t product = 0;
  if (__builtin_mul_overflow(a / std::gcd(a, b), b, &product))
    return std::numeric_limits<int64_t>::max();
  return product;
}

std::optional<DimSet> in_range(DimSet set, int64_t least, int64_t most) {
  set.least = std::max(set.least, least);
  set.most = std::min(set.most, most);
  return set.tighten() ? std::optional(std::move(set)) : std::nullopt;
}

std::optional<DimSet> multiples(DimSet set, int64_t factor) {
  set.multiple_of = common_multiple(set.multiple_of, factor);
  return set.tighten() ? std::optional(std::move(set)) : std::nullopt;
}

std::optional<DimSet> without_multiples(DimSet set, int64_t factor) {
  set.excluded.push_back(factor);
  return set.tighten() ? std::optional(std::move(set)) : std::nullopt;
}

std::optional<DimSet> admitted(const DimSet& set, const format::DimensionDecl& dimension) {
  std::optional<DimSet> range = in_range(set, dimension.min, dimension.max);
  return range ? multiples(*std::move(range), dimension.multiple_of) : std::nullopt;
}

// The part of the box that the variant admits.
std::optional<RequestBox> admitted(const RequestBox& box, const format::VariantDecl& variant) {
  RequestBox part;
  for (size_t i = 0; i < box.size(); ++i) {
    std::optional<DimSet> set = admitted(box[i], variant.dimensions[i]);
    if (!set) return std::nullopt;
    part.push_back(*std::move(set));
  }
  return part;
}

// Appends the other requests of the box, for a variant that admits the requests `inside`. The
// dimensions before i have admitted values: the parts have no common requests.
void append_others(RequestBox box, const RequestBox& inside, const format::VariantDecl& variant,
                   std::vector<RequestBox>& parts) {
  const auto append = [&](size_t i, std::optional<DimSet> set) {
    if (!set) return;
    parts.push_back(box);
    parts.back()[i] = *std::move(set);
  };
  for (size_t i = 0; i < box.size(); ++i) {
    const auto& [name, min, max, multiple_of, is_batch] = variant.dimensions[i];
    if (box[i].least < min) append(i, in_range(box[i], box[i].least, min - 1));
    if (box[i].most > max) append(i, in_range(box[i], max + 1, box[i].most));
    append(i, without_multiples(*in_range(box[i], min, max), multiple_of));
    box[i] = inside[i];
  }
}

RequestBox box_of(const Signature& signature, const std::map<std::string, DimRange>& ranges) {
  RequestBox box;
  for (const DimensionSignature& dimension : signature.dimensions) {
    DimSet set{dimension.min, dimension.max, dimension.multiple_of, {}};
    if (const auto range = ranges.find(dimension.name); range != ranges.end()) {
      set.least = std::max(set.least, range->second.least);
      set.most = std::min(set.most, range->second.most);
    }
    if (!set.tighten()) return {};
    box.push_back(std::move(set));
  }
  return box;
}

}  // namespace

bool DimSet::tighten() {
  const auto divides_all = [&](int64_t factor) { return multiple_of % factor == 0; };
  if (most < 0 || least > most || std::ranges::any_of(excluded, divides_all)) return false;
  const auto is_excluded = [&](int64_t value) {
    return std::ranges::any_of(excluded, [&](int64_t factor) { return value % factor == 0; });
  };
  // No dimension has a negative value.
  least = std::max<int64_t>(least, 0);
  int64_t first = least / multiple_of + (least % multiple_of != 0 ? 1 : 0);  // in multiples
  int64_t last = most / multiple_of;
  // Few steps: some factors do not divide `multiple_of`, and numbers without one of them are dense.
  while (first <= last && is_excluded(first * multiple_of)) ++first;
  while (first <= last && is_excluded(last * multiple_of)) --last;
  if (first > last) return false;
  least = first * multiple_of;
  most = last * multiple_of;
  return true;
}

std::vector<EntryBox> request_boxes(const LoadedModule& module,
                                    const std::map<std::string, DimRange>& ranges) {
  std::vector<EntryBox> boxes;
  std::vector<RequestBox> left = {box_of(module.signature(), ranges)};
  if (left.front().empty() && !module.signature().dimensions.empty()) return {};
  // A call enters the first variant that admits its dims.
  for (const format::VariantDecl& variant : module.contents().variants) {
    std::vector<RequestBox> rest;
    for (RequestBox& box : left) {
      std::optional<RequestBox> inside = admitted(box, variant);
      if (!inside) {
        rest.push_back(std::move(box));
        continue;
      }
      if (left.size() > kMostParts)
        rest.push_back(std::move(box));
      else
        append_others(std::move(box), *inside, variant, rest);
      boxes.push_back({variant.function, *std::move(inside)});
    }
    left = std::move(rest);
  }
  for (RequestBox& box : left) boxes.push_back({module.entries().front(), std::move(box)});
  return boxes;
}

}  // namespace scopevm::vm
