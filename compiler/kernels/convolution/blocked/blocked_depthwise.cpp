// f32 convolutions of blocked images (sv.blocked_conv) with one group per channel. A work item is
// some rows of one channel block. It is computed in tiles of several rows and columns, whose sums
// stay in registers: each pixel of x is loaded once per tile.
//
// Rows of padding are skipped by branches. The columns of padding of the first and last tiles of a
// row are known at compile time if the width is. Otherwise these tiles use masked loads.
#include <array>

#include "compiler/graph/convolution/window.h"
#include "compiler/kernels/contraction/epilogue.h"
#include "compiler/kernels/contraction/pack/pack_constants.h"
#include "compiler/kernels/convolution/convolution.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace scopevm::compiler::kernels {
namespace {

using graph::kChannelBlock;
using graph::TensorType;

// A multiple of the rows of every tile.
constexpr int64_t kRowsPerItem = 12;
constexpr int64_t kTilesPerCheck = 1024;

class BlockedDepthwise {
 public:
  BlockedDepthwise(const FusedContraction& fused, LoweringContext& context)
      : fused_(fused),
        context_(context),
        op_(mlir::cast<graph::BlockedConvOp>(fused.contraction)),
        epilogue_(fused, fusion::output_axes(op_)),
        k_(context, op_, "blocked_depthwise"),
        lanes_(k_.lanes(DType::kF32)),
        type_(k_.vector(k_.builder().getF32Type(), lanes_)) {}

  llvm::LogicalResult lower() {
    const auto x = mlir::cast<TensorType>(op_.getX().getType());
    const auto w = mlir::cast<TensorType>(op_.getW().getType());
    const auto result = mlir::cast<TensorType>(op_.getResult().getType());
    for (size_t axis = 0; axis < 2; ++axis) {
      kernel_[axis] = *w.getDim(2 + axis).as_constant();
      stride_[axis] = op_.getStrides()[axis];
      pad_[axis] = op_.getPads()[axis];
      dilation_[axis] = op_.getDilations()[axis];
    }
    known_width_ = x.getDim(3).as_constant();
    known_out_width_ = result.getDim(3).as_constant();
    choose_tile(result.getDim(2).as_constant());
    x_ = k_.operand(fused_.outer(op_.getX()), Elements::kNumbers);
    w_ = k_.operand(packed_blocks(context_, op_, fused_.outer(op_.getW()), 1, 1), DType::kF32,
                    Elements::kNumbers);
    epilogue_.declare(k_);
    const DimExpr parts = ceildiv(result.getDim(2), kRowsPerItem);
    blocks_ = k_.param(x.getDim(1));
    parts_ = k_.param(parts);
    height_ = k_.param(x.getDim(2));
    width_ = k_.param(x.getDim(3));
    out_height_ = k_.param(result.getDim(2));
    out_width_ = k_.param(result.getDim(3));
    k_.loop(k_.begin(), k_.end(), 1, [&](Term item) { emit_item(item); });
    constexpr int64_t kTaskTaps = 1 << 18;
    const DimExpr taps =
        DimExpr(kRowsPerItem * kChannelBlock * kernel_[0] * kernel_[1]) * result.getDim(3);
    return k_.launch(x.getDim(0) * x.getDim(1) * parts, grain_of(kTaskTaps, taps));
  }

 private:
  // What is known about a column of x.
  enum class Column : uint8_t { kInside, kOutside, kUnknown };

  // The columns of x that a tile reads, and the columns of the result that it computes.
  struct Columns {
    llvm::SmallVector<Column, 0> inputs;
    int64_t known_count = 0;  // of the result
    Term count;               // of the result, if it is not known; else null
  };

  void choose_tile(std::optional<int64_t> height) {
    const bool is_wide = k_.target().vector_bits == 512;
    const int64_t most_columns = is_wide ? 7 : 4;
    tile_rows_ = is_wide ? 3 : 2;
    // 3 rows do not divide a height of 7.
    if (is_wide && height && *height % 4 != 1 && *height % 4 != 2 && *height < 8) tile_rows_ = 4;
    tile_columns_ = most_columns;
    if (known_out_width_ && *known_out_width_ > 0) {
      const int64_t tiles = (*known_out_width_ + most_columns - 1) / most_columns;
      tile_columns_ = (*known_out_width_ + tiles - 1) / tiles;
    }
  }

