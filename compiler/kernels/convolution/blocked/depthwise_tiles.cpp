// Emits tiles of convolutions with narrow groups; see depthwise_tiles.h.
#include "compiler/kernels/convolution/blocked/depthwise_tiles.h"

#include "compiler/kernels/builder/convert.h"
#include "compiler/kernels/contraction/pack/pack_constants.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace scopevm::compiler::kernels {

using graph::kChannelBlock;
using graph::TensorType;

DepthwiseTiles::DepthwiseTiles(KernelBuilder& k, const fusion::FusedContraction& fused,
                               bool x_is_operand)
    : k_(k),
      lanes_(k.lanes(DType::kF32)),
      type_(k.vector(k.builder().getF32Type(), lanes_)),
      integers_(k.vector(k.builder().getI32Type(), lanes_)) {
  auto op = mlir::cast<graph::BlockedConvOp>(fused.contraction);
  const auto x = mlir::cast<TensorType>(op.getX().getType());
  const auto w = mlir::cast<TensorType>(op.getW().getType());
  const auto result = mlir::cast<TensorType>(op.getResult().getType());
  for (size_t axis = 0; axis < 2; ++axis) {
    kernel_[axis] = *w.getDim(2 + axis).as_constant();
    stride_[axis] = op.getStrides()[axis];
    pad_[axis] = op.getPads()[axis];
    dilation_[axis] = op.getDilations()[axis];
  }
  group_ = *w.getDim(1).as_constant();
  has_bytes_ = x.getDtype() == DType::kU8;
  known_width_ = x.getDim(3).as_constant();
  known_out_width_ = result.getDim(3).as_constant();
  tile_ =
      schedule::depthwise_tile(k.target(), {result.getDim(2).as_constant()}, {known_out_width_});
  if (x_is_operand) x_ = k_.operand(fused.outer(op.getX()), Elements::kNumbers);
  w_ = k_.operand(packed_blocks(k_.context(), op, fused.outer(op.getW()), DType::kF32,
                                {1, schedule::BlockGroups::of(*x.getDim(1).as_constant(), 1)}),
                  DType::kF32, Elements::kNumbers);
  blocks_ = k_.param(x.getDim(1));
  height_ = k_.param(x.getDim(2));
  width_ = k_.param(x.getDim(3));
  out_width_ = k_.param(result.getDim(3));
}

int64_t DepthwiseTiles::reach(int axis, int64_t count) const {
  return (count - 1) * stride_[axis] + (kernel_[axis] - 1) * dilation_[axis] + 1;
}

DepthwiseTiles::Columns DepthwiseTiles::columns_at(int64_t x) const {
  Columns columns{.known_count = std::min(tile_.columns, *known_out_width_ - x)};
  for (int64_t i = 0; i < reach(1, tile_.columns); ++i) {
    const int64_t column = x * stride_[1] - pad_[1] + i;
    columns.inputs.push_back(column >= 0 && column < *known_width_ ? Column::kInside
                                                                   : Column::kOutside);
  }
  return columns;
}

bool DepthwiseTiles::is_inside(const Columns& columns) const {
  return columns.known_count == tile_.columns &&
         llvm::all_of(columns.inputs, [](Column c) { return c == Column::kInside; });
}

std::pair<Term, Term> DepthwiseTiles::input_rows(Term first, Term end) const {
  const Term begin = clamp(first * stride_[0] - pad_[0], k_.index(0), height_);
  const Term last = (end - 1) * stride_[0] - pad_[0] + (kernel_[0] - 1) * dilation_[0];
  return {begin, clamp(last + 1, begin, height_)};
}

void DepthwiseTiles::emit(Term image, Term block, Term first, Term end, Store store) {
  const Term plane = image * blocks_ + block;
  emit_block(plane * (height_ * width_ * kChannelBlock), height_, block, first, end, store);
}

void DepthwiseTiles::emit_from(Term x_at, Term block, Term first, Term end, Store store) {
  emit_block(x_at, input_rows(first, end).second, block, first, end, store);
}

void DepthwiseTiles::emit_block(Term x_at, Term x_end, Term block, Term first, Term end,
                                Store store) {
  const int64_t weights = group_ * kernel_[0] * kernel_[1] * kChannelBlock;
  k_.loop(k_.index(0), k_.index(kChannelBlock), lanes_, [&](Term lane) {
    const Part part{x_at + lane, x_end, block * weights + lane, lane, end, store};
    if (group_ == 1) load_weights(part.w_at);
    k_.loop(first, end, tile_.rows, [&](Term y) { emit_row(part, y); });
  });
}

// The tiles of rows [y, y + tile_.rows).
void DepthwiseTiles::emit_row(const Part& part, Term y) {
  if (known_width_ && known_out_width_) return emit_known_row(part, y);
  const int64_t inputs = reach(1, tile_.columns);
  const Columns inside{.inputs = llvm::SmallVector<Column, 0>(inputs, Column::kInside),
                       .known_count = tile_.columns};
  k_.loop(k_.index(0), out_width_, tile_.columns, [&](Term x) {
    const Term start = x * stride_[1] - pad_[1];
    k_.when((0 <= start) & (start + inputs <= width_) & (x + tile_.columns <= out_width_),
            [&] { emit_tile(part, y, x, inside); },
            [&] {
              const Columns unknown{
                  .inputs = llvm::SmallVector<Column, 0>(inputs, Column::kUnknown),
                  .known_count = tile_.columns,
                  .count = out_width_ - x};
              emit_tile(part, y, x, unknown);
            });
  });
}

