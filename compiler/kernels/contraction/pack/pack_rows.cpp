// Packs the non-constant weights of a convolution, in a separate kernel, into the layout of packed
// constants.
#include "compiler/graph/convolution/window.h"
#include "compiler/kernels/builder/convert.h"
#include "compiler/kernels/builder/kernel_builder.h"
#include "compiler/kernels/contraction/pack/pack_constants.h"
#include "compiler/kernels/contraction/tile/row_blocks.h"

namespace scopevm::compiler::kernels {

using graph::kChannelBlock;

ValueId pack_rows(LoweringContext& context, mlir::Operation* op, ValueId w, int64_t groups,
                  int64_t rows, int64_t channels, int64_t kernel) {
  int64_t tiles = (rows + kTileRows - 1) / kTileRows, depth = kernel * channels;
  ValueId packed =
      context.intermediate("packed rows", DType::kF32, {groups, tiles, depth, kTileRows});
  // A work item is one tile of rows.
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

ValueId pack_blocks(LoweringContext& context, mlir::Operation* op, ValueId w, DType from_dtype,
                    llvm::ArrayRef<int64_t> dims, DType dtype, const BlockLayout& layout) {
  const schedule::BlockGroups& groups = layout.groups;
  const int64_t rows = dims[0], channels = dims[1], taps = dims[2] * dims[3], pixel = layout.pixel;
  const int64_t planes = layout.planes(channels), group_rows = groups.most * kChannelBlock;
  const std::vector<int64_t> packed_dims = layout.dims(dims);
  const ValueId packed = context.intermediate(
      "packed blocks", dtype, std::vector<DimExpr>(packed_dims.begin(), packed_dims.end()));
  KernelBuilder k(context, op, "pack_blocks");
  const Buffer from = k.operand(w, from_dtype, Elements::kNumbers);
  // Quads are stored byte by byte.
  const int64_t bytes = layout.element_channels;
  const Buffer to = k.result(packed, bytes > 1 ? from_dtype : dtype, Elements::kNumbers);
  const Term row_count = k.param(rows), channel_count = k.param(channels);
  // A work item is one step: the elements of all rows of a group for one element and tap.
  const Term sizes[] = {k.param(groups.count), k.param(planes), k.param(taps), k.param(pixel)};
  const Term most_rows = k.param(group_rows), tap_count = sizes[2], plane_elements = sizes[3];
  k.for_items(sizes, [&](Term item, llvm::ArrayRef<Term> index) {
    const Term element = index[1] * plane_elements + index[3];
    Term count = most_rows, first = index[0] * most_rows, to_first = item * most_rows;
    if (!groups.are_equal()) {
      // A later group has one block fewer, and so have those before it, but not the larger ones.
      const Term others = max(index[0] - groups.larger, 0);
      count = select(index[0] < groups.larger, most_rows, most_rows - kChannelBlock);
      first = first - others * kChannelBlock;
      const Term steps = sizes[1] * tap_count * plane_elements;
      to_first = first * steps + (item - index[0] * steps) * count;
    }
    k.loop(k.index(0), count * bytes, 1, [&](Term i) {
      const Term row = first + quotient(i, bytes), channel = element * bytes + remainder(i, bytes);
      const Term x = k.branch(
          (row < row_count) & (channel < channel_count), to.element(),
          [&] {
            const Term number =
                k.load(from, (row * channel_count + channel) * tap_count + index[2]);
            return Terms{from_dtype == to.dtype ? number : cast(number, from_dtype, to.dtype)};
          },
          [&] { return Terms{k.zero(to)}; })[0];
      k.store(to, to_first * bytes + i, x);
    });
  });
  constexpr int64_t kTaskElements = 1 << 16;
  // A launch always succeeds.
  (void)k.launch(groups.count * planes * taps * pixel, grain_of(kTaskElements, group_rows * bytes));
  return packed;
}

}  // namespace scopevm::compiler::kernels
