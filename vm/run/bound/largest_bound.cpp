// Module::largest_bound(): the largest memory bound over ranges of dims, by branch and bound. The
// bound functions give an upper bound for a box of requests that enter one function, and the exact
// value for one request. The box with the largest upper bound is split until a request has this
// value.
#include <algorithm>
#include <queue>

#include "runtime/name_text.h"
#include "vm/run/bound/bound.h"
#include "vm/run/bound/request_boxes.h"
#include "vm/run/bound/request_check.h"

namespace scopevm::vm {
namespace {

// Boxes that the search for the largest bound of one pool splits. A box takes 50 ns to 2 us, so
// that the search takes milliseconds at most.
constexpr int kMostSplits = 1000;

class LargestBound {
 public:
  LargestBound(const LoadedModule& module, int threads)
      : module_(module), threads_(threads), bytes_(module.memory_scopes().size()) {}

  struct Found {
    int64_t most = 0;     // no request needs more
    int64_t reached = 0;  // a request needs this
  };

  Result<Found> run(uint32_t pool, const std::vector<EntryBox>& boxes) {
    Found found;
    for (const EntryBox& box : boxes) SCOPEVM_RETURN_IF_ERROR(add(pool, box, found));
    for (int splits = 0; !boxes_.empty() && splits < kMostSplits; ++splits) {
      if (boxes_.top().bytes <= found.reached) break;
      EntryBox low = boxes_.top().box;
      boxes_.pop();
      EntryBox high = low;
      const size_t widest = widest_of(low.box);
      DimSet &lower = low.box[widest], &upper = high.box[widest];
      lower.most = lower.least + (lower.most - lower.least) / 2;
      upper.least = lower.most + 1;
      // Neither is empty: each contains an end of the range.
      (void)lower.tighten();
      (void)upper.tighten();
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
    int64_t bytes = 0;  // no request of the box needs more
    EntryBox box;
    bool operator<(const Bounded& other) const { return bytes < other.bytes; }
  };

  Result<int64_t> bytes_in(uint32_t pool, uint32_t entry, const std::vector<DimRange>& ranges) {
    SCOPEVM_RETURN_IF_ERROR(bound_in(module_, entry, ranges.data(), threads_, bytes_.data()));
    return bytes_[pool];
  }

  // Adds a box, unless no request of it needs more than a known request.
  Status add(uint32_t pool, EntryBox box, Found& found) {
    std::vector<DimRange> ranges, request;
    std::vector<int64_t> dims;
    for (const DimSet& set : box.box) {
      ranges.push_back({set.least, set.most});
      request.push_back({set.most, set.most});
      dims.push_back(set.most);
    }
    SCOPEVM_ASSIGN_OR_RETURN(const int64_t most, bytes_in(pool, box.entry, ranges));
    // See request_boxes().
    if (module_.entry(dims).decl == module_.function(box.entry).decl) {
      SCOPEVM_ASSIGN_OR_RETURN(const int64_t reached, bytes_in(pool, box.entry, request));
      found.reached = std::max(found.reached, reached);
    }
    const auto is_point = [](const DimSet& set) { return set.least == set.most; };
    if (most > found.reached && !std::ranges::all_of(box.box, is_point))
      boxes_.push({most, std::move(box)});
    return {};
  }

  static size_t widest_of(const RequestBox& box) {
    const auto width = [](const DimSet& set) { return (set.most - set.least) / set.multiple_of; };
    return static_cast<size_t>(std::ranges::max_element(box, {}, width) - box.begin());
  }

  const LoadedModule& module_;
  const int threads_;
  std::vector<int64_t> bytes_;  // by pool; the result of the bound function
  std::priority_queue<Bounded> boxes_;
};

// Checks that a range contains a value of the dimension, and no value out of its bounds. The ends
// can be between two multiples.
Status check_range(const DimensionSignature& dimension, const DimRange& range) {
  const std::string where = "dimension " + dimension.name;
  if (range.least == range.most) return check_dimension(dimension, range.least, where);
  DimSet set{range.least, range.most, dimension.multiple_of, {}};
  const bool has_value = set.tighten();
  if (range.least < 0 || (has_value && set.least < dimension.min))
    return check_dimension(dimension, range.least, where);
  if (has_value && set.most > dimension.max) return check_dimension(dimension, range.most, where);
  if (has_value) return {};
  return {StatusCode::kInvalidArgument,
          "the range " + std::to_string(range.least) + ".." + std::to_string(range.most) + " of " +
              dimension.name + " contains no multiple of " + std::to_string(dimension.multiple_of)};
}

Status check_ranges(const Signature& signature, const std::map<std::string, DimRange>& dims,
                    int threads) {
  std::map<std::string, int64_t> names;
  for (const auto& [name, range] : dims) {
    if (range.least > range.most)
      return {StatusCode::kInvalidArgument, "the range " + std::to_string(range.least) + ".." +
                                                std::to_string(range.most) + " of " + name +
                                                " is empty"};
    names[name] = range.least;
  }
  SCOPEVM_RETURN_IF_ERROR(check_request(signature, {}, threads));
  SCOPEVM_RETURN_IF_ERROR(check_names(signature, names));
  for (const DimensionSignature& dimension : signature.dimensions)
    if (const auto range = dims.find(dimension.name); range != dims.end())
      SCOPEVM_RETURN_IF_ERROR(check_range(dimension, range->second));
  return {};
}

// Fails if a dimension without a range has no upper bound.
Status check_upper_bounds(const Signature& signature, const std::map<std::string, DimRange>& dims) {
  std::string missing, example;
  for (const DimensionSignature& dimension : signature.dimensions) {
    if (dims.contains(dimension.name) || dimension.max < format::DimensionDecl().max) continue;
    missing += (missing.empty() ? "\"" : ", \"") + dimension.name + "\"";
    if (example.empty()) example = runtime::name_text(dimension.name);
  }
  if (missing.empty()) return {};
  return {StatusCode::kInvalidArgument, "no upper bound of " + missing + ": give " + example +
                                            "=NUMBER, or compile with --dim '" + example +
                                            "<=NUMBER'"};
}

// Adds the scopes of a function that requests enter, and its memory that depends on data, unless
// another function has the same. Different functions can define a name of formulas differently.
void add_function(const LoadedModule& module, const format::FunctionDecl& function,
                  MemoryBound& bound) {
  const bool has_formulas =
      function.definitions.empty() || function.definitions == bound.definitions;
  for (const format::MemoryDecl& decl : function.memory) {
    const MemoryScope& scope = module.memory_scopes()[decl.pool];
    scope_of(bound, scope);
    const bool is_known = std::ranges::any_of(bound.lines, [&](const MemoryLine& line) {
      return line.device == scope.device && line.scope == scope.scope && line.what == decl.what;
    });
    if (decl.depends_on_data && !is_known)
      bound.lines.push_back({.device = scope.device,
                             .scope = scope.scope,
                             .what = decl.what,
                             .is_result = decl.is_result,
                             .formula = has_formulas ? decl.formula : "",
                             .depends_on_data = true});
  }
}

}  // namespace

Result<MemoryBound> largest_bound(const LoadedModule& module,
                                  const std::map<std::string, DimRange>& dims, int threads) {
  const Signature& signature = module.signature();
  SCOPEVM_RETURN_IF_ERROR(check_ranges(signature, dims, threads));
  SCOPEVM_RETURN_IF_ERROR(check_upper_bounds(signature, dims));
  const std::vector<EntryBox> boxes = request_boxes(module, dims);
  std::vector<uint32_t> entered;
  for (const uint32_t entry : module.entries())
    if (std::ranges::find(boxes, entry, &EntryBox::entry) != boxes.end()) entered.push_back(entry);
  const uint32_t named = entered.size() == 1 ? entered.front() : module.entries().front();
  const format::FunctionDecl& function = *module.function(named).decl;
  MemoryBound bound{
      .function = function.name, .definitions = function.definitions, .lines = {}, .scopes = {}};
  for (const uint32_t entry : entered) add_function(module, *module.function(entry).decl, bound);
  LargestBound search(module, threads);
  for (uint32_t pool = 0; pool < module.memory_scopes().size(); ++pool) {
    SCOPEVM_ASSIGN_OR_RETURN(const LargestBound::Found found, search.run(pool, boxes));
    if (found.most == 0) continue;
    ScopeBound& scope = scope_of(bound, module.memory_scopes()[pool]);
    scope.bytes = found.most;
    scope.lower_bound_bytes = found.reached;
  }
  return bound;
}

}  // namespace scopevm::vm
