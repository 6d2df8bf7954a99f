// Convolutions: sv.blocked_conv and sv.blocked_conv_transpose are their blocked forms.
#include "compiler/graph/convolution/window.h"
#include "compiler/layouts/layouts.h"
#include "compiler/layouts/models/constants.h"
#include "compiler/layouts/models/convolution/expand.h"
#include "compiler/layouts/models/convolution/weights.h"
#include "compiler/layouts/models/image.h"
#include "compiler/layouts/models/layout_ops.h"
#include "compiler/layouts/models/models.h"
#include "compiler/schedule/contraction.h"

namespace scopevm::compiler::layouts {
namespace {

using graph::TensorType;
using graph::type_of;

// Images with up to this number of channels are not blocked for a convolution.
constexpr int64_t kFewChannels = 4;
// Along an axis, a transposed convolution with a larger stride is not blocked.
constexpr int64_t kMostPhases = 16;

schedule::Extent extent(DimExpr dim, const DimValues& known) {
  return {dim.as_constant(), representative(dim, known)};
}

// The members that ordinary and transposed convolutions have in common.
template <typename Op>
schedule::ConvProblem common_problem(Op op, const DimValues& known) {
  schedule::ConvProblem problem{.groups = static_cast<int64_t>(op.getGroup())};
  for (size_t i = 0; i < 2; ++i) {
    schedule::ConvAxis& axis = problem.axes[i];
    axis.size = extent(type_of(op.getX()).getDim(2 + i), known);
    axis.out = extent(type_of(op.getResult()).getDim(2 + i), known);
    axis.taps = axis.window = *type_of(op.getW()).getDim(2 + i).as_constant();
    axis.stride = op.getStrides()[i];
    axis.dilation = op.getDilations()[i];
    axis.pad = op.getPads()[i];
    axis.pad_after = op.getPads()[2 + i];
  }
  return problem;
}

schedule::ConvProblem problem_of(graph::ConvOp op, const DimValues& known = {}) {
  schedule::ConvProblem problem = common_problem(op, known);
  problem.out_channels = *type_of(op.getW()).getDim(0).as_constant();
  problem.channels = *type_of(op.getW()).getDim(1).as_constant();
  return problem;
}

schedule::ConvProblem problem_of(graph::ConvTransposeOp op, const DimValues& known = {}) {
  schedule::ConvProblem problem = common_problem(op, known);
  problem.channels = *type_of(op.getW()).getDim(0).as_constant();
  problem.out_channels = *type_of(op.getW()).getDim(1).as_constant() * problem.groups;
  problem.is_transposed = true;
  return problem;
}

// Whether weights and bias are constants in the default scope, and the weights are static.
bool has_constants(mlir::Operation* op) {
  return llvm::all_of(llvm::drop_begin(op->getOperands()), is_constant) &&
         type_of(op->getOperand(1)).isStatic();
}

template <typename Op>
schedule::ConvWork work_of(Op op, const schedule::Core& core, const DimValues& known) {
  return {.problem = problem_of(op, known),
          .multiply_adds = representative(op.getFlops(), known) / 2,
          .result_conversion = conversion_seconds(type_of(op.getResult()), core, known)};
}

mlir::Value with_bias(mlir::OpBuilder& builder, mlir::Value result, mlir::Value bias) {
  if (!bias) return result;
  return builder.create<graph::AddOp>(result.getLoc(), result.getType(), result,
                                      blocked_bias(builder, bias));
}

// Whether the kernel's copy of x is small: it has the rows of x that one row of the result needs,
// and is stored for each worker. The kernels of narrow groups do not copy x.
bool has_small_parts(graph::ConvOp op) {
  const TensorType x = type_of(op.getX()), w = type_of(op.getW()), result = type_of(op.getResult());
  if (problem_of(op).has_narrow_groups()) return true;
  const auto span = [&](size_t axis, DimExpr count) {
    return (count - 1) * DimExpr(op.getStrides()[axis]) +
           (w.getDim(2 + axis) - 1) * DimExpr(op.getDilations()[axis]) + 1;
  };
  constexpr double kMostElements = 1 << 20;
  const DimExpr line = x.getDim(1) * span(1, result.getDim(3));
  if (representative(line * span(0, 1)) > kMostElements) return false;
  // An image with one row is not divided: its length must be known.
  constexpr double kMostLine = 1 << 16;
  return !result.getDim(2).is_constant(1) || w.getDim(3).is_constant(1) ||
         (line.is_constant() && representative(line) <= kMostLine);
}

bool can_use_winograd(graph::ConvOp op, const BlockedForm& form) {
  const TensorType w = type_of(op.getW());
  const auto are_ones = [](llvm::ArrayRef<int64_t> values) {
    return llvm::all_of(values, [](int64_t value) { return value == 1; });
  };
  return !has_bytes(op) && !form.reads_plain && form.has_blocked_result && op.getGroup() == 1 &&
         w.getDim(2).is_constant(3) && w.getDim(3).is_constant(3) && are_ones(op.getStrides()) &&
         are_ones(op.getDilations());
}

// The blocked convolution, whose adjacent groups can be merged. REQUIRES: the result is blocked.
schedule::ConvProblem blocked_problem(graph::ConvOp op, const BlockedForm& form) {
  schedule::ConvProblem problem = problem_of(op);
  const int64_t merged = schedule::merged_groups(problem);
  problem.groups /= merged;
  problem.channels *= merged;
  problem.is_blocked = !form.reads_plain;
  return has_bytes(op) && !problem.has_narrow_groups() ? problem.of_quads() : problem;
}

// The convolution of create_narrow().
schedule::ConvProblem narrow_problem(graph::ConvOp op, const BlockedForm& form) {
  schedule::ConvProblem problem = problem_of(op);
  const int64_t pixels = schedule::pixels_per_block(problem);
  problem.is_blocked = !form.reads_plain;
  problem.out_channels *= pixels;
  schedule::ConvAxis& x = problem.axes[1];
  x.taps = x.window = x.taps + (pixels - 1) * x.stride;
  x.pad_after += (pixels - 1) * x.stride;
  x.stride *= pixels;
  x.out = extent(ceildiv(type_of(op.getResult()).getDim(3), pixels), {});
  return has_bytes(op) ? problem.of_quads() : problem;
}

// The convolution of the phases: graph::common_window().
schedule::ConvProblem phase_problem(graph::ConvTransposeOp op) {
  schedule::ConvProblem problem = problem_of(op);
  const int64_t blocks = (problem.out_channels + graph::kChannelBlock - 1) / graph::kChannelBlock;
  problem.out_channels = blocks * graph::kChannelBlock;
  for (size_t i = 0; i < 2; ++i) {
    schedule::ConvAxis& axis = problem.axes[i];
    const graph::CommonWindow window = graph::common_window(axis.stride, axis.pad, axis.taps);
    axis.out = extent(ceildiv(type_of(op.getResult()).getDim(2 + i), axis.stride), {});
    axis.is_uniform = axis.taps % axis.stride == 0;
    axis.taps = window.taps;
    axis.window = window.size;
    axis.stride = 1;
    axis.pad = window.before;
    axis.pad_after = 0;
  }
  return problem;
}

// The product by which a convolution by channel is computed, for `rows` output channels of a group.
std::string contraction_text(int64_t rows, int64_t depth, mlir::Value result,
                             const schedule::Core& core) {
  const TensorType type = type_of(result);
  return choose_contraction({.kind = schedule::ContractionKind::kConvolution,
                             .rows = rows,
                             .columns = type.getDim(2) * type.getDim(3),
                             .depth = depth},
                            core)
      .text();
}

mlir::Value create(mlir::OpBuilder& builder, graph::ConvOp op, schedule::ConvForm schedule,
                   mlir::Value x) {
  mlir::Value w = op.getW();
  const auto group = static_cast<int64_t>(op.getGroup());
  const int64_t merged = schedule::merged_groups(problem_of(op));
  if (merged > 1) w = merged_weights(builder, w, group, merged);
  const bool is_winograd = schedule.algorithm == schedule::ConvAlgorithm::kWinograd;
  const mlir::Value result = builder.create<graph::BlockedConvOp>(
      op.getLoc(), blocked_type(type_of(op.getResult())), x, w, op.getStridesAttr(),
      op.getPadsAttr(), op.getDilationsAttr(), builder.getI64IntegerAttr(group / merged),
      is_winograd ? builder.getUnitAttr() : nullptr,
      schedule.group_blocks != 0 ? builder.getStringAttr(schedule.text()) : nullptr);
  return with_bias(builder, result, op.getBias());
}

// A convolution with few output channels: a block has those of adjacent pixels.
mlir::Value create_narrow(mlir::OpBuilder& builder, graph::ConvOp op, mlir::Value x) {
  const int64_t pixels = schedule::pixels_per_block(problem_of(op)), stride = op.getStrides()[1];
  const llvm::ArrayRef<int64_t> pads = op.getPads();
  const mlir::Value w = pixel_weights(builder, op.getW(), pixels, stride);
  const TensorType type = type_of(op.getResult());
  const DimExpr n = type.getDim(0), rows = type.getDim(1), height = type.getDim(2);
  const DimExpr width = type.getDim(3), blocks = ceildiv(width, pixels);
  mlir::Value y = builder.create<graph::BlockedConvOp>(
      op.getLoc(), type.withShape({n, 1, height, blocks, graph::kChannelBlock}), x, w,
      builder.getDenseI64ArrayAttr({op.getStrides()[0], pixels * stride}),
      builder.getDenseI64ArrayAttr({pads[0], pads[1], pads[2], pads[3] + (pixels - 1) * stride}),
      op.getDilationsAttr(), op.getGroupAttr(), /*winograd=*/nullptr,
      /*schedule=*/nullptr);
  if (op.getBias())
    y = builder.create<graph::AddOp>(op.getLoc(), y.getType(), y,
                                     pixel_bias(builder, op.getBias(), pixels));
  y = reshape(builder, y, {n, height, blocks, graph::kChannelBlock});
  y = first_elements(builder, y, {n, height, blocks, rows * DimExpr(pixels)});
  y = reshape(builder, y, {n, height, blocks, pixels, rows});
  y = transpose(builder, y, {0, 4, 1, 2, 3});
  y = reshape(builder, y, {n, rows, height, blocks * DimExpr(pixels)});
  return first_elements(builder, y, type.getShape());
}

struct ConvModel : ImageModel<ConvModel> {
  std::optional<BlockedForm> getBlockedForm(mlir::Operation* op, const Options& options) const {
    auto conv = mlir::cast<graph::ConvOp>(op);
    const std::optional<int64_t> channels = image_channels(conv.getX().getType());
    const std::optional<int64_t> rows = elementwise_channels(conv.getResult().getType());
    const bool is_f32 = type_of(conv.getW()).getDtype() == DType::kF32;
    // Other dims would not match those of the weights.
    const auto group = static_cast<int64_t>(conv.getGroup());
    if (!channels || !rows || !(is_f32 || has_bytes(conv)) || !has_constants(op) ||
        !(type_of(conv.getW()).getDim(1) * DimExpr(group)).is_constant(*channels))
      return std::nullopt;
    const schedule::ConvProblem problem = problem_of(conv);
    if (schedule::merged_groups(problem) == 0 ||
        type_of(conv.getW()).getElementCount().is_constant(0) || !has_small_parts(conv))
      return std::nullopt;
    const bool has_blocked_result = schedule::pixels_per_block(problem) == 1;
    if (*rows == 1 && has_blocked_result) return std::nullopt;
    BlockedForm form{
        {conv.getX()}, is_f32 && group == 1 && *channels <= kFewChannels, has_blocked_result};
    if (!has_blocked_result) return form;
    const auto schedules = schedule::conv_forms(blocked_problem(conv, form), *options.core,
                                                options.fast_conv && can_use_winograd(conv, form));
    form.schedules.assign(schedules.begin(), schedules.end());
    return form;
  }

