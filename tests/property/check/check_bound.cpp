#include "tests/property/check/check_bound.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace scopevm::compiler::property {
namespace {

constexpr int kThreads = 2;

using Dims = std::map<std::string, int64_t>;

std::string wrong_function(const Module& module, const Dims& dims, const MemoryBound& expected) {
  std::vector<int64_t> values, bytes(module.memory_scopes().size());
  for (const DimensionSignature& dimension : module.signature().dimensions)
    values.push_back(dims.at(dimension.name));
  const Status status = module.bound(values, bytes, kThreads);
  if (status.code() == StatusCode::kUnsupported) return "";  // the module has no shape functions
  if (!status.ok()) return "bound function: " + std::string(status.message());
  for (const ScopeBound& scope : expected.scopes) {
    const auto pool = std::ranges::find_if(module.memory_scopes(), [&](const MemoryScope& other) {
      return other.device == scope.device && other.scope == scope.scope;
    });
    const int64_t actual = bytes[static_cast<size_t>(pool - module.memory_scopes().begin())];
    if (actual != scope.bytes)
      return "bound function of " + scope.scope + " is " + std::to_string(actual) + ", expected " +
             std::to_string(scope.bytes);
  }
  return "";
}

std::string wrong_largest(const Module& module, const Dims& dims) {
  constexpr size_t kMostRequests = 8;
  std::map<std::string, DimRange> ranges;
  std::vector<Dims> requests = {dims};
  for (const DimensionSignature& dimension : module.signature().dimensions) {
    const std::string& name = dimension.name;
    const int64_t dim = dims.at(name);
    const bool is_range = 2 * requests.size() <= kMostRequests && dim < dimension.max;
    ranges[name] = {dim, is_range ? dim + 1 : dim};
    for (size_t i = is_range ? requests.size() : 0; i > 0; --i) {
      Dims next = requests[i - 1];
      ++next[name];
      requests.push_back(std::move(next));
    }
  }
  std::map<std::pair<std::string, std::string>, int64_t> most;
  bool is_exact = true;
  for (const Dims& request : requests) {
    const Result<MemoryBound> bound = module.memory_bound(request, kThreads);
    // The shape function rejects some dims, for which the largest bound can have other values.
    is_exact = is_exact && bound.ok();
    if (!bound.ok()) continue;
    for (const ScopeBound& scope : bound->scopes) {
      int64_t& bytes = most[{scope.device, scope.scope}];
      bytes = std::max(bytes, scope.bytes);
    }
  }
  const Result<MemoryBound> largest = module.largest_bound(ranges, kThreads);
  if (largest.status().code() == StatusCode::kUnsupported) return "";
  if (!largest.ok()) return "largest bound: " + std::string(largest.status().message());
  std::map<std::pair<std::string, std::string>, int64_t> found;
  for (const ScopeBound& scope : largest->scopes) {
    found[{scope.device, scope.scope}] = scope.bytes;
    most.try_emplace({scope.device, scope.scope}, 0);
  }
  for (const auto& [scope, expected] : most)
    if (found[scope] < expected || (is_exact && found[scope] != expected))
      return "largest bound of " + scope.first + " " + scope.second + " is " +
             std::to_string(found[scope]) + ", expected " + std::to_string(expected);
  return "";
}

}  // namespace

std::string wrong_bound(const Module& module, const Symbols& symbols) {
  Dims dims;
  for (const DimensionSignature& dimension : module.signature().dimensions)
    dims[dimension.name] = symbols.at(dimension.name);
  const Result<MemoryBound> expected = module.memory_bound(dims, kThreads);
  if (!expected.ok()) return "";  // the dims do not determine a bound
  std::string wrong = wrong_function(module, dims, *expected);
  return wrong.empty() ? wrong_largest(module, dims) : wrong;
}

}  // namespace scopevm::compiler::property
