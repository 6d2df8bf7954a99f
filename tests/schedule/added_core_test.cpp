// The table of cores with the row of docs/adding-a-target.md.
#include <gtest/gtest.h>

#include "compiler/schedule/core.h"

namespace scopevm::compiler::schedule {
namespace {

TEST(AddedCore, IsThatOfItsCpus) {
  EXPECT_EQ(core_of({.name = "znver5"}).name, "Zen 5");
  EXPECT_DOUBLE_EQ(core_of({.name = "znver5"}).multiply_adds(), 131.2e9);
  EXPECT_NE(core_of({.name = "znver4"}).name, "Zen 5");
  EXPECT_NE(core_of({.name = "znver5", .vector_bits = 256}).name, "Zen 5");
}

}  // namespace
}  // namespace scopevm::compiler::schedule
