// Properties of the schedules of convolutions, for random problems.
#include "compiler/schedule/convolution.h"

#include <gtest/gtest.h>

#include <random>

#include "compiler/schedule/conv_cost.h"

namespace scopevm::compiler::schedule {
namespace {

class RandomProblems : public ::testing::Test {
 protected:
  int64_t pick(int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random_);
  }
  int64_t one_of(std::initializer_list<int64_t> values) {
    return values.begin()[pick(0, static_cast<int64_t>(values.size()) - 1)];
  }

  ConvAxis axis(int64_t taps) {
    ConvAxis axis{.taps = taps,
                  .window = taps,
                  .stride = pick(1, 2),
                  .dilation = pick(1, 2),
                  .pad = pick(0, taps / 2),
                  .pad_after = pick(0, taps / 2)};
    const int64_t size = pick((taps - 1) * axis.dilation + 1, 64);
    const int64_t out =
        (size + axis.pad + axis.pad_after - (taps - 1) * axis.dilation - 1) / axis.stride + 1;
    axis.size.typical = static_cast<double>(size);
    axis.out.typical = static_cast<double>(out);
    if (pick(0, 2) != 0) axis.size.known = size, axis.out.known = out;
    return axis;
  }

  ConvProblem problem() {
    ConvProblem problem{.channels = pick(1, 300), .out_channels = pick(1, 300)};
    problem.is_blocked = problem.channels > 4 || pick(0, 1) == 0;
    problem.is_computed = pick(0, 4) == 0;
    for (ConvAxis& a : problem.axes) a = axis(one_of({1, 1, 3, 5, 7}));
    if (pick(0, 4) == 0) {
      problem.groups = pick(2, 4);
      problem.channels = kChannelBlock * pick(1, 4);
      problem.out_channels = problem.groups * kChannelBlock * pick(1, 6);
      problem.is_blocked = true;
    }
    return problem;
  }

