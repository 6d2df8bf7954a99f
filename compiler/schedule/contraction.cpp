// Chooses the schedules of contractions; see contraction.h.
#include "compiler/schedule/contraction.h"

#include <algorithm>

#include "compiler/schedule/grain.h"

namespace scopevm::compiler::schedule {
namespace {

// A depth block of 240 packed rows takes 1 MB, about the size of an L2 cache.
constexpr int64_t kBlockTiles = 20;
// The most tiles of a row block of attention; see kBlockKeys.
constexpr int64_t kAttentionTiles = 4;
// The channels of the queries and results of the row blocks that a worker multiplies by a packed
// block of keys: 192 KiB with 48 rows. With more, fewer work items would be left.
constexpr int64_t kGroupChannels = 1024;
// Multiply-adds per task of the thread pool.
constexpr int64_t kTaskSteps = 1 << 20;

// Tiles are distributed evenly over the smallest possible number of blocks. A small last block
// would unbalance the workers.
RowBlocks row_blocks(DimExpr rows, DimExpr most_tiles) {
  const DimExpr tiles = ceildiv(rows, kTileRows);
  const DimExpr at_least = max(ceildiv(tiles, most_tiles), 1);
  const DimExpr per_block = max(ceildiv(tiles, at_least), 1);
  return {rows, tiles, per_block, ceildiv(tiles, per_block)};
}

// The maximum number of tiles that a work item multiplies by `panels` panels: about 8 million
// multiply-adds, or one tile. Interrupts are checked between items, so an item must take less than
// a millisecond.
DimExpr tiles_per_item(DimExpr depth, int64_t panels) {
  constexpr int64_t kItemSteps = 1 << 23;
  return grain_of(kItemSteps, DimExpr(panels * kPanelColumns * kTileRows) * depth);
}

// The grain of items that multiply `rows` rows by `panels` panels: about a million multiply-adds
// per task. Reading a panel is counted as 8 more rows.
DimExpr item_grain(DimExpr rows, DimExpr depth, int64_t panels) {
  constexpr int64_t kPanelCostInRows = 8;
  return grain_of(kTaskSteps,
                  DimExpr(panels * kPanelColumns) * (rows + kPanelCostInRows) * max(depth, 1));
}

// The panels of an item fit in L2 with the tiles that they are multiplied with.
int64_t panels_per_item(int64_t depth) {
  constexpr int64_t kMostPanels = 4, kMostElements = 1 << 16;
  const int64_t elements = std::clamp<int64_t>(depth, 1, kBlockDepth) * kPanelColumns;
  return std::clamp<int64_t>(kMostElements / elements, 1, kMostPanels);
}

// The prefetcher of the CPU reads larger panels early enough. Products with panels that fit in L1
// take 3 to 10 % less time if a panel is prefetched during the products with the one before it.
bool prefetches_panels(DimExpr depth, TileElement element, const Core& core) {
  return *depth.as_constant() * kPanelColumns * byte_size(b_type(element)) <= core.l1_bytes;
}

bool is_narrow(TileElement element) {
  return element == TileElement::kF16 || element == TileElement::kBF16;
}

// The registers for sums. The others have a row of B and an element of A.
int64_t most_sums(const Target& target) { return target.vector_registers() * 3 / 4; }

}  // namespace

DType b_type(TileElement element) {
  switch (element) {
    case TileElement::kQuads:
      return DType::kI32;
    case TileElement::kF16:
      return DType::kF16;
    case TileElement::kBF16:
      return DType::kBF16;
    case TileElement::kF32:
      break;
  }
  return DType::kF32;
}

std::string suffix_of(TileElement element) {
  if (element == TileElement::kF32) return "";
  return element == TileElement::kQuads ? "_quads" : "_" + std::string(name(b_type(element)));
}

TileHeights RowBlocks::heights() const {
  const std::optional<int64_t> known = rows.as_constant();
  if (!known) return {};
  const int64_t row_count = std::max<int64_t>(*known, 1);
  const int64_t tile_count = std::max<int64_t>(*tiles.as_constant(), 1);
  return {row_count / tile_count, (row_count + tile_count - 1) / tile_count};
}

std::string ContractionSchedule::text() const {
  const auto [least, most] = blocks.heights();
  std::string text = "blocks of " + blocks.tiles_per_block.str() + " tiles of ";
  if (least != most) text += std::to_string(least) + " to ";
  text += std::to_string(most) + " rows";
  if (element == TileElement::kQuads) text += " of quads";
  if (is_narrow(element)) text += " by " + std::string(name(b_type(element)));
  if (format == RowFormat::kInterleaved) text += ", interleaved";
  if (!parts.is_constant(1)) text += ", items of " + tiles_per_part.str() + " tiles";
  if (panels > 1) text += ", " + std::to_string(panels) + " panels per item";
  if (!depth_blocks.is_constant(1)) text += ", depth in " + depth_blocks.str() + " blocks";
  if (packs_b) text += ", packs b at compile time";
  if (prefetches_b) text += ", prefetches b";
  if (has_narrow_panel) text += ", narrow last panel";
  return text + ", " + grain.str() + " items per task";
}

ContractionSchedule choose_contraction(const ContractionProblem& problem, const Core& core) {
  const DimExpr rows = problem.rows, depth = problem.depth;
  ContractionSchedule schedule{.element = problem.element,
                               .depth_blocks = schedule::depth_blocks(depth)};
  RowBlocks& blocks = schedule.blocks;
  switch (problem.kind) {
    case ContractionKind::kMatrices:
      blocks = row_blocks(rows, kBlockTiles);
      schedule.parts = ceildiv(blocks.tiles_per_block, tiles_per_item(depth, 1));
      schedule.tiles_per_part = ceildiv(blocks.tiles_per_block, schedule.parts);
      schedule.packs_b = problem.is_packable;
      schedule.prefetches_b =
          problem.is_packable && prefetches_panels(depth, problem.element, core);
      schedule.grain =
          item_grain(min(rows, schedule.tiles_per_part * DimExpr(kTileRows)), depth, 1);
      break;
    case ContractionKind::kAttention: {
      blocks = row_blocks(rows, kAttentionTiles);
      // With one block of keys, all row blocks of a worker use its packed panels. Otherwise, the
      // row blocks are distributed evenly over the smallest possible number of groups.
      const DimExpr most = max(min(key_blocks(problem.columns) - DimExpr(1), 1) *
                                   floordiv(kGroupChannels, max(depth + problem.result_columns, 1)),
                               1);
      schedule.blocks_per_group =
          max(ceildiv(blocks.blocks, max(ceildiv(blocks.blocks, most), 1)), 1);
      // The multiply-adds of a score: a dot product over the depth, and an update per column of the
      // second product.
      schedule.grain = grain_of(kTaskSteps, schedule.blocks_per_group * blocks.block_rows() *
                                                max(problem.columns, 1) *
                                                max(depth + problem.result_columns, 1));
      break;
    }
    case ContractionKind::kConvolution:
      schedule.format = RowFormat::kInterleaved;
      schedule.panels = panels_per_item(*depth.as_constant());
      blocks = row_blocks(rows, min(kBlockTiles, tiles_per_item(depth, schedule.panels)));
      schedule.has_narrow_panel = !mod(problem.columns, kPanelColumns).is_constant(0);
      schedule.grain = item_grain(blocks.block_rows(), depth, schedule.panels);
      break;
  }
  return schedule;
}

std::string ContractionTile::text() const {
  std::string text = format == RowFormat::kRows ? "rows" : "interleaved";
  text += suffix_of(element) + (is_narrow(element) ? "_" : "") + std::to_string(rows);
  if (vectors != kTileVectors) text += "_half";
  if (sets > 1) text += "_" + std::to_string(sets) + "_sets";
  return text;
}

int64_t most_tile_rows(const Target& target, TileElement element) {
  // Without an instruction for a multiply-add, products take registers, too.
  const bool has_multiply_add =
      element == TileElement::kQuads ? target.has_byte_dot : target.has_fma();
  if (has_multiply_add) return most_sums(target) / kTileVectors;
  return target.vector_registers() == 32 ? 6 : 4;
}

bool has_narrow_tiles(const Target& target) { return target.vector_registers() == 32; }

ContractionTile contraction_tile(const Target& target, RowFormat format, TileElement element,
                                 int64_t rows, int64_t vectors) {
  constexpr int64_t kFewRows = 4, kMostSets = 4;
  ContractionTile tile{format, element, rows, vectors};
  while (rows < kFewRows && tile.sets < kMostSets &&
         2 * tile.sets * rows * vectors <= most_sums(target))
    tile.sets *= 2;
  return tile;
}

std::vector<ContractionTile> contraction_tiles(const Target& target,
                                               const ContractionSchedule& schedule) {
  std::vector<ContractionTile> tiles;
  const bool has_halves = schedule.has_narrow_panel && has_narrow_tiles(target);
  const int64_t most = most_tile_rows(target, schedule.element);
  const auto [least_height, most_height] = schedule.blocks.heights();
  for (int64_t height = least_height; height <= most_height; ++height)
    for (int64_t row = 0; row < height; row += most)
      for (int64_t vectors = kTileVectors; vectors >= (has_halves ? 1 : kTileVectors); --vectors)
        tiles.push_back(contraction_tile(target, schedule.format, schedule.element,
                                         std::min(height - row, most), vectors));
  return tiles;
}

}  // namespace scopevm::compiler::schedule
