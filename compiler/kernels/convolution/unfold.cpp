// Emits the unfolding of images.
//
// With stride 1, a vector of output positions reads consecutive elements in two cases: the
// positions are in one output row, or output rows are as long as input rows. With stride 2, a
// vector of positions in at most two output rows reads every other element of two vectors per row.
// Lanes in the padding are masked. Other vectors are gathered, which takes several times as long.
#include "compiler/kernels/convolution/unfold.h"

namespace scopevm::compiler::kernels {

namespace {

// a < b as an unsigned comparison, which is false for a negative `a`.
Term below(Term a, Term b) { return less(a, b, /*is_unsigned=*/true); }

}  // namespace

Unfold::Unfold(KernelBuilder& k)
    : e_(k),
      lane_count_(k.lanes(DType::kI32)),
      table_y_(local_table(k, kPanelColumns, DType::kI32)),
      table_x_(local_table(k, kPanelColumns, DType::kI32)) {}

void Unfold::emit_table(const Image& image, Term first) {
  // Only the first position of the panel needs a division. The coordinates of the others follow by
  // increments.
  Terms start{quotient(first, image.out_width), remainder(first, image.out_width)};
  e_.loop(e_.index(0), e_.index(kPanelColumns), 1, start, [&](Term j, llvm::ArrayRef<Term> at) {
    Term y = at[0] * image.strides[0] - image.pads[0];
    Term x = at[1] * image.strides[1] - image.pads[1];
    e_.store(table_y_.buffer, table_y_.start + j, to_i32(y));
    e_.store(table_x_.buffer, table_x_.start + j, to_i32(x));
    Term next = at[1] + 1;
    Term wraps = next == image.out_width;
    return Terms{select(wraps, at[0] + 1, at[0]), select(wraps, e_.index(0), next)};
  });
}

Unfold::Lanes Unfold::lanes_from(const Image& image, Term first, int64_t column) {
  auto offset_of = [&](int64_t j) {
    Term y = convert(e_.load(table_y_.buffer, table_y_.start + e_.index(j)), e_.index_type());
    Term x = convert(e_.load(table_x_.buffer, table_x_.start + e_.index(j)), e_.index_type());
    return y * image.width + x;
  };
  Lanes lanes;
  lanes.y = e_.load(table_y_.buffer, table_y_.start + e_.index(column), lane_count_);
  lanes.x = e_.load(table_x_.buffer, table_x_.start + e_.index(column), lane_count_);
  Term left = image.positions - (first + column);
  lanes.exists = e_.mask(max(left, 0), lane_count_);
  lanes.base = offset_of(column);
  // With stride 1, the offsets of adjacent lanes differ by 1 within a row, and by one other
  // constant at each change of the row. The lanes are therefore consecutive if the offset of the
  // last lane is lane_count_ - 1 above that of the first.
  Term distance = offset_of(column + lane_count_ - 1) - lanes.base;
  if (image.strides[1] == 1) lanes.is_run = distance == lane_count_ - 1;
  if (image.strides[1] == 2) find_runs(image, first, column, lanes);
  return lanes;
}

void Unfold::find_runs(const Image& image, Term first, int64_t column, Lanes& lanes) {
  const Term count = e_.index(lane_count_), position = first + column;
  const Term exists = clamp(image.positions - position, e_.index(0), count);
  const Term y = quotient(position, image.out_width), x = remainder(position, image.out_width);
  const Term split = min(image.out_width - x, exists);
  const Term top = y * image.strides[0] - image.pads[0];
  lanes.has_two_runs = exists - split <= image.out_width;
  lanes.runs[0] = {e_.index(0), split, top, x * image.strides[1] - image.pads[1]};
  lanes.runs[1] = {split, exists, top + image.strides[0], e_.index(0) - image.pads[1]};
}

// Loads the elements of two runs of stride 2, shifted by (dy, dx).
std::function<Term(Term)> Unfold::every_other_of_runs(const Image& image, const Lanes& lanes,
                                                      Term dy, Term dx) {
  struct Loads {
    Term at, masks[2];
  };
  Loads loads[2];
  const Term zero = e_.index(0);
  for (int64_t r = 0; r < 2; ++r) {
    const Run& run = lanes.runs[r];
    const Term y = run.y + dy, x = run.x + dx;
    // The columns of the run that are in the image. The two vectors begin at column `start`, so
    // that lane i is their element 2 * i.
    const Term start = x - run.begin * 2, low = max(x, zero);
    const Term high = min(x + (run.end - run.begin) * 2, image.width);
    const Term inside = (0 <= y) & (y < image.height);
    const Term columns = select(inside, max(high - low, zero), zero);
    loads[r].at = y * image.width + start;
    for (int64_t half = 0; half < 2; ++half) {
      const Term numbers = e_.iota(e_.builder().getI32Type(), lane_count_) +
                           e_.splat(to_i32(start - low + half * lane_count_), lane_count_);
      loads[r].masks[half] = below(numbers, e_.splat(to_i32(columns), lane_count_));
    }
  }
  const Term is_first = e_.mask(lanes.runs[0].end, lane_count_);
  return [this, image, is_first, first = loads[0], second = loads[1]](Term plane) {
    llvm::SmallVector<int64_t> even;
    for (int64_t lane = 0; lane < lane_count_; ++lane) even.push_back(2 * lane);
    const auto load = [&](const Loads& from) {
      const Term at = plane + from.at;
      return e_.shuffle(e_.load(image.buffer, at, lane_count_, from.masks[0]),
                        e_.load(image.buffer, at + lane_count_, lane_count_, from.masks[1]), even);
    };
    return select(is_first, load(first), load(second));
  };
}

void Unfold::emit_position(const Image& image, const Lanes& lanes, Term ky, Term kx,
                           Channels channels, const Buffer& to, Term to_at) {
  auto vector = [&](Term index) { return e_.splat(to_i32(index), lane_count_); };
  Term dy = ky * image.dilations[0], dx = kx * image.dilations[1];
  Term y = lanes.y + vector(dy), x = lanes.x + vector(dx);
  Term height = vector(image.height), width = vector(image.width);
  Term inside = below(y, height) & below(x, width);
  Term mask = inside & lanes.exists;
  Term area = image.height * image.width;
  auto each_channel = [&](llvm::function_ref<Term(Term plane)> load) {
    e_.loop(channels.begin, channels.end, 1, [&](Term c) {
      Term plane = image.at + c * area;
      e_.store(to, to_at + c * kPanelColumns, load(plane));
    });
  };
  Term shift = lanes.base + (dy * image.width + dx);
  const auto gather = [&] {
    Term offsets = y * width + x;
    each_channel([&](Term plane) { return e_.gather(image.buffer, plane, offsets, mask); });
  };
  if (lanes.is_run)
    e_.when(
        lanes.is_run,
        [&] {
          each_channel(
              [&](Term plane) { return e_.load(image.buffer, plane + shift, lane_count_, mask); });
        },
        gather);
  else if (lanes.has_two_runs)
    e_.when(
        lanes.has_two_runs, [&] { each_channel(every_other_of_runs(image, lanes, dy, dx)); },
        gather);
  else
    gather();
}

// All channels, unless the same elements of all channels are in the same set of L1: its ways then
// hold the elements of a few channels for all kernel positions.
Term Unfold::channels_per_pass(const Image& image) {
  constexpr int64_t kSetElements = 1024, kWays = 8;
  const Term is_aliased = remainder(image.height * image.width, e_.index(kSetElements)) == 0;
  return select(is_aliased, e_.index(kWays / 2), max(image.channels, 1));
}

void Unfold::emit(const Image& image, Term first, const Buffer& to, Term to_at) {
  emit_table(image, first);
  Term rows = image.channels * kPanelColumns;  // elements of the panel per kernel position
  const Term step = channels_per_pass(image);
  for (int64_t column = 0; column < kPanelColumns; column += lane_count_) {
    Lanes lanes = lanes_from(image, first, column);
    e_.loop(e_.index(0), ceil_quotient(image.channels, step), 1, [&](Term pass) {
      const Channels channels{pass * step, min((pass + 1) * step, image.channels)};
      // A kernel position shifts all lanes equally, so `lanes` is computed once for all of them.
      e_.loop(e_.index(0), image.kernel[0], 1, [&](Term ky) {
        e_.loop(e_.index(0), image.kernel[1], 1, [&](Term kx) {
          Term position = ky * image.kernel[1] + kx;
          emit_position(image, lanes, ky, kx, channels, to, to_at + position * rows + column);
        });
      });
    });
  }
}

}  // namespace scopevm::compiler::kernels
