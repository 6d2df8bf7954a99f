#include "tests/property/check/check_plans.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "scopevm/module.h"

namespace scopevm::compiler::property {
namespace {

constexpr int kRequests = 20;
constexpr int64_t kLargestDim = 2048;

// Small and large dims are equally likely: the logarithm is distributed uniformly.
int64_t random_dim(const DimensionSignature& dimension, std::mt19937_64& random) {
  const double least = static_cast<double>(std::max<int64_t>(dimension.min, 1));
  const double most =
      static_cast<double>(std::max(std::min(dimension.max, kLargestDim), dimension.min));
  std::uniform_real_distribution<double> exponent(std::log(least), std::log(std::max(least, most)));
  const int64_t dim = std::llround(std::exp(exponent(random)));
  const int64_t multiple = dimension.multiple_of;
  return std::clamp((dim + multiple - 1) / multiple * multiple, dimension.min, dimension.max);
}

}  // namespace

void PlanQuality::add(const PlanQuality& other) {
  requests += other.requests;
  sum += other.sum;
  if (other.worst <= worst) return;
  worst = other.worst;
  worst_request = other.worst_request;
}

PlanQuality measure_plans(std::span<const uint8_t> module_bytes) {
  PlanQuality quality;
  const Result<Module> module = Module::load_bytes(module_bytes);
  if (!module.ok()) return quality;
  std::mt19937_64 random(1);
  for (int i = 0; i < kRequests; ++i) {
    std::map<std::string, int64_t> dims;
    for (const DimensionSignature& dimension : module->signature().dimensions)
      dims[dimension.name] = random_dim(dimension, random);
    const Result<MemoryBound> bound = module->memory_bound(dims, 1 + i % 4);
    if (!bound.ok()) continue;
    PlanQuality request{.requests = 1};
    for (const MemoryLine& line : bound->lines) {
      if (line.what != "workspace" || line.lower_bound_bytes == 0) continue;
      request.worst = std::max(request.worst, static_cast<double>(line.bytes) /
                                                  static_cast<double>(line.lower_bound_bytes));
    }
    request.sum = request.worst;
    for (const auto& [name, dim] : dims)
      request.worst_request += " " + name + "=" + std::to_string(dim);
    quality.add(request);
  }
  return quality;
}

}  // namespace scopevm::compiler::property