  int64_t reach(int axis, int64_t count) const {
    return (count - 1) * stride_[axis] + (kernel_[axis] - 1) * dilation_[axis] + 1;
  }

  void emit_item(Term item) {
    const Term plane = quotient(item, parts_);
    const Term first = remainder(item, parts_) * kRowsPerItem;
    const Term image = quotient(plane, blocks_), block = remainder(plane, blocks_);
    const Term end = min(out_height_, first + kRowsPerItem);
    epilogue_.enter(k_, {image, block});
    k_.loop(k_.index(0), k_.index(kChannelBlock), lanes_, [&](Term lane) {
      weights_.clear();
      for (int64_t tap = 0; tap < kernel_[0] * kernel_[1]; ++tap)
        weights_.push_back(k_.load(
            w_, block * (kernel_[0] * kernel_[1] * kChannelBlock) + tap * kChannelBlock + lane,
            lanes_));
      const Term x_at = plane * (height_ * width_ * kChannelBlock) + lane;
      k_.loop(first, end, tile_rows_, [&](Term y) { emit_row(x_at, lane, y); });
    });
  }

  // The tiles of rows [y, y + tile_rows_).
  void emit_row(Term x_at, Term lane, Term y) {
    const auto each = [&](Term begin, Term end, const Columns& columns) {
      k_.long_loop(begin, end, tile_columns_, kTilesPerCheck, {}, [&](Term x, auto) {
        emit_tile(x_at, lane, y, x, columns);
        return Terms{};
      });
    };
    if (known_width_ && known_out_width_) {
      // Runs of tiles whose columns are all inside of x share their code.
      const int64_t out = *known_out_width_;
      for (int64_t x = 0; x < out;) {
        const Columns columns = columns_at(x);
        int64_t end = x + tile_columns_;
        if (is_inside(columns))
          while (end < out && is_inside(columns_at(end))) end += tile_columns_;
        each(k_.index(x), k_.index(end), columns);
        x = end;
      }
      return;
    }
    const int64_t inputs = reach(1, tile_columns_);
    const Columns inside{.inputs = llvm::SmallVector<Column, 0>(inputs, Column::kInside),
                         .known_count = tile_columns_};
    k_.long_loop(k_.index(0), out_width_, tile_columns_, kTilesPerCheck, {}, [&](Term x, auto) {
      const Term start = x * stride_[1] - pad_[1];
      k_.when((0 <= start) & (start + inputs <= width_) & (x + tile_columns_ <= out_width_),
              [&] { emit_tile(x_at, lane, y, x, inside); },
              [&] {
                const Columns unknown{
                    .inputs = llvm::SmallVector<Column, 0>(inputs, Column::kUnknown),
                    .known_count = tile_columns_,
                    .count = out_width_ - x};
                emit_tile(x_at, lane, y, x, unknown);
              });
      return Terms{};
    });
  }

  Columns columns_at(int64_t x) const {
    Columns columns{.known_count = std::min(tile_columns_, *known_out_width_ - x)};
    for (int64_t i = 0; i < reach(1, tile_columns_); ++i) {
      const int64_t column = x * stride_[1] - pad_[1] + i;
      columns.inputs.push_back(column >= 0 && column < *known_width_ ? Column::kInside
                                                                     : Column::kOutside);
    }
    return columns;
  }
  bool is_inside(const Columns& columns) const {
    return columns.known_count == tile_columns_ &&
           llvm::all_of(columns.inputs, [](Column c) { return c == Column::kInside; });
  }