  std::mt19937 random_{41};
};

constexpr int kProblems = 3000;

TEST_F(RandomProblems, SchedulesDivideTheBlocksAndCoverTheDepth) {
  for (int i = 0; i < kProblems; ++i) {
    const ConvProblem p = problem();
    for (const Core& core : cores()) {
      const ConvSchedule schedule = choose_conv(p, core);
      EXPECT_EQ(schedule, choose_conv(p, core));
      const int64_t blocks = p.group_out_blocks();
      const BlockGroups groups = BlockGroups::of(blocks, schedule.form.group_blocks);
      EXPECT_EQ(groups.most, schedule.form.group_blocks) << schedule.text();
      if (!permits_unequal_groups(p, schedule.form.algorithm))
        EXPECT_TRUE(groups.are_equal()) << schedule.text();
      EXPECT_GE(schedule.depth_parts() * schedule.depth_planes, schedule.whole_planes());
      EXPECT_LT((schedule.depth_parts() - 1) * schedule.depth_planes,
                std::max<int64_t>(schedule.whole_planes(), 1));
      EXPECT_EQ(schedule.whole_planes() * schedule.pixel + schedule.rest >= p.channels, true);
      if (schedule.input == ConvInput::kInsidePads) EXPECT_TRUE(can_omit_padding(p));
      if (p.is_computed) EXPECT_EQ(schedule.input, ConvInput::kCopy);
    }
  }
}

// What tuning chooses is what the kernel does.
TEST_F(RandomProblems, EachFormHasItsSchedule) {
  for (int i = 0; i < kProblems; ++i) {
    const ConvProblem p = problem();
    for (const ConvForm& form : conv_forms(p, default_core(), /*permits_winograd=*/false)) {
      EXPECT_EQ(ConvForm::parse(form.text()), form);
      const ConvSchedule schedule = choose_conv(p, default_core(), form);
      if (form.group_blocks != 0) EXPECT_EQ(schedule.form, form);
    }
  }
}

TEST(ConvForms, OtherTextsAreNone) {
  for (const char* text : {"", "directly", "direct in groups of 6 blocks", "direct in groups of 1"})
    EXPECT_EQ(ConvForm::parse(text), std::nullopt) << text;
}

TEST(ConvTiles, SumsAndOperandsFitInRegisters) {
  for (const int bits : {128, 256, 512}) {
    const Target target{.vector_bits = bits};
    for (int64_t blocks = 1; blocks <= kMostGroupBlocks; ++blocks) {
      const ConvTile tile = conv_tile(target, blocks);
      const int64_t vectors = tile.blocks * kChannelBlock / target.lanes(4);
      EXPECT_LE(tile.pixels * vectors + std::min<int64_t>(vectors, 2) + 1,
                target.vector_registers());
      EXPECT_LE(tile.pixels, kMostTilePixels);
      EXPECT_EQ(blocks % tile.blocks, 0);
    }
  }
}

// A row of 14 pixels as one tile needs fewer loads per multiply-add than two tiles of 7 pixels.
TEST(ConvTiles, ARowOf14PixelsFillsATileOnIntel) {
  const Target intel{.name = "skylake-avx512"}, zen{.name = "znver5"};
  EXPECT_EQ(row_tile_pixels(intel, 2, 14), 14);
  EXPECT_EQ(row_tile_pixels(intel, 3, 14), conv_tile(intel, 3).pixels);
  EXPECT_EQ(row_tile_pixels(zen, 2, 14), conv_tile(zen, 2).pixels);
  EXPECT_EQ(row_tile_pixels(intel, 2, 13), conv_tile(intel, 2).pixels);
}

TEST(BlockGroups, CoverTheBlocksInOrder) {
  for (int64_t blocks = 1; blocks <= 40; ++blocks)
    for (int64_t most = 1; most <= kMostGroupBlocks; ++most) {
      const BlockGroups groups = BlockGroups::of(blocks, most);
      EXPECT_EQ(groups.are_equal(), blocks % groups.count == 0);
      EXPECT_LE(groups.most, most);
      int64_t first = 0;
      for (int64_t group = 0; group < groups.count; ++group) {
        EXPECT_EQ(groups.first_block(group), first);
        const int64_t end = first + groups.size(group);
        for (; first < end; ++first) EXPECT_EQ(groups.group_of(first), group);
      }
      EXPECT_EQ(first, blocks);
    }
}

// Parts of images are the same for all targets.
TEST(WinogradTiles, DivideTheUnit) {
  for (int64_t blocks = 1; blocks <= kMostGroupBlocks; ++blocks)
    for (const Core& core : cores())
      EXPECT_EQ(
          winograd_unit(blocks) % winograd_tile({.vector_bits = core.vector_bits}, blocks).pixels,
          0);
}

// One output block needs a load for each multiply-add, which two ports for both cannot hide.
TEST_F(RandomProblems, TwoFmaPortsHaveSeveralBlocksWhereThereAreSeveral) {
  const Core& core = core_of({.name = "skylake-avx512"});
  ASSERT_EQ(core.fma_ports, 2);
  for (int i = 0; i < kProblems; ++i) {
    const ConvProblem p = problem();
    const int64_t blocks = p.group_out_blocks();
    if (blocks == 1) continue;
    const BlockGroups groups = BlockGroups::of(blocks, choose_conv(p, core).form.group_blocks);
    const bool has_divisor = blocks % 2 == 0 || blocks % 3 == 0 || blocks % 5 == 0;
    if (has_divisor || permits_unequal_groups(p, ConvAlgorithm::kDirect))
      EXPECT_GE(groups.size(groups.count - 1), 2) << choose_conv(p, core).text();
  }
}

TEST(Cores, AreFoundByNameAndVectors) {
  EXPECT_EQ(core_of({.name = "znver4"}).fma_ports, 1);
  EXPECT_EQ(core_of({.name = "sapphirerapids"}).fma_ports, 2);
  EXPECT_EQ(core_of({.name = "haswell", .vector_bits = 256}).vector_bits, 256);
  EXPECT_EQ(core_of({.name = "x86-64", .vector_bits = 128}).vector_bits, 128);
}

// Layouts compare these times, so they must be positive and grow with the work.
TEST_F(RandomProblems, TimesArePositiveAndProportionalToTheWork) {
  for (int i = 0; i < kProblems; ++i) {
    const ConvProblem p = problem();
    if (p.groups != 1 && merged_groups(p) == 0) continue;
    for (const Core& core : cores()) {
      const LayoutTimes once = conv_times({.problem = p, .multiply_adds = 1e6}, core);
      const LayoutTimes twice = conv_times({.problem = p, .multiply_adds = 2e6}, core);
      EXPECT_GT(once.by_channel, 0);
      EXPECT_GT(once.blocked, 0);
      EXPECT_DOUBLE_EQ(twice.by_channel, 2 * once.by_channel);
      EXPECT_DOUBLE_EQ(twice.blocked, 2 * once.blocked);
    }
  }
}

}  // namespace
}  // namespace scopevm::compiler::schedule
