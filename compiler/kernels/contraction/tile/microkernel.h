// The micro-kernels of matrix products: a tile of at most 12 rows and 32 columns, over a block of
// the depth. microkernel.cpp and row_blocks.cpp name the sources of the method.
//
// Layouts are the same for every target, so that packed constants serve all images of a module:
//   B panel       32 columns: b[k * 32 + j]
//   A rows        a[r * 1040 + k]: copied rows, for operands that are known only at run time
//   A interleaved a[k * 12 + r]: for operands packed at compile time
//   C tile        c[r * 32 + j]: scratch memory that the epilogue reads
// An element is an f32 or a quad. A quad is four bytes, adjacent along the depth, in an i32: one
// step covers four elements of the depth, and sums are i32.
#pragma once

#include "compiler/kernels/builder/kernel_module.h"

namespace scopevm::compiler::kernels {

constexpr int64_t kPanelColumns = 32;
constexpr int64_t kTileRows = 12;
// A depth block of a B panel is 128 KiB, which stays in L2 while the tiles of a row block use it.
constexpr int64_t kBlockDepth = 1024;
// Not a power of two, so that the rows of a tile map to different sets of L1.
constexpr int64_t kRowStride = kBlockDepth + 16;
// The number of tiles in a row block: 240 rows of A take 1 MB, about the size of an L2 cache.
constexpr int64_t kBlockTiles = 20;

enum class RowFormat { kRows, kInterleaved };
enum class TileElement { kF32, kQuads };  // quads: u8 in A, i8 in B

// tile(a, a_at, b, b_at, c, c_at, depth, rows, accumulate): a private function of the module.
// c := [c +] a * b for `rows` in [1, 12] rows, 32 columns and `depth` >= 0 steps.
mlir::func::FuncOp tile_function(KernelModule& module, RowFormat format,
                                 TileElement element = TileElement::kF32);

}  // namespace scopevm::compiler::kernels