  void emit_tile(Term x_at, Term lane, Term y, Term x, const Columns& columns) {
    const Term top = y * stride_[0] - pad_[0], start = x * stride_[1] - pad_[1];
    Terms sums(tile_rows_ * columns.known_count, k_.zero(type_));
    for (int64_t i = 0; i < reach(0, tile_rows_); ++i)
      add_row(x_at, top + i, i, start, columns, sums);
    for (int64_t row = 0; row < tile_rows_; ++row)
      k_.when(y + row < out_height_, [&] {
        for (int64_t column = 0; column < columns.known_count; ++column) {
          const auto store = [&] {
            epilogue_.emit(k_, sums[row * columns.known_count + column],
                           (y + row) * out_width_ + x + column, lane, lanes_, {});
          };
          if (columns.count)
            k_.when(k_.index(column) < columns.count, store);
          else
            store();
        }
      });
  }

  // Adds the products with row `line` of x, the tile's input row `i`, to all sums that it is for.
  void add_row(Term x_at, Term line, int64_t i, Term start, const Columns& columns, Terms& sums) {
    llvm::SmallVector<int64_t> rows, taps;
    for (int64_t row = 0; row < tile_rows_; ++row) {
      const int64_t offset = i - row * stride_[0], tap = offset / dilation_[0];
      if (offset < 0 || offset % dilation_[0] != 0 || tap >= kernel_[0]) continue;
      rows.push_back(row);
      taps.push_back(tap);
    }
    if (rows.empty()) return;
    const auto used = [&] {
      Terms used;
      for (int64_t row : rows)
        for (int64_t column = 0; column < columns.known_count; ++column)
          used.push_back(sums[row * columns.known_count + column]);
      return used;
    };
    Terms before = used();
    const Terms after = k_.branch(
        (0 <= line) & (line < height_), llvm::SmallVector<mlir::Type>(before.size(), type_),
        [&] {
          Terms next = before;
          const Term from = x_at + (line * width_ + start) * kChannelBlock;
          for (size_t j = 0; j < columns.inputs.size(); ++j)
            add_pixel(from, start, static_cast<int64_t>(j), columns, taps, next);
          return next;
        },
        [&] { return before; });
    size_t next = 0;
    for (int64_t row : rows)
      for (int64_t column = 0; column < columns.known_count; ++column)
        sums[row * columns.known_count + column] = after[next++];
  }

  // Adds the products with input column `j` of a row. `sums` are [rows of the result that the row
  // is for][columns]; `taps` has the row of the kernel for each of these rows.
  void add_pixel(Term from, Term start, int64_t j, const Columns& columns,
                 llvm::ArrayRef<int64_t> taps, Terms& sums) {
    if (columns.inputs[j] == Column::kOutside) return;
    Term pixel;  // null: not loaded yet
    for (int64_t column = 0; column < columns.known_count; ++column) {
      const int64_t offset = j - column * stride_[1], tap = offset / dilation_[1];
      if (offset < 0 || offset % dilation_[1] != 0 || tap >= kernel_[1]) continue;
      if (!pixel) {
        Term mask;
        if (columns.inputs[j] == Column::kUnknown)
          mask = k_.splat((0 <= start + j) & (start + j < width_), lanes_);
        pixel = k_.load(x_, from + j * kChannelBlock, lanes_, mask);
      }
      for (size_t row = 0; row < taps.size(); ++row) {
        Term& sum = sums[row * columns.known_count + column];
        const Term weight = weights_[taps[row] * kernel_[1] + tap];
        sum = k_.target().vector_bits >= 256 ? k_.make<mlir::vector::FMAOp>(pixel, weight, sum)
                                             : pixel * weight + sum;
      }
    }
  }

  const FusedContraction& fused_;
  LoweringContext& context_;
  graph::BlockedConvOp op_;
  Epilogue epilogue_;
  KernelBuilder k_;
  int64_t lanes_;
  mlir::Type type_;  // vector type

  std::array<int64_t, 2> kernel_, stride_, pad_, dilation_;
  std::optional<int64_t> known_width_, known_out_width_;
  int64_t tile_rows_ = 1, tile_columns_ = 1;
  Buffer x_, w_;
  Terms weights_;  // of the current vector of channels
  Term blocks_, parts_, height_, width_, out_height_, out_width_;
};

}  // namespace

llvm::LogicalResult lower_blocked_depthwise(const FusedContraction& fused,
                                            LoweringContext& context) {
  return BlockedDepthwise(fused, context).lower();
}

}  // namespace scopevm::compiler::kernels
