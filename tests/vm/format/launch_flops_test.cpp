// The section `flops`: lines are written and read, and damaged lines are omitted.
#include "vm/format/schema/launch_flops.h"

#include <gmock/gmock.h>

#include "vm/isa/encoder.h"

namespace scopevm::format {
namespace {

// One function with a launch at word 0, and the section with this text.
ModuleContents flops_module(const std::string& text) {
  ModuleContents module;
  isa::Encoder encoder;
  encoder.emit(isa::op::launch{.entry = {0}, .buffers = {}});
  encoder.emit(isa::op::ret{.values = {}});
  module.functions.emplace_back().code = *encoder.finish();
  module.sections.push_back({kFlopsSection, false, aligned_copy(text.data(), text.size())});
  return module;
}

std::vector<std::string> formulas_of(const std::string& text) {
  std::vector<std::string> formulas;
  for (const LaunchFlops& launch : read_flops(flops_module(text)))
    formulas.push_back(launch.formula);
  return formulas;
}

TEST(LaunchFlops, AreReadAsWritten) {
  const std::vector<LaunchFlops> written = {{0, 0, "2*m*n"}};
  const std::vector<LaunchFlops> read = read_flops(flops_module(flops_text(written)));
  ASSERT_EQ(read.size(), 1U);
  EXPECT_EQ(read[0].function, 0U);
  EXPECT_EQ(read[0].word, 0U);
  EXPECT_EQ(read[0].formula, "2*m*n");
}

TEST(LaunchFlops, DamagedLinesAreOmitted) {
  using ::testing::ElementsAre;
  using ::testing::IsEmpty;
  EXPECT_THAT(formulas_of("0 0 n\n1 0 n\n0 0 m\n"), ElementsAre("n", "m"));
  EXPECT_THAT(formulas_of("0 0 n"), ElementsAre("n"));
  for (const char* text :
       {"", "\n", "0", "0 ", "0 0", "0 0 ", "0 0 2*", "0 0 n\t", "0 0 (n", "x 0 n", "0 1 n",
        "0 2 n", "0 4294967295 n", "0 4294967296 n", "-1 0 n", " 0 0 n", "0  0 n", "0 0 n;\x1b[2J"})
    EXPECT_THAT(formulas_of(text), IsEmpty()) << text;
  EXPECT_THAT(formulas_of(std::string("0 0 n\0", 6)), IsEmpty());
}

TEST(LaunchFlops, ModuleWithoutSectionHasNone) { EXPECT_TRUE(read_flops({}).empty()); }

}  // namespace
}  // namespace scopevm::format