  schedule::LayoutTimes getTimes(mlir::Operation* op, const BlockedForm& form,
                                 const schedule::Core& core, const DimValues& known) const {
    schedule::ConvWork work = work_of(mlir::cast<graph::ConvOp>(op), core, known);
    work.problem.is_blocked = !form.reads_plain;
    work.algorithm = form.schedules.front().algorithm;
    schedule::LayoutTimes times = schedule::conv_times(work, core);
    // Products of quads take a quarter of the time. By channel, moving the elements of unfolded
    // windows takes as long as products of f32. Narrow groups are computed in f32.
    if (has_bytes(mlir::cast<graph::ConvOp>(op)) && !work.problem.has_narrow_groups())
      times.blocked /= schedule::kQuad;
    return times;
  }

  std::string getScheduleText(mlir::Operation* op, const BlockedForm& form,
                              const schedule::Core& core) const {
    auto conv = mlir::cast<graph::ConvOp>(op);
    if (!form.has_blocked_result) return choose_conv(narrow_problem(conv, form), core).text();
    const schedule::ConvProblem problem = blocked_problem(conv, form);
    return problem.has_narrow_groups()
               ? depthwise_tile({.vector_bits = core.vector_bits}, problem.axes[0].out,
                                problem.axes[1].out)
                     .text()
               : choose_conv(problem, core, form.schedules[form.schedule]).text();
  }

