// Emits copies of x, and its computation by another convolution; see strip.h.
#include "compiler/kernels/convolution/blocked/strip.h"

namespace scopevm::compiler::kernels {

Strip::Strip(KernelBuilder& k, const BlockedShape& shape, const Buffer& x,
             const FusedSeparable* producer)
    : k_(k),
      axes_(shape.axes),
      pixel_(shape.pixel()),
      planes_((shape.elements() + pixel_ - 1) / pixel_),
      all_planes_(planes_ * shape.groups),
      rest_(shape.elements() % pixel_),
      x_(x),
      producer_(producer) {
  if (!producer) return;
  if (producer->expansion) expansion_.emplace(k_, *producer->expansion);
  tiles_.emplace(k_, producer->depthwise, /*x_is_operand=*/!expansion_);
  epilogue_.emplace(producer->depthwise);
  epilogue_->declare(k_);
}

DimExpr Strip::width_dim() const { return max(axes_[1].reach(axes_[1].out), 0); }

DimExpr Strip::elements(DimExpr rows) const {
  const DimExpr strip = strip_elements(rows);
  return expansion_ ? strip + expansion_->elements(expanded_rows(rows)) : strip;
}

DimExpr Strip::strip_elements(DimExpr rows) const {
  return axes_[0].reach(rows) * width_dim() * DimExpr(all_planes_ * pixel_);
}

DimExpr Strip::row_elements() const {
  return width_dim() * DimExpr(all_planes_ * pixel_ * axes_[0].tile_step());
}

// The rows of its input that the other convolution reads for `rows` rows.
DimExpr Strip::expanded_rows(DimExpr rows) const {
  const BlockedAxis axis = BlockedShape(producer_->depthwise.contraction).axes[0];
  return min((rows - 1) * DimExpr(axis.stride) + ((axis.kernel - 1) * axis.dilation + 1),
             max(axis.size, 0));
}

int64_t Strip::least_rows() const {
  constexpr int64_t kRowsPerRepeatedRow = 6;
  if (!expansion_) return 1;
  const BlockedAxis axis = BlockedShape(producer_->depthwise.contraction).axes[0];
  const int64_t repeated =
      std::max<int64_t>((axis.kernel - 1) * axis.dilation + 1 - axis.stride, 0);
  return std::max<int64_t>(repeated * kRowsPerRepeatedRow / axis.stride, 1);
}

void Strip::declare(const Scratch& scratch, Term start, DimExpr rows) {
  buffer_ = scratch.buffer;
  start_ = scratch.start + start;
  const DimExpr width = width_dim();
  rows_ = k_.param(axes_[0].reach(rows));
  width_ = k_.param(width);
  pitch_ = width_ * pixel_;
  if (expansion_) {
    tiles_->read_from(buffer_);
    expansion_->declare(buffer_, start_ + k_.param(strip_elements(rows)), expanded_rows(rows));
  }
  if (producer_) return;
  x_height_ = k_.param(axes_[0].size);
  x_width_ = k_.param(axes_[1].size);
  const DimExpr step = axes_[1].copy_step();
  const DimExpr begin = min(ceildiv(axes_[1].pad, step), width);
  inside_begin_ = k_.param(begin);
  inside_end_ = k_.param(max(min(ceildiv(axes_[1].size + axes_[1].pad, step), width), begin));
}

void Strip::emit(Term image, Term first, Term rows) {
  if (producer_) return emit_computed(image, first, rows);
  const Term top = first * axes_[0].stride - axes_[0].pad;
  const Term count =
      (rows - 1) * axes_[0].tile_step() + ((axes_[0].kernel - 1) * axes_[0].dilation + 1);
  k_.loop(k_.index(0), k_.index(all_planes_), 1, [&](Term number) {
    const Term from = (image * all_planes_ + number) * (x_height_ * x_width_ * pixel_);
    const Term to = start_ + number * plane();
    k_.loop(k_.index(0), count, 1, [&](Term row) {
      const Term y = top + row * axes_[0].copy_step();
      emit_row(number, from + y * (x_width_ * pixel_), (0 <= y) & (y < x_height_),
               to + row * pitch_);
    });
  });
}

void Strip::emit_computed(Term image, Term first, Term rows) {
  const int64_t group_planes = expansion_ ? expansion_->group_blocks() : 1;
  k_.loop(k_.index(0), k_.index(all_planes_ / group_planes), 1, [&](Term group) {
    if (!expansion_) {
      emit_plane(image, group, first, rows, {});
      return;
    }
    const auto [begin, end] = tiles_->input_rows(first, first + rows);
    expansion_->emit(image, group, begin, end);
    k_.loop(k_.index(0), k_.index(group_planes), 1, [&](Term plane) {
      emit_plane(image, group * group_planes + plane, first, rows, expansion_->row_0(begin, plane));
    });
  });
}

// Computes plane `number`, from the operand x or from the expanded rows at `expanded`.
void Strip::emit_plane(Term image, Term number, Term first, Term rows, Term expanded) {
  const int64_t lanes = k_.lanes(DType::kF32);
  epilogue_->enter(k_, {image, number});
  const Term to = start_ + number * plane();
  const auto store = [&](Term sum, Term y, Term x, Term lane) {
    const auto values = epilogue_->evaluate(k_, sum, y * width_ + x, lane, lanes, {});
    k_.store(buffer_, to + (y - first) * pitch_ + x * pixel_ + lane,
             values.lookup(producer_->image));
  };
  if (expanded)
    tiles_->emit_from(expanded, number, first, first + rows, store);
  else
    tiles_->emit(image, number, first, first + rows, store);
}

void Strip::emit_row(Term plane, Term from, Term is_inside, Term to) {
  const Term zero = k_.zero(buffer_);
  k_.when(
      is_inside,
      [&] {
        k_.fill(buffer_, to, inside_begin_ * pixel_, zero);
        k_.fill(buffer_, to + inside_end_ * pixel_, (width_ - inside_end_) * pixel_, zero);
        const Term begin = inside_begin_ * axes_[1].copy_step() - axes_[1].pad;
        const auto copy = [&](int64_t channels) {
          copy_pixels(from + begin * pixel_, to + inside_begin_ * pixel_,
                      inside_end_ - inside_begin_, channels);
        };
        if (rest_ == 0) return copy(pixel_);
        // The channels after the last one can be any number, also NaN: they are replaced by 0.
        k_.when(plane == planes_ - 1, [&] { copy(rest_); }, [&] { copy(pixel_); });
      },
      [&] { k_.fill(buffer_, to, pitch_, zero); });
}

// Copies `count` pixels of x, every copy_step-th one. Channels from `channels` on become 0.
void Strip::copy_pixels(Term from, Term to, Term count, int64_t channels) {
  const int64_t step = axes_[1].copy_step();
  if (step == 1 && channels == pixel_) return k_.copy(x_, from, buffer_, to, count * pixel_);
  const int64_t lanes = std::min(k_.lanes(DType::kF32), pixel_);
  k_.loop(k_.index(0), count, 1, [&](Term pixel) {
    for (int64_t lane = 0; lane < pixel_; lane += lanes) {
      Term mask;
      if (lane + lanes > channels)
        mask = k_.mask(k_.index(std::max<int64_t>(channels - lane, 0)), lanes);
      k_.store(buffer_, to + pixel * pixel_ + lane,
               k_.load(x_, from + pixel * (step * pixel_) + lane, lanes, mask));
    }
  });
}

}  // namespace scopevm::compiler::kernels
