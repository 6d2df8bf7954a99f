// A convolution's weights that a request brings -> the layout of packed constants, by a kernel of
// its own: a work item is a tile of rows.
#include "compiler/kernels/contraction/launch.h"
#include "compiler/kernels/contraction/matmul/row_blocks.h"
#include "compiler/kernels/contraction/pack/pack_constants.h"

namespace scopevm::compiler::kernels {

using mlir::Value;

ValueId pack_rows(LoweringContext& context, ValueId w, int64_t groups, int64_t rows,
                  int64_t channels, int64_t kernel) {
  int64_t tiles = (rows + kTileRows - 1) / kTileRows, depth = kernel * channels;
  ValueId packed =
      context.intermediate("packed rows", DType::kF32, {groups, tiles, depth, kTileRows});
  mlir::OpBuilder builder(context.kernels().context());
  Emitter e(builder);
  Launch launch(context, builder);
  Launch::Buffer from = launch.operand(w, DType::kF32), to = launch.result(packed, DType::kF32);
  Launch::Param row_count = launch.param(rows), tile_count = launch.param(tiles);
  Launch::Param channel_count = launch.param(channels), kernel_size = launch.param(kernel);
  launch.begin_body();
  Value row_size = e.mul(launch[channel_count], launch[kernel_size]);
  e.loop(launch.begin(), launch.end(), 1, [&](Value item) {
    Value group = e.div(item, launch[tile_count]), tile = e.rem(item, launch[tile_count]);
    Value first = tile_start(e, tile, launch[row_count], launch[tile_count]);
    Value last = tile_start(e, e.add(tile, 1), launch[row_count], launch[tile_count]);
    Value tile_at = e.mul(e.mul(item, row_size), kTileRows);
    e.loop(first, last, 1, [&](Value row) {
      Value row_at = e.mul(e.add(e.mul(group, launch[row_count]), row), row_size);
      Value to_row = e.add(tile_at, e.sub(row, first));
      e.loop(e.index(0), launch[channel_count], 1, [&](Value c) {
        e.loop(e.index(0), launch[kernel_size], 1, [&](Value p) {
          Value k = e.add(e.mul(p, launch[channel_count]), c);
          Value x = e.load(launch[from], e.add(row_at, e.add(e.mul(c, launch[kernel_size]), p)));
          e.store(x, launch[to], e.add(to_row, e.mul(k, kTileRows)));
        });
      });
    });
  });
  constexpr int64_t kTaskElements = 1 << 16;
  launch.finish("pack_rows", groups * tiles,
                std::max<int64_t>(kTaskElements / std::max<int64_t>(depth * kTileRows, 1), 1));
  return packed;
}

}  // namespace scopevm::compiler::kernels
