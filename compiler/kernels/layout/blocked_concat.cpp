// blocked_concat: a work item copies one row of one block of an operand. Its channels go to one or
// two blocks of the result, because the channels before them need not fill whole blocks.
#include "compiler/graph/convolution/window.h"
#include "compiler/kernels/builder/kernel_builder.h"
#include "compiler/kernels/op_lowerings.h"

namespace scopevm::compiler::kernels {
namespace {

using graph::kChannelBlock;

// A range of channels of an operand, and its place in the result.
struct Range {
  Buffer x;
  Term blocks;       // of an image of x
  Term first_item;   // the number of blocks of the operands before it
  Term begin, end;   // channels of x
  Term destination;  // the channel of the result for `begin`
};

// Adjacent channels of one block.
struct Channels {
  Term from, to;  // the first channel in the operand and in the result
  Term count;
};

class BlockedConcat {
 public:
  BlockedConcat(graph::BlockedConcatOp op, LoweringContext& context)
      : k_(context, op, "blocked_concat") {
    int64_t destination = 0;
    for (auto [input, start, count] : llvm::zip(op.getInputs(), op.getStarts(), op.getCounts())) {
      const int64_t blocks = (start + count - 1) / kChannelBlock - start / kChannelBlock + 1;
      ranges_.push_back({.x = k_.operand(input),
                         .blocks = k_.param(shape_of(input)[1]),
                         .first_item = k_.param(items_),
                         .begin = k_.param(start),
                         .end = k_.param(start + count),
                         .destination = k_.param(destination)});
      items_ += blocks;
      destination += count;
    }
    result_ = k_.result(op.getResult());
    const llvm::ArrayRef<DimExpr> shape = shape_of(op.getResult());
    images_ = shape[0];
    height_ = shape[2];
    width_ = shape[3];
    result_blocks_ = k_.param(shape[1]);
    rows_ = k_.param(height_);
    columns_ = k_.param(width_);
  }

  llvm::LogicalResult lower() {
    const llvm::SmallVector<Axis> axes = {{images_, {0}}, {DimExpr(items_), {0}}, {height_, {0}}};
    k_.for_items(axes, {0}, [&](auto index, auto) {
      Term number = k_.index(0);
      for (size_t i = 1; i < ranges_.size(); ++i)
        number =
            select(ranges_[i].first_item <= index[1], k_.index(static_cast<int64_t>(i)), number);
      k_.switch_index(number, static_cast<int64_t>(ranges_.size()), [&](int64_t i) {
        emit_block(ranges_[i], index[0], index[1] - ranges_[i].first_item, index[2]);
      });
    });
    constexpr int64_t kBytes = 2 * kChannelBlock * sizeof(float);
    return k_.launch(count_items(axes), grain_of_bytes(width_ * DimExpr(kBytes)));
  }

 private:
  // Copies the channels of a range that are in its block number `number`.
  void emit_block(const Range& range, Term image, Term number, Term row) {
    const Term block = quotient(range.begin, kChannelBlock) + number;
    const Term from = max(block * kChannelBlock, range.begin);
    const Term end = min((block + 1) * kChannelBlock, range.end);
    const Term to = range.destination + (from - range.begin);
    const Term left = kChannelBlock - remainder(to, kChannelBlock);
    const Term first = min(end - from, left);
    const auto copy = [&](const Channels& channels) {
      copy_row(range.x, position(range.blocks, image, channels.from, row),
               position(result_blocks_, image, channels.to, row), channels.count);
    };
    copy({from, to, first});
    copy({from + first, to + first, end - from - first});
  }

  // The position of a channel's first element in a row of an image.
  Term position(Term blocks, Term image, Term channel, Term row) {
    const Term plane = image * blocks + quotient(channel, kChannelBlock);
    return (plane * rows_ + row) * (columns_ * kChannelBlock) + remainder(channel, kChannelBlock);
  }

  // Copies `count` channels, at most a block, of all pixels of a row.
  void copy_row(const Buffer& x, Term from, Term to, Term count) {
    const int64_t lanes = std::min(k_.lanes(DType::kF32), kChannelBlock);
    k_.for_lanes(count, lanes, Tail::kOverlapping, [&](const Lanes& part) {
      k_.loop(k_.index(0), columns_, 1, [&](Term column) {
        const Term at = column * kChannelBlock + part.offset;
        k_.store(result_, to + at, k_.load(x, from + at, part.count, part.mask), part.mask);
      });
    });
  }

  KernelBuilder k_;
  llvm::SmallVector<Range> ranges_;
  Buffer result_;
  DimExpr images_, height_, width_;
  int64_t items_ = 0;  // blocks of all operands
  Term result_blocks_, rows_, columns_;
};

}  // namespace

llvm::LogicalResult lower(graph::BlockedConcatOp op, LoweringContext& context) {
  return BlockedConcat(op, context).lower();
}

}  // namespace scopevm::compiler::kernels
