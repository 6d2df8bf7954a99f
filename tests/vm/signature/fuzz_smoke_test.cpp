// Runs the fuzz target on a fixed number of seeded mutations of a signature and a public key. Needs
// no fuzzing engine.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "tests/vm/signature/minisign_files.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace scopevm::signature {
namespace {

TEST(FuzzSmoke, SurvivesSeededDamage) {
  constexpr int kRounds = 4000;
  std::mt19937 random(11);
  for (int round = 0; round < kRounds; ++round) {
    std::string text = random() % 2 == 0 ? kSignature : kPublicKey;
    for (int changes = static_cast<int>(random() % 4); changes > 0; --changes)
      text[random() % text.size()] = static_cast<char>(random());
    if (random() % 8 == 0) text.resize(random() % text.size());
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(text.data()), text.size());
  }
}

}  // namespace
}  // namespace scopevm::signature
