// Module::largest_bound(): the largest memory bound over ranges of dims, by branch and bound. The
// bound function gives an upper bound for a box, a range of values for each dimension, and the
// exact value for a point. The box with the largest upper bound is split until a point has this
// value.
#include <algorithm>
#include <optional>
#include <queue>

#include "vm/run/bound/bound.h"
#include "vm/run/bound/request_check.h"

namespace scopevm::vm {
namespace {

using Box = std::vector<DimRange>;  // by dimension of the signature

// Boxes that the search for the largest bound of one pool evaluates. A box takes 50 ns to 2 us, so
// that the search takes milliseconds at most.
constexpr int kMostBoxes = 2000;

// The largest multiple that is at most `value`.
int64_t round_down(int64_t value, int64_t multiple) { return value - value % multiple; }

// The box of the calls in the given ranges that enter a variant or main (null); none if no such
// call enters it.
std::optional<Box> box_of(const format::VariantDecl* variant, const Signature& signature,
                          const std::map<std::string, DimRange>& given) {
  Box box;
  for (size_t i = 0; i < signature.dimensions.size(); ++i) {
    const DimensionSignature& dimension = signature.dimensions[i];
    DimRange range{dimension.min, dimension.max};
    if (variant) range = {variant->dimensions[i].min, variant->dimensions[i].max};
    if (const auto found = given.find(dimension.name); found != given.end()) {
      range.least = std::max(range.least, found->second.least);
      range.most = std::min(range.most, found->second.most);
    }
    range.most = round_down(range.most, dimension.multiple_of);
    if (range.least > range.most) return std::nullopt;
    box.push_back(range);
  }
  return box;
}

class LargestBound {
 public:
  LargestBound(const LoadedModule& module, uint32_t entry, int threads)
      : module_(module), entry_(entry), threads_(threads), bytes_(module.memory_scopes().size()) {}

  struct Found {
    int64_t most = 0;     // no request needs more
    int64_t reached = 0;  // a request needs this
  };

  Result<Found> run(uint32_t pool, Box box) {
    Found found;
    SCOPEVM_RETURN_IF_ERROR(add(pool, std::move(box), found));
    for (int boxes = 1; !boxes_.empty() && boxes < kMostBoxes; boxes += 2) {
      if (boxes_.top().bytes <= found.reached) break;
      const Box whole = boxes_.top().box;
      boxes_.pop();
      const size_t widest = widest_of(whole);
      Box low = whole, high = whole;
      const int64_t middle = whole[widest].least + (whole[widest].most - whole[widest].least) / 2;
      low[widest].most = middle;
      high[widest].least = middle + 1;
      SCOPEVM_RETURN_IF_ERROR(add(pool, std::move(low), found));
      SCOPEVM_RETURN_IF_ERROR(add(pool, std::move(high), found));
    }
    found.most = found.reached;
    if (!boxes_.empty()) found.most = std::max(found.most, boxes_.top().bytes);
    boxes_ = {};
    return found;
  }

 private:
  struct Bounded {
    int64_t bytes = 0;  // no point of the box needs more
    Box box;
    bool operator<(const Bounded& other) const { return bytes < other.bytes; }
  };

  Result<int64_t> bytes_in(uint32_t pool, const Box& box) {
    SCOPEVM_RETURN_IF_ERROR(bound_in(module_, entry_, box.data(), threads_, bytes_.data()));
    return bytes_[pool];
  }

  // Adds a box, unless no point of it needs more than a point that is known.
  Status add(uint32_t pool, Box box, Found& found) {
    SCOPEVM_ASSIGN_OR_RETURN(const int64_t most, bytes_in(pool, box));
    Box point = box;
    bool is_point = true;
    for (size_t i = 0; i < box.size(); ++i) {
      const int64_t multiple = module_.signature().dimensions[i].multiple_of;
      const int64_t value = std::max(round_down(box[i].most, multiple), int64_t{0});
      // A box can be between two multiples.
      if (value < box[i].least) return {};
      point[i] = {value, value};
      is_point = is_point && box[i].least == value;
    }
    SCOPEVM_ASSIGN_OR_RETURN(const int64_t reached, bytes_in(pool, point));
    found.reached = std::max(found.reached, reached);
    if (!is_point && most > found.reached) boxes_.push({most, std::move(box)});
    return {};
  }