  std::string getByChannelScheduleText(mlir::Operation* op, const schedule::Core& core) const {
    auto conv = mlir::cast<graph::ConvOp>(op);
    const schedule::ConvProblem problem = problem_of(conv);
    const int64_t taps = problem.axes[0].taps * problem.axes[1].taps;
    if (problem.groups == 1 || problem.channels != 1)
      return contraction_text(problem.out_channels / problem.groups, problem.channels * taps,
                              conv.getResult(), core);
    const int64_t rows = schedule::by_channel_tile_rows({.vector_bits = core.vector_bits}, taps,
                                                        problem.axes[1].stride);
    return "tiles of " + std::to_string(rows) + " rows";
  }

  mlir::Value createBlocked(mlir::Operation* op, mlir::OpBuilder& builder, const BlockedForm& form,
                            mlir::IRMapping& operands) const {
    auto conv = mlir::cast<graph::ConvOp>(op);
    const mlir::Value x = operands.lookup(conv.getX());
    return form.has_blocked_result ? create(builder, conv, form.schedules[form.schedule], x)
                                   : create_narrow(builder, conv, x);
  }

  void expandByChannel(mlir::Operation* op, bool may_be_blocked) const {
    if (!may_be_blocked) expand(mlir::cast<graph::ConvOp>(op));
  }
};

struct ConvTransposeModel : ImageModel<ConvTransposeModel> {
  std::optional<BlockedForm> getBlockedForm(mlir::Operation* op, const Options&) const {
    auto conv = mlir::cast<graph::ConvTransposeOp>(op);
    const TensorType w = type_of(conv.getW());
    const std::optional<int64_t> channels = image_channels(conv.getX().getType());
    if (!channels || !has_constants(op) || !w.getDim(0).is_constant(*channels) ||
        conv.getGroup() != 1)
      return std::nullopt;
    for (int64_t axis : {0, 1})
      if (conv.getDilations()[axis] != 1 || conv.getStrides()[axis] > kMostPhases ||
          *w.getDim(2 + axis).as_constant() <= conv.getPads()[axis])
        return std::nullopt;
    return image_form(op);
  }

