// Strided copies. strided_copy.h lists the methods.
#include "compiler/kernels/layout/strided_copy.h"

namespace scopevm::compiler::kernels {
namespace {

// Elements per work item if the copy is a single row.
constexpr int64_t kChunk = 4096;
// Columns of x per work item of a transposition, and the largest size of a tile.
constexpr int64_t kStrip = 16;

// Emits the square tiles of a transposition from x to y. x is contiguous along j, and y along i.
struct Tile {
  KernelBuilder& k;
  Buffer x, y;
  Term x_stride;  // in x, from one i to the next
  Term y_stride;  // in y, from one j to the next
  int64_t size;

  // Copies a whole tile.
  void whole(Term from, Term to) const {
    Terms rows;
    for (int64_t r = 0; r < size; ++r) rows.push_back(k.load(x, from + x_stride * r, size));
    rows = k.transpose(rows);
    for (int64_t r = 0; r < size; ++r) k.store(y, to + y_stride * r, rows[r]);
  }

  // Copies the first `is` by `js` elements of a tile.
  void part(Term from, Term to, Term is, Term js) const {
    if (!k.target().has_masks) {
      k.loop(k.index(0), js, 1, [&](Term j) {
        k.loop(k.index(0), is, 1, [&](Term i) {
          k.store(y, to + y_stride * j + i, k.load(x, from + x_stride * i + j));
        });
      });
      return;
    }
    auto lanes = [&](int64_t row, Term rows, Term lanes_of_row) {
      return k.mask(select(row < rows, lanes_of_row, k.index(0)), size);
    };
    Terms rows;
    for (int64_t r = 0; r < size; ++r)
      // The number of loads is fixed, so rows past the end are loaded with an empty mask.
      rows.push_back(k.load(x, from + x_stride * r, size, lanes(r, is, js)));
    rows = k.transpose(rows);
    for (int64_t r = 0; r < size; ++r) k.store(y, to + y_stride * r, rows[r], lanes(r, js, is));
  }
};

llvm::LogicalResult lower_tiles(mlir::Operation* op, LoweringContext& context, mlir::Value x,
                                mlir::Value result, StridedCopy copy, size_t along_x) {
  KernelBuilder k(context, op, "transpose");
  Buffer source = k.operand(x), destination = k.result(result);
  Axis i_axis = copy.axes.pop_back_val();
  Axis j_axis = copy.axes[along_x];
  copy.axes.erase(copy.axes.begin() + along_x);
  copy.axes.push_back({ceildiv(j_axis.size, kStrip), {kStrip, j_axis.strides[1] * kStrip}});
  Tile tile{k,
            source,
            destination,
            k.param(i_axis.strides[0]),
            k.param(j_axis.strides[1]),
            std::min(k.lanes(destination.dtype), kStrip)};
  Term is = k.param(i_axis.size), all_js = k.param(j_axis.size);
  k.for_items(copy.axes, {copy.x_start, 0}, [&](auto index, auto offsets) {
    Term js = min(all_js - index.back() * kStrip, k.index(kStrip));
    k.loop(k.index(0), js, tile.size, [&](Term j) {
      k.loop(k.index(0), is, tile.size, [&](Term i) {
        Term from = offsets[0] + i * tile.x_stride + j, to = offsets[1] + j * tile.y_stride + i;
        k.when((i + tile.size <= is) & (j + tile.size <= js), [&] { tile.whole(from, to); },
               [&] {
                 tile.part(from, to, min(is - i, k.index(tile.size)),
                           min(js - j, k.index(tile.size)));
               });
      });
    });
  });
  return k.launch(count_items(copy.axes),
                  grain_of_bytes(i_axis.size * kStrip * byte_size(dtype_of(x))));
}

llvm::LogicalResult lower_rows(mlir::Operation* op, LoweringContext& context, mlir::Value x,
                               mlir::Value result, StridedCopy copy) {
  KernelBuilder k(context, op, "copy");
  Buffer source = k.operand(x), destination = k.result(result);
  Axis row = copy.axes.empty() ? Axis{1, {1, 1}} : copy.axes.pop_back_val();
  DimExpr step = row.strides[0], item_size = row.size;
  // A single row is divided into chunks, so that several workers can copy it.
  bool in_chunks = copy.axes.empty();
  if (in_chunks) {
    copy.axes.push_back({ceildiv(row.size, kChunk), {step * kChunk, kChunk}});
    item_size = min(row.size, DimExpr(kChunk));
  }
  Term size = k.param(row.size);
  Term x_stride = step.is_constant(0) || step.is_constant(1) ? Term() : k.param(step);
  k.for_items(copy.axes, {copy.x_start, 0}, [&](auto index, auto offsets) {
    Term count = in_chunks ? min(size - index[0] * kChunk, k.index(kChunk)) : size;
    if (step.is_constant(1)) {
      k.copy(source, offsets[0], destination, offsets[1], count);
    } else if (step.is_constant(0)) {
      k.fill(destination, offsets[1], count, k.load(source, offsets[0]));
    } else {
      k.loop(k.index(0), count, 1, [&](Term i) {
        k.store(destination, offsets[1] + i, k.load(source, offsets[0] + i * x_stride));
      });
    }
  });
  return k.launch(count_items(copy.axes), grain_of_bytes(item_size * byte_size(dtype_of(x))));
}

}  // namespace

llvm::LogicalResult lower_strided_copy(mlir::Operation* op, LoweringContext& context, mlir::Value x,
                                       mlir::Value result, StridedCopy copy) {
  simplify(copy.axes);
  // Rows that are contiguous or constant in x are copied or filled as vectors. They need no tiles.
  bool stays_or_runs = !copy.axes.empty() && (copy.axes.back().strides[0].is_constant(0) ||
                                              copy.axes.back().strides[0].is_constant(1));
  for (size_t d = 0; d + 1 < copy.axes.size(); ++d)
    if (copy.axes[d].strides[0].is_constant(1) && !stays_or_runs)
      return lower_tiles(op, context, x, result, std::move(copy), d);
  return lower_rows(op, context, x, result, std::move(copy));
}

}  // namespace scopevm::compiler::kernels
