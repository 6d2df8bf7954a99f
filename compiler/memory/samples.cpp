// Sample requests; see the header.
#include "compiler/memory/samples.h"

#include <algorithm>

namespace scopevm::compiler::memory {
namespace {

// The thread count that plans assume; the session chooses the actual one.
constexpr int64_t kRepresentativeThreads = 2;

// The largest representative dim of a sample. Larger dims are unrealistic, and make sizes overflow.
constexpr int64_t kLargestSample = 1 << 20;

// A runtime-defined symbol is assumed to be as large as an unbounded dim, except that a negative
// part is assumed to be 0.
const Dimension kRuntimeDimension{.name = "", .min = 0, .representative = 64};

int64_t scaled(const Dimension& dimension, int64_t numerator, int64_t denominator, int64_t plus) {
  int64_t value = std::clamp<int64_t>(dimension.representative, 0, kLargestSample);
  value = value * numerator / denominator + plus;
  return std::min(std::max(value, dimension.min), dimension.max);
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

}  // namespace

std::vector<Request> sample_requests(const Function& function) {
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
  return requests;
}

Request limit_request(const Machine& machine, const Function& function) {
  Request request = sample_requests(function).front();
  request.threads = machine.devices[machine.host_device()].workers;
  for (const Dimension& dimension : function.dimensions)
    // A larger maximum counts as no bound: limits are then kept at the representative value.
    if (dimension.max <= kLargestSample) request.symbols[dimension.name] = dimension.max;
  std::erase_if(request.symbols, [](const auto& symbol) { return symbol.first.starts_with('$'); });
  return request;
}

std::optional<int64_t> evaluate(DimExpr expression, const Request& request) {
  return expression.evaluate([&](std::string_view name) -> std::optional<int64_t> {
    if (name == kThreadsSymbol) return request.threads;
    auto found = request.symbols.find(std::string(name));
    return found == request.symbols.end() ? std::nullopt : std::optional(found->second);
  });
}

std::optional<std::vector<PlannedBuffer>> buffers_at(const Liveness& liveness,
                                                     const std::vector<BufferIndex>& members,
                                                     const Request& request) {
  std::vector<PlannedBuffer> buffers;
  int64_t total = 0;  // bounds every sum of sizes
  for (BufferIndex id : members) {
    const Liveness::Lifespan& lifespan = liveness.buffers[id];
    std::optional<int64_t> size = evaluate(lifespan.bytes, request);
    if (!size || *size < 0 || __builtin_add_overflow(total, *size, &total)) return std::nullopt;
    buffers.push_back({static_cast<int>(id.value), lifespan.lower, lifespan.upper, *size, {}});
  }
  return buffers;
}

}  // namespace scopevm::compiler::memory
