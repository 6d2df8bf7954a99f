// Properties of the schedules of contractions, for random problems.
#include "compiler/schedule/contraction.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace scopevm::compiler::schedule {
namespace {

constexpr TileElement kElements[] = {TileElement::kF32, TileElement::kQuads, TileElement::kF16,
                                     TileElement::kBF16};

std::vector<Target> targets() {
  return {{.vector_bits = 128},
          {.vector_bits = 256},
          {.vector_bits = 256, .has_byte_dot = true},
          {.vector_bits = 512},
          {.vector_bits = 512, .has_byte_dot = true}};
}

class RandomContractions : public ::testing::Test {
 protected:
  int64_t pick(int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random_);
  }

  ContractionProblem problem() {
    ContractionProblem problem{.kind = static_cast<ContractionKind>(pick(0, 2)),
                               .rows = pick(0, pick(0, 1) == 0 ? 60 : 3000),
                               .columns = pick(0, 2000),
                               .depth = pick(0, pick(0, 1) == 0 ? 300 : 9000),
                               .result_columns = pick(1, 100)};
    if (problem.kind == ContractionKind::kMatrices) {
      problem.element = kElements[pick(0, 1)];
      problem.is_packable = pick(0, 1) == 0;
    }
    return problem;
  }

  std::mt19937 random_{36};
};

constexpr int kContractions = 2000;

int64_t value(DimExpr dim) { return *dim.as_constant(); }

TEST_F(RandomContractions, BlocksAndItemsHaveAllTiles) {
  for (int i = 0; i < kContractions; ++i) {
    const ContractionProblem p = problem();
    for (const Core& core : cores()) {
      const ContractionSchedule schedule = choose_contraction(p, core);
      EXPECT_EQ(schedule, choose_contraction(p, core));
      const RowBlocks& blocks = schedule.blocks;
      const int64_t per_block = value(blocks.tiles_per_block);
      EXPECT_GE(value(blocks.blocks) * per_block, value(blocks.tiles)) << schedule.text();
      EXPECT_LT((value(blocks.blocks) - 1) * per_block, std::max<int64_t>(value(blocks.tiles), 1));
      if (p.kind == ContractionKind::kMatrices)
        EXPECT_GE(value(schedule.parts) * value(schedule.tiles_per_part), per_block);
      EXPECT_GE(value(schedule.depth_blocks) * kBlockDepth, value(p.depth));
      EXPECT_GE(schedule.panels, 1);
      EXPECT_LE(schedule.prefetches_b, schedule.packs_b);
      EXPECT_LE(schedule.packs_b, p.is_packable);
      EXPECT_GE(value(schedule.grain), 1);
    }
  }
}

// Images of all targets read the packed rows of these tiles.
TEST_F(RandomContractions, TilesHaveTheHeightsOfTheirRows) {
  for (int i = 0; i < kContractions; ++i) {
    const RowBlocks blocks = choose_contraction(problem(), default_core()).blocks;
    const int64_t rows = value(blocks.rows), tiles = value(blocks.tiles);
    const auto [least, most] = blocks.heights();
    std::set<int64_t> heights;
    for (int64_t t = 0; t < tiles; ++t) heights.insert((t + 1) * rows / tiles - t * rows / tiles);
    if (heights.empty()) continue;
    EXPECT_EQ(*heights.begin(), least) << rows;
    EXPECT_EQ(*heights.rbegin(), most) << rows;
    EXPECT_LE(most, kTileRows);
  }
}

TEST_F(RandomContractions, ThereIsATileForTheRowsOfEachHeight) {
  for (int i = 0; i < kContractions; ++i) {
    const ContractionSchedule schedule = choose_contraction(problem(), default_core());
    for (const Target& target : targets()) {
      const auto tiles = contraction_tiles(target, schedule);
      const int64_t most = most_tile_rows(target, schedule.element);
      const auto [least_height, most_height] = schedule.blocks.heights();
      for (int64_t height = least_height; height <= most_height; ++height)
        for (int64_t row = 0; row < height; row += most)
          EXPECT_EQ(
              std::ranges::count(tiles, contraction_tile(target, schedule.format, schedule.element,
                                                         std::min(most, height - row))) > 0,
              true)
              << schedule.text() << " on " << target.vector_bits;
    }
  }
}

TEST(ContractionTiles, SumsAndOperandsFitInRegisters) {
  std::set<std::string> keys;
  size_t count = 0;
  for (const Target& target : targets())
    for (const TileElement element : kElements)
      for (int64_t rows = 1; rows <= most_tile_rows(target, element); ++rows)
        for (const int64_t vectors : {int64_t{1}, kTileVectors}) {
          const auto tile = contraction_tile(target, RowFormat::kRows, element, rows, vectors);
          EXPECT_LE(tile.sets * rows * vectors + vectors + 1, target.vector_registers());
          // Keys of functions: those of one target differ.
          keys.insert(std::to_string(target.vector_bits) + std::to_string(target.has_byte_dot) +
                      tile.text());
          ++count;
        }
  EXPECT_EQ(keys.size(), count);
}

// Few sums wait for the latency of the multiply-adds.
TEST(ContractionTiles, TwoFmaPortsAreBusy) {
  const Core& core = core_of({.name = "skylake-avx512"});
  for (int64_t rows = 1; rows <= kTileRows; ++rows) {
    const auto tile = contraction_tile({}, RowFormat::kRows, TileElement::kF32, rows);
    EXPECT_GE(tile.sets * rows * tile.vectors, core.fma_latency * core.fma_ports) << rows;
  }
}

TEST(Contractions, UnknownRowsCanHaveAllHeights) {
  const ContractionSchedule schedule = choose_contraction(
      {.rows = DimExpr::symbol("n"), .columns = 64, .depth = 64}, default_core());
  EXPECT_EQ(schedule.blocks.heights(), TileHeights());
  EXPECT_EQ(schedule.blocks.tiles, ceildiv(DimExpr::symbol("n"), kTileRows));
}

// Narrow panels gain from tiles of their own, which take time to compile.
TEST(Contractions, OnlyConvolutionsWithNarrowPanelsHaveNarrowTiles) {
  ContractionProblem problem{
      .kind = ContractionKind::kConvolution, .rows = 64, .columns = 49, .depth = 576};
  EXPECT_TRUE(choose_contraction(problem, default_core()).has_narrow_panel);
  problem.columns = 64;
  EXPECT_FALSE(choose_contraction(problem, default_core()).has_narrow_panel);
  problem.columns = DimExpr::symbol("n");
  EXPECT_TRUE(choose_contraction(problem, default_core()).has_narrow_panel);
}

}  // namespace
}  // namespace scopevm::compiler::schedule