  schedule::LayoutTimes getTimes(mlir::Operation* op, const BlockedForm&,
                                 const schedule::Core& core, const DimValues& known) const {
    auto conv = mlir::cast<graph::ConvTransposeOp>(op);
    schedule::ConvWork work = work_of(conv, core, known);
    work.is_disjoint = is_disjoint(conv);
    return schedule::conv_times(work, core);
  }

  std::string getScheduleText(mlir::Operation* op, const BlockedForm&,
                              const schedule::Core& core) const {
    return choose_conv(phase_problem(mlir::cast<graph::ConvTransposeOp>(op)), core).text();
  }

  std::string getByChannelScheduleText(mlir::Operation* op, const schedule::Core& core) const {
    auto conv = mlir::cast<graph::ConvTransposeOp>(op);
    // expand() makes a convolution whose output channels are those of all phases.
    const schedule::ConvProblem problem = problem_of(conv), of_phase = phase_problem(conv);
    const int64_t phases = problem.axes[0].stride * problem.axes[1].stride;
    return contraction_text(problem.out_channels * phases,
                            problem.channels * of_phase.axes[0].window * of_phase.axes[1].window,
                            conv.getResult(), core);
  }

  mlir::Value createBlocked(mlir::Operation* op, mlir::OpBuilder& builder, const BlockedForm&,
                            mlir::IRMapping& operands) const {
    auto conv = mlir::cast<graph::ConvTransposeOp>(op);
    const llvm::SmallVector<int64_t> w = constant_dims(conv.getW());
    const mlir::Value weights =
        phase_weights(builder, conv.getW(), conv.getStrides(), conv.getPads());
    const mlir::Value result = builder.create<graph::BlockedConvTransposeOp>(
        op->getLoc(), blocked_type(type_of(conv.getResult())), operands.lookup(conv.getX()),
        weights, builder.getDenseI64ArrayAttr({w[2], w[3]}), conv.getStridesAttr(),
        conv.getPadsAttr(), conv.getOutputPadsAttr());
    return with_bias(builder, result, conv.getBias());
  }

  void expandByChannel(mlir::Operation* op, bool may_be_blocked) const {
    expand(mlir::cast<graph::ConvTransposeOp>(op), may_be_blocked);
  }
};

}  // namespace

void attach_convolution(mlir::MLIRContext& context) {
  attach<ConvModel, graph::ConvOp>(context);
  attach<ConvTransposeModel, graph::ConvTransposeOp>(context);
}

}  // namespace scopevm::compiler::layouts
