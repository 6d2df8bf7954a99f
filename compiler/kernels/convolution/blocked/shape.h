// The shape of a convolution of blocked images, ordinary or transposed.
#pragma once

#include "compiler/dims/representative.h"
#include "compiler/graph/convolution/window.h"
#include "compiler/graph/graph_ops.h"
#include "compiler/kernels/builder/code_builder.h"
#include "compiler/kernels/contraction/pack/pack_constants.h"
#include "compiler/schedule/convolution.h"

namespace scopevm::compiler::kernels {

// One spatial axis. A transposed convolution has one phase for each remainder of the result's index
// modulo its stride. A phase is an ordinary convolution with stride 1: its windows are parts of a
// common window, which is `kernel` wide. See graph::phase_taps().
struct BlockedAxis {
  DimExpr size;    // of x
  DimExpr result;  // of the result
  DimExpr out;     // windows: of the phase with the most ones
  int64_t kernel = 1, stride = 1, pad = 0, dilation = 1;  // of windows
  int64_t pad_after = 0;                                  // not used by transposed convolutions
  int64_t taps = 1;                                       // of the weights
  int64_t phases = 1;
  int64_t least_shift = 0, full_kernel = 1, full_pad = 0;  // transposed: `shift` of phase 0

  // A copy of x for windows of one element has only the elements that it needs.
  int64_t copy_step() const { return kernel == 1 ? stride : 1; }
  int64_t tile_step() const { return kernel == 1 ? 1 : stride; }
  // The elements of the copy that `count` windows need.
  DimExpr reach(DimExpr count) const {
    return (count - 1) * DimExpr(tile_step()) + ((kernel - 1) * dilation + 1);
  }
  bool has_padding() const { return pad != 0 || pad_after != 0; }
  // Whether all phases have the same number of taps.
  bool is_uniform() const { return full_kernel % phases == 0; }

  schedule::ConvAxis axis() const {
    return {.size = {size.as_constant(), representative(size)},
            .out = {out.as_constant(), representative(out)},
            .taps = taps,
            .window = kernel,
            .stride = stride,
            .dilation = dilation,
            .pad = pad,
            .pad_after = pad_after,
            .is_uniform = is_uniform()};
  }
};

struct BlockedShape {
  mlir::Value x, w;
  BlockedAxis axes[2];
  int64_t channels = 1;    // of a group of x
  int64_t rows = 1;        // output channels
  int64_t out_blocks = 1;  // of the result
  int64_t groups = 1;
  schedule::ConvForm form;  // of the attribute
  bool is_transposed = false;
  bool has_bytes = false;  // x is u8

  explicit BlockedShape(mlir::Operation* op) {
    if (auto conv = mlir::dyn_cast<graph::BlockedConvOp>(op)) {
      x = conv.getX(), w = conv.getW();
      groups = static_cast<int64_t>(conv.getGroup());
      // The verifier has checked the text.
      if (conv.getSchedule()) form = *schedule::ConvForm::parse(*conv.getSchedule());
      for (int64_t i = 0; i < 2; ++i)
        axes[i] = {.stride = conv.getStrides()[i],
                   .pad = conv.getPads()[i],
                   .dilation = conv.getDilations()[i],
                   .pad_after = conv.getPads()[2 + i]};
    } else {
      set_transposed(mlir::cast<graph::BlockedConvTransposeOp>(op));
    }
    for (int64_t i = 0; i < 2; ++i) {
      BlockedAxis& axis = axes[i];
      axis.size = graph::type_of(x).getDim(2 + i);
      axis.result = graph::type_of(op->getResult(0)).getDim(2 + i);
      axis.out = ceildiv(axis.result, axis.phases);
      axis.taps = *graph::type_of(w).getDim(2 + i).as_constant();
      if (!is_transposed) axis.kernel = axis.taps;
    }
    channels = *graph::type_of(w).getDim(1).as_constant();
    has_bytes = graph::type_of(x).getDtype() == DType::kU8;
    out_blocks = *graph::type_of(op->getResult(0)).getDim(1).as_constant();
    rows = is_transposed ? out_blocks * graph::kChannelBlock
                         : *graph::type_of(w).getDim(0).as_constant();
  }

