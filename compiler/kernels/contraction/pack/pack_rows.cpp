// Packs the non-constant weights of a convolution, in a separate kernel, into the layout of packed
// constants. A work item is one tile of rows.
#include "compiler/kernels/builder/kernel_builder.h"
#include "compiler/kernels/contraction/pack/pack_constants.h"
#include "compiler/kernels/contraction/tile/row_blocks.h"

namespace scopevm::compiler::kernels {

ValueId pack_rows(LoweringContext& context, mlir::Operation* op, ValueId w, int64_t groups,
                  int64_t rows, int64_t channels, int64_t kernel) {
  int64_t tiles = (rows + kTileRows - 1) / kTileRows, depth = kernel * channels;
  ValueId packed =
      context.intermediate("packed rows", DType::kF32, {groups, tiles, depth, kTileRows});
  KernelBuilder k(context, op, "pack_rows");
  Buffer from = k.operand(w, DType::kF32, Elements::kNumbers);
  Buffer to = k.result(packed, DType::kF32, Elements::kNumbers);
  Term row_count = k.param(rows), tile_count = k.param(tiles);
  Term channel_count = k.param(channels), kernel_size = k.param(kernel);
  Term row_size = channel_count * kernel_size;
  k.loop(k.begin(), k.end(), 1, [&](Term item) {
    Term group = quotient(item, tile_count), tile = remainder(item, tile_count);
    // In a tile of fewer than 12 rows, the elements of the missing rows stay undefined. The
    // micro-kernel does not read them.
    Term first = tile_start(tile, row_count, tile_count);
    Term last = tile_start(tile + 1, row_count, tile_count);
    Term tile_at = item * row_size * kTileRows;
    k.loop(first, last, 1, [&](Term row) {
      Term row_at = (group * row_count + row) * row_size, to_row = tile_at + (row - first);
      k.loop(k.index(0), channel_count, 1, [&](Term c) {
        k.loop(k.index(0), kernel_size, 1, [&](Term p) {
          Term x = k.load(from, row_at + (c * kernel_size + p));
          k.store(to, to_row + (p * channel_count + c) * kTileRows, x);
        });
      });
    });
  });
  constexpr int64_t kTaskElements = 1 << 16;
  // A launch always succeeds.
  (void)k.launch(groups * tiles, grain_of(kTaskElements, depth * kTileRows));
  return packed;
}

}  // namespace scopevm::compiler::kernels
