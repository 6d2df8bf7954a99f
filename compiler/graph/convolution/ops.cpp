// Convolutions: generated definitions, type rules, request checks, cost.
#include "compiler/dims/dim_text.h"
#include "compiler/graph/convolution/window.h"
#include "compiler/graph/diagnostics/dim_trace.h"
#include "compiler/graph/diagnostics/request_checks.h"
#include "compiler/graph/graph_ops.h"
#include "compiler/graph/parallel/parallel_axes.h"
#include "compiler/graph/type_rule.h"

// Included last: the generated definitions use the declarations above.
#define GET_OP_CLASSES
#include "compiler/graph/convolution/ops.cpp.inc"

namespace scopevm::compiler::graph {

namespace {

llvm::LogicalResult check_ranks(TypeRule& rule, TensorType x, TensorType w) {
  if (x.getRank() < 3) return rule.fail("x must have rank 3 or more, but is " + text_of(x));
  if (w.getRank() == x.getRank()) return mlir::success();
  return rule.fail("the weight must have the rank of x, but x is " + text_of(x) +
                   " and the weight " + text_of(w));
}

// The bias has one element for each output channel.
llvm::LogicalResult check_bias(TypeRule& rule, mlir::Value bias, DimExpr channels) {
  if (!bias) return mlir::success();
  TensorType type = tensor_type(bias);
  if (type.getRank() != 1) return rule.fail("the bias must have rank 1, but is " + text_of(type));
  if (may_be_equal(type.getDim(0), channels)) return mlir::success();
  return rule.fail("the bias is " + text_of(type) + ", expected " + short_text(channels) +
                   " elements, one for each output channel");
}

// Whether bytes are multiplied, whose sums are i32.
bool sums_bytes(TensorType x, TensorType w) {
  return x.getDtype() == DType::kU8 && w.getDtype() == DType::kI8;
}

llvm::LogicalResult check_group(TypeRule& rule, int64_t group) {
  if (group >= 1 && group <= kMaxWindow) return mlir::success();
  return rule.fail("group is " + llvm::Twine(group) + ", expected 1 to " + llvm::Twine(kMaxWindow));
}

}  // namespace

llvm::LogicalResult ConvOp::infer(TypeRule& rule, Adaptor op) {
  TensorType x = tensor_type(op.getX()), w = tensor_type(op.getW());
  Window window{op.getStrides(), op.getPads(), op.getDilations()};
  const auto group = static_cast<int64_t>(op.getGroup());
  auto fail = [&](const llvm::Twine& what) {
    return rule.fail(text_of(x) + " with weight " + text_of(w) + ": " + what);
  };
  const bool has_bytes = sums_bytes(x, w);
  if (has_bytes && op.getBias()) return fail("a convolution of bytes has no bias");
  if ((!has_bytes && failed(check_same_dtype(rule, op.getOperands()))) ||
      failed(check_ranks(rule, x, w)))
    return mlir::failure();
  size_t spatial = x.getRank() - 2;
  if (failed(window.check(rule, spatial)) || failed(check_group(rule, group)))
    return mlir::failure();
  DimExpr channels = w.getDim(1) * DimExpr(group);
  // A mismatch that the facts prove for every request is a type error. Any other mismatch fails a
  // request check.
  if (!may_be_equal(x.getDim(1), channels))
    return fail("x has " + short_text(x.getDim(1)) + " channels, expected " + short_text(channels) +
                " (dim 1 of the weight times group " + llvm::Twine(group) + ")");
  if (auto m = w.getDim(0).as_constant(); m && *m % group != 0)
    return fail(llvm::Twine(*m) + " output channels are not a multiple of group " +
                llvm::Twine(group));
  if (failed(check_bias(rule, op.getBias(), w.getDim(0)))) return mlir::failure();
  llvm::SmallVector<DimExpr> shape = {x.getDim(0), w.getDim(0)};
  for (size_t i = 0; i < spatial; ++i)
    shape.push_back(window_count(window, i, x.getDim(2 + i), w.getDim(2 + i), false));
  return rule.add_result(has_bytes ? DType::kI32 : x.getDtype(), shape);
}

void ConvOp::addRequestChecks(RequestChecks& checks) {
  auto group = static_cast<int64_t>(getGroup());
  CheckedDim channels = dim_of(getW(), 1);
  if (group != 1) channels.what += " times group " + std::to_string(group);
  channels.dim = channels.dim * DimExpr(group);
  checks.require_equal(dim_of(getX(), 1), channels);
  checks.require_multiple_of(dim_of(getW(), 0), group,
                             DimTrace::name(getW()) + " dim 0 is {0}, not a multiple of group {1}");
  if (getBias()) checks.require_equal(dim_of(getBias(), 0), dim_of(getW(), 0));
}

// The batch, and the output channels unless these are in groups.
ParallelAxes ConvOp::getParallelAxes() {
  ParallelAxes axes = leading_axes(*this, 1);
  if (getGroup() != 1) return axes;
  ParallelAxis channels{{ParallelAxis::kWhole, 0}, {1}};
  if (getBias()) channels.operands.push_back(0);
  axes.push_back(std::move(channels));
  return axes;
}

llvm::SmallVector<DimExpr> ConvOp::getWindowDims() {
  return llvm::to_vector(tensor_type(getW()).getShape().drop_front(2));
}

// Each result element takes one multiply-add per weight of its output channel. A multiply-add
// counts as two operations.
DimExpr ConvOp::getFlops() {
  DimExpr flops = DimExpr(2) * tensor_type(getResult()).getElementCount();
  for (DimExpr dim : tensor_type(getW()).getShape().drop_front()) flops = flops * dim;
  return flops;
}

llvm::LogicalResult BlockedConvOp::infer(TypeRule& rule, Adaptor op) {
  const TensorType x = tensor_type(op.getX()), w = tensor_type(op.getW());
  const Window window{op.getStrides(), op.getPads(), op.getDilations()};
  const auto group = static_cast<int64_t>(op.getGroup());
  auto fail = [&](const llvm::Twine& what) {
    return rule.fail(text_of(x) + " with weight " + text_of(w) + ": " + what);
  };
  const bool has_bytes = sums_bytes(x, w);
  if ((!has_bytes && failed(check_same_dtype(rule, op.getOperands()))) ||
      failed(window.check(rule, 2)) || failed(check_group(rule, group)))
    return mlir::failure();
  if (!has_bytes && x.getDtype() != DType::kF32)
    return fail("the element types must be f32, or u8 and i8");
  if (w.getRank() != 4 || !w.isStatic()) return fail("the weight must be static and have rank 4");
  if (w.getElementCount().is_constant(0)) return fail("the weight must have elements");
  const DimExpr rows = w.getDim(0), channels = w.getDim(1) * DimExpr(group);
  const bool is_narrow = has_narrow_groups(group, rows, w.getDim(1));
  if (group != 1 && !is_narrow &&
      !(mod(w.getDim(1), kChannelBlock).is_constant(0) &&
        mod(rows, kChannelBlock * group).is_constant(0)))
    return fail(
        "group is " + llvm::Twine(group) +
        ", expected 1, groups of whole blocks of channels, or groups of 1, 2, 4 or 8 channels "
        "with as many output channels");
  const auto axis = [&](unsigned i) {
    return schedule::ConvAxis{.taps = *w.getDim(2 + i).as_constant(),
                              .stride = window.strides[i],
                              .dilation = window.dilations[i]};
  };
  if (is_narrow && !schedule::is_small_window(axis(0), axis(1)))
    return fail(
        "with groups of 1, 2, 4 or 8 channels, the window must have at most 49 elements, and "
        "strides and dilations must be small");
  const bool is_blocked = x.getRank() == 5;
  const auto are = [](llvm::ArrayRef<int64_t> values, int64_t value) {
    return llvm::all_equal(values) && values.front() == value;
  };
  if (op.getWinograd() &&
      (has_bytes || !is_blocked || group != 1 || !w.getDim(2).is_constant(3) ||
       !w.getDim(3).is_constant(3) || !are(window.strides, 1) || !are(window.dilations, 1)))
    return fail(
        "winograd requires a blocked x of f32 and a window of 3x3 elements with strides, dilations "
        "and "
        "group 1");
  if (const std::optional<llvm::StringRef> text = op.getSchedule()) {
    const auto form = schedule::ConvForm::parse(*text);
    if (!form) return fail("unknown schedule \"" + *text + "\"");
    if (op.getWinograd() || is_narrow)
      return fail("schedule excludes winograd and groups of 1, 2, 4 or 8 channels");
    const int64_t blocks = *floordiv(ceildiv(rows, kChannelBlock), group).as_constant();
    const int64_t count = form->group_blocks;
    if (count == 0 || count > blocks || (group != 1 && blocks % count != 0))
      return fail("the schedule is \"" + *text + "\", expected groups of " +
                  (group == 1 ? "at most " : "a divisor of ") + llvm::Twine(blocks) + " blocks");
  }
  if (!is_blocked && x.getRank() != 4)
    return fail("x must have rank 4, or rank 5 if it is blocked");
  if (!is_blocked && group != 1) return fail("with several groups, x must be blocked");
  if (!is_blocked && has_bytes) return fail("x must be blocked if it is u8");
  if (is_blocked && !x.getDim(4).is_constant(kChannelBlock))
    return fail("the last dim of x must be " + llvm::Twine(kChannelBlock));
  if (x.getDim(1) != (is_blocked ? ceildiv(channels, kChannelBlock) : channels))
    return fail("expected " + short_text(channels) + " channels");
  llvm::SmallVector<DimExpr> shape = {x.getDim(0), ceildiv(rows, kChannelBlock)};
  for (size_t i = 0; i < 2; ++i)
    shape.push_back(window_count(window, i, x.getDim(2 + i), w.getDim(2 + i), false));
  shape.push_back(kChannelBlock);
  return rule.add_result(has_bytes ? DType::kI32 : DType::kF32, shape);
}

// The type rule decides all conditions.
void BlockedConvOp::addRequestChecks(RequestChecks&) {}

llvm::SmallVector<DimExpr> BlockedConvOp::getWindowDims() {
  return llvm::to_vector(tensor_type(getW()).getShape().drop_front(2));
}

DimExpr BlockedConvOp::getFlops() {
  DimExpr flops = DimExpr(2) * tensor_type(getResult()).getElementCount();
  for (DimExpr dim : tensor_type(getW()).getShape().drop_front()) flops = flops * dim;
  return flops;
}

llvm::LogicalResult ConvTransposeOp::infer(TypeRule& rule, Adaptor op) {
  TensorType x = tensor_type(op.getX()), w = tensor_type(op.getW());
  Window window{op.getStrides(), op.getPads(), op.getDilations()};
  const auto group = static_cast<int64_t>(op.getGroup());
  auto fail = [&](const llvm::Twine& what) {
    return rule.fail(text_of(x) + " with weight " + text_of(w) + ": " + what);
  };
  if (failed(check_same_dtype(rule, op.getOperands())) || failed(check_ranks(rule, x, w)))
    return mlir::failure();
  size_t spatial = x.getRank() - 2;
  if (failed(window.check(rule, spatial)) || failed(check_group(rule, group)))
    return mlir::failure();
  if (op.getOutputPads().size() != spatial)
    return fail("output_pads are " + text_of(op.getOutputPads()) + ", expected " +
                llvm::Twine(spatial) + (spatial == 1 ? " entry" : " entries"));
  if (!may_be_equal(x.getDim(1), w.getDim(0)))
    return fail("x has " + short_text(x.getDim(1)) + " channels, expected " +
                short_text(w.getDim(0)) + " (dim 0 of the weight)");
  if (auto channels = x.getDim(1).as_constant(); channels && *channels % group != 0)
    return fail(llvm::Twine(*channels) + " input channels are not a multiple of group " +
                llvm::Twine(group));
  const DimExpr channels = w.getDim(1) * DimExpr(group);
  if (failed(check_window(rule, "output_pads", op.getOutputPads(), 0)) ||
      failed(check_bias(rule, op.getBias(), channels)))
    return mlir::failure();
  llvm::SmallVector<DimExpr> shape = {x.getDim(0), channels};
  for (size_t i = 0; i < spatial; ++i)
    shape.push_back(
        transposed_size(window, op.getOutputPads(), i, x.getDim(2 + i), w.getDim(2 + i)));
  return rule.add_result(x.getDtype(), shape);
}

void ConvTransposeOp::addRequestChecks(RequestChecks& checks) {
  const auto group = static_cast<int64_t>(getGroup());
  checks.require_equal(dim_of(getX(), 1), dim_of(getW(), 0));
  checks.require_multiple_of(dim_of(getX(), 1), group,
                             DimTrace::name(getX()) + " dim 1 is {0}, not a multiple of group {1}");
  if (!getBias()) return;
  CheckedDim channels = dim_of(getW(), 1);
  if (group != 1) channels.what += " times group " + std::to_string(group);
  channels.dim = channels.dim * DimExpr(group);
  checks.require_equal(dim_of(getBias(), 0), channels);
}

llvm::SmallVector<DimExpr> ConvTransposeOp::getWindowDims() {
  return llvm::to_vector(tensor_type(getW()).getShape().drop_front(2));
}

// Each element of x takes one multiply-add per weight of its input channel. A multiply-add counts
// as two operations.
DimExpr ConvTransposeOp::getFlops() {
  DimExpr flops = DimExpr(2) * tensor_type(getX()).getElementCount();
  for (DimExpr dim : tensor_type(getW()).getShape().drop_front()) flops = flops * dim;
  return flops;
}

llvm::LogicalResult BlockedConvTransposeOp::infer(TypeRule& rule, Adaptor op) {
  const TensorType x = tensor_type(op.getX()), w = tensor_type(op.getW());
  constexpr int64_t kNoDilation[] = {1, 1};
  const Window window{op.getStrides(), op.getPads(), kNoDilation};
  const llvm::ArrayRef<int64_t> kernel = op.getKernel();
  auto fail = [&](const llvm::Twine& what) {
    return rule.fail(text_of(x) + " with weight " + text_of(w) + ": " + what);
  };
  if (failed(check_same_dtype(rule, op.getOperands())) || failed(window.check(rule, 2)))
    return mlir::failure();
  if (x.getDtype() != DType::kF32) return fail("the element type must be f32");
  if (kernel.size() != 2 || op.getOutputPads().size() != 2)
    return fail("expected 2 kernel dims and 2 output_pads");
  if (failed(check_window(rule, "kernel dims", kernel, 1)) ||
      failed(check_window(rule, "output_pads", op.getOutputPads(), 0)))
    return mlir::failure();
  if (x.getRank() != 5 || !x.getDim(4).is_constant(kChannelBlock))
    return fail("x must have rank 5, and its last dim must be " + llvm::Twine(kChannelBlock));
  if (w.getRank() != 4 || !w.isStatic()) return fail("the weight must be static and have rank 4");
  const int64_t rows = *w.getDim(0).as_constant();
  const int64_t phase_rows = window.strides[0] * window.strides[1] * kChannelBlock;
  if (rows % phase_rows != 0)
    return fail("expected a multiple of " + llvm::Twine(phase_rows) + " rows");
  if (x.getDim(1) != ceildiv(w.getDim(1), kChannelBlock))
    return fail("expected " + short_text(w.getDim(1)) + " channels");
  llvm::SmallVector<DimExpr> shape = {x.getDim(0), rows / phase_rows};
  for (size_t i = 0; i < 2; ++i) {
    const int64_t taps = (kernel[i] + window.strides[i] - 1) / window.strides[i];
    if (!w.getDim(2 + i).is_constant(taps))
      return fail("expected " + llvm::Twine(taps) + " taps in dim " + llvm::Twine(2 + i) +
                  " of the weight");
    if (window.pads[i] >= kernel[i]) return fail("pads must be less than the kernel dims");
    shape.push_back(transposed_size(window, op.getOutputPads(), i, x.getDim(2 + i), kernel[i]));
  }
  shape.push_back(kChannelBlock);
  return rule.add_result(x.getDtype(), shape);
}

// The type rule decides all conditions.
void BlockedConvTransposeOp::addRequestChecks(RequestChecks&) {}

llvm::SmallVector<DimExpr> BlockedConvTransposeOp::getWindowDims() {
  return {DimExpr(getKernel()[0]), DimExpr(getKernel()[1])};
}

llvm::ArrayRef<int64_t> BlockedConvTransposeOp::getDilations() {
  static constexpr int64_t kOnes[] = {1, 1};
  return kOnes;
}

// As ConvTransposeOp.
DimExpr BlockedConvTransposeOp::getFlops() {
  const TensorType x = tensor_type(getX());
  DimExpr flops = DimExpr(2) * x.getDim(0) * x.getDim(2) * x.getDim(3);
  for (DimExpr dim : tensor_type(getW()).getShape()) flops = flops * dim;
  return flops;
}

llvm::LogicalResult BlockedConcatOp::infer(TypeRule& rule, Adaptor op) {
  const mlir::ValueRange operands = op.getOperands();
  const llvm::ArrayRef<int64_t> starts = op.getStarts(), counts = op.getCounts();
  if (operands.empty()) return rule.fail("expected at least 1 operand, given 0");
  if (failed(check_same_dtype(rule, operands)) ||
      failed(rule.check_count(starts.size(), "start", operands.size(), "")) ||
      failed(rule.check_count(counts.size(), "count", operands.size(), "")))
    return mlir::failure();
  llvm::SmallVector<DimExpr> shape;
  int64_t channels = 0;
  for (auto [operand, start, count] : llvm::zip(operands, starts, counts)) {
    const TensorType x = tensor_type(operand);
    const std::optional<int64_t> blocks =
        x.getRank() == 5 ? x.getDim(1).as_constant() : std::nullopt;
    if (!blocks || *blocks > kMaxWindow || !x.getDim(4).is_constant(kChannelBlock))
      return rule.fail(text_of(x) + " is not a blocked image");
    const int64_t most = *blocks * kChannelBlock;
    if (start < 0 || count < 1 || start >= most || count > most - start)
      return rule.fail(llvm::Twine(count) + " channels from channel " + llvm::Twine(start) +
                       " on are not in " + text_of(x));
    channels += count;
    if (shape.empty()) shape.assign(x.getShape().begin(), x.getShape().end());
    for (int64_t axis : {0, 2, 3}) {
      if (!may_be_equal(shape[axis], x.getDim(axis)))
        return rule.fail("operands " + text_of(tensor_type(operands.front())) + " and " +
                         text_of(x) + " differ in dim " + llvm::Twine(axis));
      if (x.getDim(axis).is_constant()) shape[axis] = x.getDim(axis);
    }
  }
  shape[1] = ceildiv(DimExpr(channels), kChannelBlock);
  return rule.add_result(tensor_type(operands.front()).getDtype(), shape);
}

void BlockedConcatOp::addRequestChecks(RequestChecks& checks) {
  const mlir::Value first = getInputs().front();
  for (mlir::Value input : getInputs().drop_front())
    for (int64_t axis : {0, 2, 3}) checks.require_equal(dim_of(input, axis), dim_of(first, axis));
}

}  // namespace scopevm::compiler::graph