  static size_t widest_of(const Box& box) {
    const auto width = [](const DimRange& range) { return range.most - range.least; };
    return static_cast<size_t>(std::ranges::max_element(box, {}, width) - box.begin());
  }

  const LoadedModule& module_;
  const uint32_t entry_;
  const int threads_;
  std::vector<int64_t> bytes_;  // by pool; the result of the bound function
  std::priority_queue<Bounded> boxes_;
};

// Checks that both ends of each range are values of the dimension.
Status check_ranges(const Signature& signature, const std::map<std::string, DimRange>& dims,
                    int threads) {
  std::map<std::string, int64_t> least, most;
  for (const auto& [name, range] : dims) {
    if (range.least > range.most)
      return {StatusCode::kInvalidArgument, "the range " + std::to_string(range.least) + ".." +
                                                std::to_string(range.most) + " of " + name +
                                                " is empty"};
    least[name] = range.least;
    most[name] = range.most;
  }
  SCOPEVM_RETURN_IF_ERROR(check_request(signature, least, threads));
  return check_request(signature, most, threads);
}

// Fails if a dimension without a range has no upper bound.
Status check_upper_bounds(const Signature& signature, const std::map<std::string, DimRange>& dims) {
  std::string missing, example;
  for (const DimensionSignature& dimension : signature.dimensions) {
    if (dims.contains(dimension.name) || dimension.max < format::DimensionDecl().max) continue;
    missing += (missing.empty() ? "\"" : ", \"") + dimension.name + "\"";
    if (example.empty()) example = dimension.name;
  }
  if (missing.empty()) return {};
  return {StatusCode::kInvalidArgument, "no upper bound of " + missing + ": give " + example +
                                            "=NUMBER, or compile with --dim '" + example +
                                            "<=NUMBER'"};
}

}  // namespace

Result<MemoryBound> largest_bound(const LoadedModule& module,
                                  const std::map<std::string, DimRange>& dims, int threads) {
  const Signature& signature = module.signature();
  SCOPEVM_RETURN_IF_ERROR(check_ranges(signature, dims, threads));
  SCOPEVM_RETURN_IF_ERROR(check_upper_bounds(signature, dims));
  MemoryBound bound{
      .function = module.main().decl->name, .definitions = {}, .lines = {}, .scopes = {}};
  for (const format::MemoryDecl& decl : module.main().decl->memory) {
    const MemoryScope& scope = module.memory_scopes()[decl.pool];
    scope_of(bound, scope);
    if (decl.depends_on_data)
      bound.lines.push_back({.device = scope.device,
                             .scope = scope.scope,
                             .what = decl.what,
                             .is_result = decl.is_result,
                             .formula = decl.formula,
                             .depends_on_data = true});
  }
  const std::vector<uint32_t> entries = module.entries();
  for (size_t e = 0; e < entries.size(); ++e) {
    const std::optional<Box> box =
        box_of(e == 0 ? nullptr : &module.contents().variants[e - 1], signature, dims);
    if (!box) continue;
    LargestBound search(module, entries[e], threads);
    for (uint32_t pool = 0; pool < module.memory_scopes().size(); ++pool) {
      SCOPEVM_ASSIGN_OR_RETURN(const LargestBound::Found found, search.run(pool, *box));
      if (found.most == 0) continue;
      ScopeBound& scope = scope_of(bound, module.memory_scopes()[pool]);
      scope.bytes = std::max(scope.bytes, found.most);
      scope.lower_bound_bytes = std::max(scope.lower_bound_bytes, found.reached);
    }
  }
  return bound;
}

}  // namespace scopevm::vm
