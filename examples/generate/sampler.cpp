#include "sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

int64_t sample(std::span<const float> logits, const Sampling& sampling, std::mt19937_64& random) {
  const auto logit = [&](int64_t token) {
    const float value = logits[static_cast<size_t>(token)];
    return std::isnan(value) ? -std::numeric_limits<float>::infinity() : value;
  };
  // The lower of two tokens is first if their logits are equal, so that results do not depend on
  // the algorithm that sorts.
  const auto is_before = [&](int64_t a, int64_t b) {
    return logit(a) != logit(b) ? logit(a) > logit(b) : a < b;
  };
  std::vector<int64_t> tokens(logits.size());
  std::iota(tokens.begin(), tokens.end(), 0);
  if (sampling.temperature == 0) return *std::ranges::min_element(tokens, is_before);

  std::ranges::sort(tokens, is_before);
  const double greatest = logit(tokens.front());
  if (std::isinf(greatest)) return tokens.front();
  std::vector<double> weights;
  for (const int64_t token : tokens)
    weights.push_back(std::exp((logit(token) - greatest) / sampling.temperature));
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  double nucleus = 0;
  size_t count = 0;
  while (count < weights.size() && nucleus < sampling.top_p * total) nucleus += weights[count++];

  double left = std::uniform_real_distribution<double>(0, nucleus)(random);
  for (size_t i = 0; i + 1 < count; ++i)
    if ((left -= weights[i]) < 0) return tokens[i];
  return tokens[count - 1];
}
