// Runs the fuzz target on a fixed number of seeded mutations of the sample modules. Needs no
// fuzzing engine.
#include <gtest/gtest.h>

#include <random>

#include "tests/vm/format/fuzz_corpus.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace scopevm::format {
namespace {

TEST(FuzzSmoke, SurvivesSeededDamage) {
  constexpr int kRounds = 4000;
  std::vector<std::vector<uint8_t>> corpus = fuzz_corpus();
  std::mt19937 random(11);
  for (int round = 0; round < kRounds; ++round) {
    std::vector<uint8_t> input = corpus[random() % corpus.size()];
    for (int changes = static_cast<int>(random() % 4); changes > 0; --changes)
      input[random() % input.size()] = static_cast<uint8_t>(random());
    if (random() % 8 == 0) input.resize(random() % input.size());
    LLVMFuzzerTestOneInput(input.data(), input.size());
  }
}

}  // namespace
}  // namespace scopevm::format