  // The type in which x is read: a quad of bytes is an element.
  DType element() const { return has_bytes ? DType::kI32 : DType::kF32; }
  int64_t element_channels() const { return has_bytes ? schedule::kQuad : 1; }
  // The elements of the channels of a group, and of a pixel in a plane of x.
  int64_t elements() const { return (channels + element_channels() - 1) / element_channels(); }
  int64_t pixel() const {
    return graph::type_of(x).getRank() == 5 ? graph::kChannelBlock / element_channels() : 1;
  }

  // `is_computed`: another convolution computes x in the same kernel.
  schedule::ConvProblem problem(bool is_computed) const {
    schedule::ConvProblem problem{.channels = channels,
                                  .out_channels = rows,
                                  .groups = groups,
                                  .is_blocked = graph::type_of(x).getRank() == 5,
                                  .is_transposed = is_transposed,
                                  .is_computed = is_computed};
    for (size_t i = 0; i < 2; ++i) problem.axes[i] = axes[i].axis();
    return has_bytes ? problem.of_quads() : problem;
  }

  int64_t phases() const { return axes[0].phases * axes[1].phases; }
  // Windows of one element.
  bool is_pointwise() const { return axes[0].kernel == 1 && axes[1].kernel == 1; }

 private:
  void set_transposed(graph::BlockedConvTransposeOp op) {
    x = op.getX(), w = op.getW();
    is_transposed = true;
    for (int64_t i = 0; i < 2; ++i) {
      const int64_t stride = op.getStrides()[i], kernel = op.getKernel()[i], pad = op.getPads()[i];
      const graph::CommonWindow window = graph::common_window(stride, pad, kernel);
      axes[i] = {.kernel = window.size,
                 .pad = window.before,
                 .phases = stride,
                 .least_shift = window.least_shift,
                 .full_kernel = kernel,
                 .full_pad = pad};
    }
  }
};

// A phase along one axis, in an image of any size.
struct Phase {
  Term number;
  Term count;  // its windows in an image
  Term skip;   // 1 if the first tap of the weights is not used
  Term shift;  // of its first used tap, in the common window

  // `result`: the dim of the result. As graph::phase_taps().
  static Phase of(CodeBuilder& e, const BlockedAxis& axis, Term number, Term result) {
    const Term shift = quotient(number + axis.full_pad, axis.phases);
    const Term first = number + axis.full_pad - shift * axis.phases;
    const Term skip =
        select(first + axis.phases * (axis.taps - 1) < axis.full_kernel, e.index(0), e.index(1));
    return {.number = number,
            .count = quotient(result - number + (axis.phases - 1), axis.phases),
            .skip = skip,
            .shift = shift - axis.least_shift + skip};
  }
};

// A convolution with its schedule.
struct ScheduledConv {
  const BlockedShape shape;
  const schedule::ConvProblem problem;
  const schedule::ConvSchedule schedule;
  const schedule::BlockGroups groups;  // of a phase and a group of channels

  ScheduledConv(mlir::Operation* op, const schedule::Core& core, bool is_computed)
      : shape(op),
        problem(shape.problem(is_computed)),
        schedule(schedule::choose_conv(problem, core, shape.form)),
        groups(schedule::BlockGroups::of(problem.group_out_blocks(), schedule.form.group_blocks)) {}

  // The groups of channel blocks of a phase, and of all phases.
  int64_t phase_groups() const { return shape.groups * groups.count; }
  int64_t all_groups() const { return shape.phases() * phase_groups(); }
  // The groups of the packed weights.
  schedule::BlockGroups packed_groups() const {
    return schedule::BlockGroups::of(shape.phases() * shape.out_blocks, groups.most);
  }
  int64_t x_planes() const { return schedule.planes * shape.groups; }
  int64_t plane_depth() const { return schedule.pixel * shape.axes[0].taps * shape.axes[1].taps; }
  int64_t depth() const { return schedule.planes * plane_depth(); }
  BlockLayout weight_layout() const {
    return {schedule.pixel, packed_groups(), shape.element_channels()};
  }
  // The most elements of the packed weights of a step.
  int64_t step_weights() const { return groups.most * graph::kChannelBlock; }
};

}  // namespace scopevm::compiler::kernels
