// Sample requests; see the header.
#include "compiler/memory/samples.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace scopevm::compiler::memory {
namespace {

// The thread count that plans assume; the session chooses the actual one.
constexpr int64_t kRepresentativeThreads = 2;

// The largest representative dim of a sample. Larger dims are unrealistic, and make sizes overflow.
constexpr int64_t kLargestSample = 1 << 20;

// A runtime-defined symbol is assumed to be as large as an unbounded dim, except that a negative
// part is assumed to be 0.
const Dimension kRuntimeDimension{.name = "", .min = 0, .representative = 64};

// The next value of the dimension: a multiple within its bounds. Sizes are aligned only for those.
int64_t next_value(const Dimension& dimension, int64_t value) {
  const int64_t multiple = dimension.multiple_of;
  const int64_t least = (dimension.min + multiple - 1) / multiple * multiple;
  const int64_t most = std::max(least, dimension.max / multiple * multiple);
  return std::clamp((value + multiple - 1) / multiple * multiple, least, most);
}

int64_t scaled(const Dimension& dimension, int64_t numerator, int64_t denominator, int64_t plus) {
  const int64_t value = std::clamp<int64_t>(dimension.representative, 0, kLargestSample);
  return next_value(dimension, value * numerator / denominator + plus);
}

Request scaled(const Function& function, int64_t numerator, int64_t denominator, int64_t plus,
               int64_t threads) {
  Request request{{}, threads};
  for (const Dimension& dimension : function.dimensions)
    request.symbols[dimension.name] = scaled(dimension, numerator, denominator, plus);
  for (const Segment& segment : function.segments)
    for (const RuntimeSymbol& defined : segment.symbols)
      request.symbols[defined.symbol] =
          defined.part == RuntimeSymbol::Part::kNegative
              ? 0
              : scaled(kRuntimeDimension, numerator, denominator, plus);
  return request;
}

// Between `least` and `most`; all magnitudes are equally likely. REQUIRES: 0 < least <= most.
int64_t random_value(int64_t least, int64_t most, std::mt19937& random) {
  const double range = static_cast<double>(most) / static_cast<double>(least);
  const double part = static_cast<double>(random()) / static_cast<double>(std::mt19937::max());
  return static_cast<int64_t>(static_cast<double>(least) * std::pow(range, part));
}

// From the minimum to 64 times the representative value.
int64_t random_dim(const Dimension& dimension, std::mt19937& random) {
  const int64_t representative = std::clamp<int64_t>(dimension.representative, 1, kLargestSample);
  const int64_t least = std::max<int64_t>(dimension.min, 1);
  const int64_t most = std::max(least, std::min(dimension.max, 64 * representative));
  return next_value(dimension, random_value(least, most, random));
}

// Nothing to add if no dim varies.
void add_random(const Function& function, int count, std::vector<Request>& requests) {
  if (requests.front().symbols.empty()) return;
  std::mt19937 random(1);
  for (int i = 0; i < count; ++i) {
    Request request{requests.front().symbols, random_value(1, 32, random)};
    for (const Dimension& dimension : function.dimensions)
      request.symbols[dimension.name] = random_dim(dimension, random);
    for (const Segment& segment : function.segments)
      for (const RuntimeSymbol& defined : segment.symbols)
        if (defined.part != RuntimeSymbol::Part::kNegative)
          request.symbols[defined.symbol] = random_dim(kRuntimeDimension, random);
    requests.push_back(std::move(request));
  }
}

}  // namespace

std::vector<Request> sample_requests(const Function& function, int random_requests) {
  std::vector<Request> requests = {
      scaled(function, 1, 1, 0, kRepresentativeThreads),
      scaled(function, 3, 1, 1, 1),
      scaled(function, 1, 3, 0, 8),
      scaled(function, 0, 1, 1, 8),
      scaled(function, 0, 1, 1, 4),
      scaled(function, 0, 1, 1, kRepresentativeThreads),
      scaled(function, 0, 1, 1, 1),
  };
  // One dim is large, and the others are representative or least, such as a batch of one image.
  const Request others[] = {requests.front(), requests.back()};
  constexpr size_t kMostDims = 6;  // dims that are varied alone
  for (size_t i = 0; i < std::min(kMostDims, function.dimensions.size()); ++i) {
    const Dimension& dimension = function.dimensions[i];
    for (Request request : others) {
      request.symbols[dimension.name] = scaled(dimension, 8, 1, 5);
      requests.push_back(std::move(request));
    }
  }
  add_random(function, random_requests, requests);
  return requests;
}

Request limit_request(const Machine& machine, const Function& function) {
  Request request = sample_requests(function, 0).front();
  request.threads = machine.devices[machine.host_device()].workers;
  for (const Dimension& dimension : function.dimensions)
    // A larger maximum counts as no bound: limits are then kept at the representative value.
    if (dimension.max <= kLargestSample) request.symbols[dimension.name] = dimension.max;
  std::erase_if(request.symbols, [](const auto& symbol) {
    return symbol_kind(symbol.first) != SymbolKind::kDimension;
  });
  return request;
}

std::optional<int64_t> evaluate(DimExpr expression, const Request& request) {
  return expression.evaluate([&](std::string_view name) -> std::optional<int64_t> {
    if (name == kThreadsSymbol) return request.threads;
    auto found = request.symbols.find(std::string(name));
    return found == request.symbols.end() ? std::nullopt : std::optional(found->second);
  });
}

std::optional<std::vector<int64_t>> sizes_at(const Liveness& liveness,
                                             const std::vector<BufferIndex>& members,
                                             const Request& request) {
  std::vector<int64_t> sizes;
  std::map<DimExpr, std::optional<int64_t>> known;  // many buffers have equal sizes
  int64_t total = 0;                                // bounds every sum of sizes
  for (BufferIndex id : members) {
    const DimExpr bytes = liveness.buffers[id].bytes;
    const auto [found, is_new] = known.try_emplace(bytes);
    if (is_new) found->second = evaluate(bytes, request);
    const std::optional<int64_t> size = found->second;
    if (!size || *size < 0 || __builtin_add_overflow(total, *size, &total)) return std::nullopt;
    sizes.push_back(*size);
  }
  return sizes;
}

}  // namespace scopevm::compiler::memory
