// How matrix products C = A * B are computed, as values.
//
//   ContractionProblem   what is computed
//   ContractionSchedule  what the images of a module have in common, because they share packed
//                        constants, scratch memory and launches: row blocks, work items, packing
//   ContractionTile      what depends on the target of an image
//
// Columns are divided into panels, rows into tiles, and tiles into blocks. A work item multiplies
// some tiles of a block by some panels. The unit of the depth is a step: an f32, or a quad of four
// bytes.
#pragma once

#include <string>
#include <vector>

#include "compiler/dims/dim_expr.h"
#include "compiler/schedule/core.h"
#include "scopevm/dtype.h"

namespace scopevm::compiler::schedule {

// The columns of a panel, and the most rows of a tile.
inline constexpr int64_t kPanelColumns = 32, kTileRows = 12;
// Steps per depth block. A depth block of a B panel has 128 KiB and stays in L2 while the tiles of
// a row block use it.
inline constexpr int64_t kBlockDepth = 1024;
// Keys of attention that a row block is multiplied by at a time: their packed keys and values, of
// 64 channels, and the scores of 48 rows take 352 KiB and stay in L2.
inline constexpr int64_t kBlockKeys = 512;
// Steps of a row of A that are adjacent in packed rows: one cache line, and a multiple of the lanes
// of every target.
inline constexpr int64_t kChunk = 16;

enum class RowFormat { kRows, kInterleaved };
enum class TileElement {
  kF32,
  kQuads,  // u8 in A, i8 in B
  kF16,    // f32 in A; constants in B that f16 represents, or bf16
  kBF16,
};
// The element type of a step of B.
DType b_type(TileElement element);
// "", "_quads", "_f16" or "_bf16": a part of the keys of tiles.
std::string suffix_of(TileElement element);

enum class ContractionKind {
  kMatrices,     // rows of A are packed at run time
  kAttention,    // the scores of a block of rows stay in scratch memory, as A of a second product
  kConvolution,  // A has packed weights; B is the part of an image that the worker unfolds
};

struct ContractionProblem {
  ContractionKind kind = ContractionKind::kMatrices;
  TileElement element = TileElement::kF32;
  DimExpr rows, columns;
  DimExpr depth;           // steps; constant for convolutions
  DimExpr result_columns;  // attention: of the second product
  // B is one constant matrix that can be packed at compile time.
  bool is_packable = false;

  bool operator==(const ContractionProblem&) const = default;
};

// The numbers of rows that tiles can have: [least, most].
struct TileHeights {
  int64_t least = 1, most = kTileRows;

  bool operator==(const TileHeights&) const = default;
};

// The number of depth blocks, at least 1: depth 0 has one block without steps.
inline DimExpr depth_blocks(DimExpr depth) { return max(ceildiv(depth, kBlockDepth), 1); }

// The number of blocks of keys, at least 1.
inline DimExpr key_blocks(DimExpr keys) { return max(ceildiv(keys, kBlockKeys), 1); }

// The tiles of the rows, and the blocks of the tiles. Of T tiles, tile t has the rows
// [t * rows / T, (t + 1) * rows / T): their numbers of rows differ by at most one. A depth block of
// the packed rows of a block fits in a cache.
struct RowBlocks {
  DimExpr rows, tiles, tiles_per_block, blocks;

  // The maximum number of rows in a tile and in a block.
  DimExpr tile_rows() const { return min(rows, kTileRows); }
  DimExpr block_rows() const { return min(rows, tiles_per_block * DimExpr(kTileRows)); }
  // At most two numbers if `rows` is constant.
  TileHeights heights() const;
  bool operator==(const RowBlocks&) const = default;
};

struct ContractionSchedule {
  RowFormat format = RowFormat::kRows;
  TileElement element = TileElement::kF32;
  RowBlocks blocks;
  DimExpr parts = 1;       // of a block: work items with the same panels
  DimExpr tiles_per_part;  // at most
  int64_t panels = 1;      // at most, of a work item
  DimExpr depth_blocks = 1;
  DimExpr blocks_per_group = 1;   // attention: row blocks of a work item, at most
  DimExpr grain = 1;              // work items per task
  bool packs_b = false;           // at compile time; otherwise a worker packs or unfolds panels
  bool prefetches_b = false;      // during the products with a panel, the next one
  bool has_narrow_panel = false;  // the last panel can have few columns

  // The number of groups of row blocks.
  DimExpr groups() const { return ceildiv(blocks.blocks, blocks_per_group); }
  // "blocks of 11 tiles of 11 to 12 rows, packs b at compile time, prefetches b": stable.
  std::string text() const;
  bool operator==(const ContractionSchedule&) const = default;
};

ContractionSchedule choose_contraction(const ContractionProblem& problem, const Core& core);

// A part of a tile whose sums stay in registers.
struct ContractionTile {
  RowFormat format = RowFormat::kRows;
  TileElement element = TileElement::kF32;
  int64_t rows = 1;
  int64_t vectors = 2;  // of a row
  // Sets of sums, to which subsequent steps of the depth add: few sums wait for the latency.
  int64_t sets = 1;

  // "rows12", "interleaved3_4_sets", "interleaved12_half": equal for equal tiles.
  std::string text() const;
  bool operator==(const ContractionTile&) const = default;
};

// The vectors of a row of a tile, unless the panel has few columns.
inline constexpr int64_t kTileVectors = 2;

// The most rows of a tile, so that the sums and the operands of a step are in registers.
int64_t most_tile_rows(const Target& target, TileElement element);
// Whether panels of few columns have tiles of one vector. Narrower vectors divide a panel into
// several tiles in any case.
bool has_narrow_tiles(const Target& target);
ContractionTile contraction_tile(const Target& target, RowFormat format, TileElement element,
                                 int64_t rows, int64_t vectors = kTileVectors);
// The tiles that a module needs for a schedule; a tile can be listed several times.
std::vector<ContractionTile> contraction_tiles(const Target& target,
                                               const ContractionSchedule& schedule);

}  // namespace scopevm::compiler::schedule
