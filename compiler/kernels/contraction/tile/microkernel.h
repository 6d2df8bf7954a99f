// The micro-kernels: a tile of at most 12 rows and 32 columns, over a block of the depth.
//
// Layouts are the same for every target, so that packed constants serve all images of a module:
//   B panel       32 columns: b[k * 32 + j]
//   A rows        a[r * 1040 + k]: copied rows, for operands that arrive at run time
//   A interleaved a[k * 12 + r]: for operands packed at compile time
//   C tile        c[r * 32 + j]: scratch that an epilogue reads next
// An element is an f32, or a quad: four bytes that follow each other in the depth, in an i32. Then
// a step of the depth is four of it, and sums are i32.
#pragma once

#include "compiler/kernels/builder/kernel_module.h"

namespace scopevm::compiler::kernels {

constexpr int64_t kPanelColumns = 32;
constexpr int64_t kTileRows = 12;
// A depth block of a B panel is 128 KiB: it stays in L2 while the tiles of a row block pass over
// it.
constexpr int64_t kBlockDepth = 1024;
// Not a power of two, so that the rows of a tile fall into different sets of L1.
constexpr int64_t kRowStride = kBlockDepth + 16;
// Tiles of a row block: 240 rows of A are 1 MB, about an L2.
constexpr int64_t kBlockTiles = 20;

enum class RowFormat { kRows, kInterleaved };
enum class TileElement { kF32, kQuads };  // quads: u8 in A, i8 in B

// tile(a, a_at, b, b_at, c, c_at, depth, rows, accumulate): a private function of the module.
// c := [c +] a * b for `rows` in [1, 12] rows, 32 columns and `depth` >= 0 steps.
mlir::func::FuncOp tile_function(KernelModule& module, RowFormat format,
                                 TileElement element = TileElement::kF32);

}  // namespace scopevm::compiler::kernels
