// Draws the next token of a sequence.
#pragma once

#include <cstdint>
#include <random>
#include <span>

struct Sampling {
  float temperature = 0;  // 0: the token with the greatest logit, the first one of several
  float top_p = 1;        // in (0, 1]
};

// A token of softmax(logits / temperature), among the most probable ones whose probabilities sum to
// at least top_p (nucleus sampling; Holtzman et al., "The Curious Case of Neural Text
// Degeneration", 2020). A logit that is NaN counts as minus infinity. There is at least one logit.
int64_t sample(std::span<const float> logits, const Sampling& sampling, std::mt19937_64& random);