// Runs of tiles whose columns are all inside of x share their code.
void DepthwiseTiles::emit_known_row(const Part& part, Term y) {
  const int64_t out = *known_out_width_;
  for (int64_t x = 0; x < out;) {
    const Columns columns = columns_at(x);
    int64_t end = x + tile_.columns;
    if (is_inside(columns))
      while (end < out && is_inside(columns_at(end))) end += tile_.columns;
    k_.loop(k_.index(x), k_.index(end), tile_.columns,
            [&](Term x) { emit_tile(part, y, x, columns); });
    x = end;
  }
}

void DepthwiseTiles::emit_tile(const Part& part, Term y, Term x, const Columns& columns) {
  Terms sums(tile_.rows * columns.known_count, k_.zero(type_));
  if (group_ == 1) {
    add_rows(part, y, x, columns, sums);
  } else {
    const int64_t weights = kernel_[0] * kernel_[1] * kChannelBlock;
    sums = k_.loop(
        k_.index(0), k_.index(group_), 1, sums, [&](Term channel, llvm::ArrayRef<Term> carried) {
          channel_ = channel;
          load_weights(part.w_at + channel * weights);
          Part of_channel = part;
          // A group can have several vectors.
          if (lanes_ < group_)
            of_channel.x_at =
                part.x_at - remainder(part.lane, group_) + quotient(channel, lanes_) * lanes_;
          Terms next(carried);
          add_rows(of_channel, y, x, columns, next);
          return next;
        });
  }
  for (int64_t row = 0; row < tile_.rows; ++row)
    k_.when(y + row < part.end, [&] {
      for (int64_t column = 0; column < columns.known_count; ++column) {
        const auto store = [&] {
          Term sum = sums[row * columns.known_count + column];
          if (has_bytes_) sum = k_.make<mlir::arith::FPToSIOp>(integers_, sum);
          part.store(sum, y + row, x + column, part.lane);
        };
        if (columns.count)
          k_.when(k_.index(column) < columns.count, store);
        else
          store();
      }
    });
}

// Loads a weight of each lane for each element of the window.
void DepthwiseTiles::load_weights(Term from) {
  weights_.clear();
  for (int64_t tap = 0; tap < kernel_[0] * kernel_[1]; ++tap)
    weights_.push_back(k_.load(w_, from + tap * kChannelBlock, lanes_));
}

// Each lane of the result is the lane of `pixel` that has the current channel of its group.
Term DepthwiseTiles::channel_of_groups(Term pixel) const {
  const int64_t group = std::min(group_, lanes_);
  const Term channel = remainder(channel_, group);
  if (k_.target().vector_bits == 128) {
    Term result;
    for (int64_t i = 0; i < group; ++i) {
      llvm::SmallVector<int64_t> lanes;
      for (int64_t lane = 0; lane < lanes_; ++lane) lanes.push_back(lane / group * group + i);
      const Term shuffled = k_.shuffle(pixel, pixel, lanes);
      result = result ? select(channel == i, shuffled, result) : shuffled;
    }
    return result;
  }
  // LLVM has no other operation with lanes that are not constant.
  const char* permute =
      k_.target().vector_bits == 512 ? "llvm.x86.avx512.permvar.sf.512" : "llvm.x86.avx2.permps";
  const Term numbers = k_.iota(k_.builder().getI32Type(), lanes_);
  const Term lanes = (numbers & numbers.integer(-group)) +
                     k_.splat(convert(channel, k_.builder().getI32Type()), lanes_);
  auto call = k_.builder().create<mlir::LLVM::CallIntrinsicOp>(
      pixel.type(), k_.builder().getStringAttr(permute), mlir::ValueRange{pixel, lanes});
  return k_.term(call.getResult(0));
}

// Adds the products with one channel of each group of x to the sums of a tile.
void DepthwiseTiles::add_rows(const Part& part, Term y, Term x, const Columns& columns,
                              Terms& sums) {
  const Term top = y * stride_[0] - pad_[0], start = x * stride_[1] - pad_[1];
  for (int64_t i = 0; i < reach(0, tile_.rows); ++i)
    add_row(part, top + i, i, start, columns, sums);
}

// Adds the products with row `line` of x, the tile's input row `i`, to all sums that it is for.
void DepthwiseTiles::add_row(const Part& part, Term line, int64_t i, Term start,
                             const Columns& columns, Terms& sums) {
  llvm::SmallVector<int64_t> rows, taps;
  for (int64_t row = 0; row < tile_.rows; ++row) {
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
      (0 <= line) & (line < part.x_end), llvm::SmallVector<mlir::Type>(before.size(), type_),
      [&] {
        Terms next = before;
        const Term from = part.x_at + (line * width_ + start) * kChannelBlock;
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
void DepthwiseTiles::add_pixel(Term from, Term start, int64_t j, const Columns& columns,
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
      if (x_.dtype != DType::kF32) pixel = cast(pixel, x_.dtype, DType::kF32);
      if (group_ != 1) pixel = channel_of_groups(pixel);
    }
    for (size_t row = 0; row < taps.size(); ++row) {
      Term& sum = sums[row * columns.known_count + column];
      const Term weight = weights_[taps[row] * kernel_[1] + tap];
      sum = k_.target().has_fma() ? k_.make<mlir::vector::FMAOp>(pixel, weight, sum)
                                  : pixel * weight + sum;
    }
  }
}

}  // namespace scopevm::compiler::kernels
