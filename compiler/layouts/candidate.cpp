// Which ops have blocked kernels, and their times by the cost model of schedules.
#include "compiler/layouts/candidate.h"

#include "compiler/graph/convolution/window.h"
#include "compiler/graph/rewrite/placement_attributes.h"
#include "compiler/layouts/blocked/blocked.h"
#include "compiler/layouts/by_channel/expand.h"
#include "compiler/layouts/conv_problem.h"
#include "compiler/layouts/layouts.h"
#include "compiler/placement/place.h"
#include "vm/format/schema/host_kind.h"

namespace scopevm::compiler::layouts {
namespace {

using graph::kChannelBlock;
using graph::TensorType;
using graph::type_of;

// Images with up to this number of channels are not blocked for a convolution.
constexpr int64_t kFewChannels = 4;
// Along an axis, a transposed convolution with a larger stride is not blocked.
constexpr int64_t kMostPhases = 16;

bool is_on_cpu(mlir::Operation* op, const Machine& machine) {
  return machine.devices[placement::device_of(op, machine)].kind == format::kHostKind;
}

bool is_constant(mlir::Value value) {
  return value.getDefiningOp<graph::ConstantOp>() && !graph::has_scope(value.getType());
}

// Whether the kernel's copy of x is small: it has the rows of x that one row of the result needs,
// and is stored for each worker. The kernels of narrow groups do not copy x.
bool has_small_parts(graph::ConvOp op) {
  const TensorType x = type_of(op.getX()), w = type_of(op.getW()), result = type_of(op.getResult());
  const graph::Window window{op.getStrides(), op.getPads(), op.getDilations()};
  if (problem_of(op).has_narrow_groups()) return true;
  const auto span = [&](size_t axis, DimExpr count) {
    return (count - 1) * DimExpr(window.strides[axis]) +
           (w.getDim(2 + axis) - 1) * DimExpr(window.dilations[axis]) + 1;
  };
  constexpr double kMostElements = 1 << 20;
  const DimExpr line = x.getDim(1) * span(1, result.getDim(3));
  if (representative(line * span(0, 1)) > kMostElements) return false;
  // An image with one row is not divided: its length must be known.
  constexpr double kMostLine = 1 << 16;
  return !result.getDim(2).is_constant(1) || w.getDim(3).is_constant(1) ||
         (line.is_constant() && representative(line) <= kMostLine);
}

std::optional<Candidate> candidate_of(graph::ConvOp op) {
  const TensorType w = type_of(op.getW());
  const std::optional<int64_t> channels = image_channels(op.getX().getType());
  if (!channels || !is_constant(op.getW()) || !w.isStatic() ||
      (op.getBias() && !is_constant(op.getBias())))
    return std::nullopt;
  const auto group = static_cast<int64_t>(op.getGroup());
  // Other dims would not match those of the weights.
  if (!(w.getDim(1) * DimExpr(group)).is_constant(*channels)) return std::nullopt;
  const schedule::ConvProblem problem = problem_of(op);
  if (schedule::merged_groups(problem) == 0 || w.getElementCount().is_constant(0) ||
      !has_small_parts(op))
    return std::nullopt;
  return Candidate{op,
                   {op.getX()},
                   group == 1 && *channels <= kFewChannels,
                   /*has_blocked_result=*/schedule::pixels_per_block(problem) == 1};
}

std::optional<Candidate> candidate_of(graph::ConvTransposeOp op) {
  const TensorType w = type_of(op.getW());
  const std::optional<int64_t> channels = image_channels(op.getX().getType());
  if (!channels || !is_constant(op.getW()) || !w.isStatic() ||
      !w.getDim(0).is_constant(*channels) || op.getGroup() != 1 ||
      (op.getBias() && !is_constant(op.getBias())))
    return std::nullopt;
  for (int64_t axis : {0, 1})
    if (op.getDilations()[axis] != 1 || op.getStrides()[axis] > kMostPhases ||
        *w.getDim(2 + axis).as_constant() <= op.getPads()[axis])
      return std::nullopt;
  return Candidate{op, {op.getX()}};
}

std::optional<Candidate> candidate_of(graph::ElementwiseOp op) {
  const TensorType image = type_of(op->getResult(0));
  Candidate candidate{op};
  for (mlir::Value operand : op->getOperands()) {
    const Operand kind = operand_kind(operand, image);
    if (kind == Operand::kOther) return std::nullopt;
    if (kind == Operand::kImage) candidate.images.push_back(operand);
  }
  if (candidate.images.empty()) return std::nullopt;
  return candidate;
}

// Reductions of all pixels or of all channels. One value per pixel has the same order of elements
// in both layouts.
std::optional<Candidate> candidate_of(graph::ReductionOp op) {
  const llvm::ArrayRef<int64_t> axes = op.getAxes();
  if (axes == llvm::ArrayRef<int64_t>({2, 3}))
    return Candidate{op, {op->getOperand(0)}, false, op.getKeepDims()};
  if (axes != llvm::ArrayRef<int64_t>({1})) return std::nullopt;
  return Candidate{op, {op->getOperand(0)}, false, /*has_blocked_result=*/false};
}

std::optional<Candidate> candidate_of(graph::ConcatOp op) {
  if (op.getAxis() != 1) return std::nullopt;
  for (mlir::Value input : op.getInputs())
    if (image_channels(input.getType()).value_or(INT64_MAX) > graph::kMaxWindow)
      return std::nullopt;
  return Candidate{op, llvm::SmallVector<mlir::Value, 2>(op.getInputs())};
}

std::optional<Candidate> candidate_of(graph::ResizeOp op) {
  const TensorType x = type_of(op.getX());
  if (!image_channels(x) || x.getDim(1) != type_of(op.getResult()).getDim(1) ||
      (!op.getScales().empty() && op.getScales()[1] != 1))
    return std::nullopt;
  return Candidate{op, {op.getX()}};
}

// Slices of adjacent channels.
std::optional<Candidate> candidate_of(graph::SliceOp op) {
  const std::optional<int64_t> channels = image_channels(op.getX().getType());
  const std::optional<int64_t> taken = image_channels(op.getResult().getType());
  const std::optional<int64_t> first = op.getStarts().getValue()[1].as_constant();
  if (!channels || !taken || !first || op.getSteps()[1] != 1 || *channels > graph::kMaxWindow)
    return std::nullopt;
  return Candidate{op, {op.getX()}};
}

// Padding of the spatial axes.
std::optional<Candidate> candidate_of(graph::PadOp op) {
  const llvm::ArrayRef<DimExpr> pads = op.getPads().getValue();
  if (!image_channels(op.getX().getType()) || !pads[1].is_constant(0) || !pads[5].is_constant(0))
    return std::nullopt;
  return Candidate{op, {op.getX()}};
}

bool can_use_winograd(graph::ConvOp op, const Candidate& candidate) {
  const TensorType w = type_of(op.getW());
  const auto are_ones = [](llvm::ArrayRef<int64_t> values) {
    return llvm::all_of(values, [](int64_t value) { return value == 1; });
  };
  return !candidate.reads_plain && candidate.has_blocked_result && op.getGroup() == 1 &&
         w.getDim(2).is_constant(3) && w.getDim(3).is_constant(3) && are_ones(op.getStrides()) &&
         are_ones(op.getDilations());
}

// The blocked convolution, whose adjacent groups can be merged. REQUIRES: the result is blocked.
schedule::ConvProblem blocked_problem(graph::ConvOp op, bool reads_plain) {
  schedule::ConvProblem problem = problem_of(op);
  const int64_t merged = schedule::merged_groups(problem);
  problem.groups /= merged;
  problem.channels *= merged;
  problem.is_blocked = !reads_plain;
  return problem;
}

llvm::SmallVector<schedule::ConvForm, 1> forms_of(graph::ConvOp op, const Candidate& candidate,
                                                  const Options& options) {
  if (!candidate.has_blocked_result) return {schedule::ConvForm()};
  const auto forms = schedule::conv_forms(blocked_problem(op, candidate.reads_plain), *options.core,
                                          options.fast_conv && can_use_winograd(op, candidate));
  return {forms.begin(), forms.end()};
}

// The candidate, without the conditions on devices and scopes.
std::optional<Candidate> unplaced_candidate(mlir::Operation* op, const Options& options) {
  if (auto reduction = mlir::dyn_cast<graph::ReductionOp>(op)) {
    if (!image_channels(op->getOperand(0).getType()) ||
        type_of(op->getResult(0)).getDtype() != DType::kF32)
      return std::nullopt;
    return candidate_of(reduction);
  }
  const std::optional<int64_t> channels = elementwise_channels(op->getResult(0).getType());
  auto elementwise = mlir::dyn_cast<graph::ElementwiseOp>(op);
  if (!channels || (!elementwise && !image_channels(op->getResult(0).getType())))
    return std::nullopt;
  if (auto conv = mlir::dyn_cast<graph::ConvOp>(op)) {
    std::optional<Candidate> found = candidate_of(conv);
    if (!found || (*channels == 1 && found->has_blocked_result)) return std::nullopt;
    found->forms = forms_of(conv, *found, options);
    return found;
  }
  // One channel cannot be distinguished from an operand that is the same for all channels.
  if (*channels == 1) return std::nullopt;
  if (auto conv = mlir::dyn_cast<graph::ConvTransposeOp>(op)) return candidate_of(conv);
  if (elementwise) return candidate_of(elementwise);
  if (auto concat = mlir::dyn_cast<graph::ConcatOp>(op)) return candidate_of(concat);
  if (auto resize = mlir::dyn_cast<graph::ResizeOp>(op)) return candidate_of(resize);
  if (auto slice = mlir::dyn_cast<graph::SliceOp>(op)) return candidate_of(slice);
  if (auto pad = mlir::dyn_cast<graph::PadOp>(op)) return candidate_of(pad);
  if (mlir::isa<graph::MaxPoolOp, graph::AveragePoolOp, graph::SoftmaxOp, graph::LogSoftmaxOp>(op))
    return Candidate{op, {op->getOperand(0)}};
  return std::nullopt;
}

}  // namespace

bool may_grow(mlir::Operation* op, const Machine& machine) {
  const DeviceIndex device = placement::device_of(op, machine);
  return llvm::none_of(std::array{machine.workspace_pool(device), machine.global_pool(device),
                                  machine.constant_pool(device)},
                       [&](PoolIndex pool) { return machine.pools[pool].is_limited(); });
}

std::optional<Candidate> candidate(mlir::Operation* op, const Machine& machine,
                                   const Options& options) {
  if (op->getNumResults() != 1 || graph::has_placement_attributes(op) ||
      op->hasAttr(graph::kLocalAttribute) || graph::has_scope(op->getResult(0).getType()) ||
      !is_on_cpu(op, machine) || !may_grow(op, machine))
    return std::nullopt;
  std::optional<Candidate> found = unplaced_candidate(op, options);
  if (found &&
      llvm::any_of(found->images, [](mlir::Value x) { return graph::has_scope(x.getType()); }))
    return std::nullopt;
  return found;
}

Times times_of(const Candidate& candidate, const schedule::Core& core, const DimValues& known) {
  mlir::Operation* op = candidate.op;
  const auto work_of = [&](auto conv, bool is_disjoint) {
    return schedule::ConvWork{
        .problem = problem_of(conv, known),
        .multiply_adds = representative(conv.getFlops(), known) / 2,
        .result_conversion = conversion_seconds(type_of(conv.getResult()), core, known),
        .is_disjoint = is_disjoint,
        .algorithm = candidate.forms.front().algorithm};
  };
  if (auto conv = mlir::dyn_cast<graph::ConvOp>(op)) {
    schedule::ConvWork work = work_of(conv, false);
    work.problem.is_blocked = !candidate.reads_plain;
    return schedule::conv_times(work, core);
  }
  if (auto conv = mlir::dyn_cast<graph::ConvTransposeOp>(op))
    return schedule::conv_times(work_of(conv, is_disjoint(conv)), core);
  // Memory-bound ops, which mostly become part of a convolution.
  const TensorType image = type_of(candidate.images.front());
  return schedule::image_op_times(representative(image.getElementCount(), known),
                                  *image.getDim(1).as_constant(), core);
}

std::string schedule_text(const Candidate& candidate, size_t form, const schedule::Core& core) {
  auto conv = mlir::dyn_cast<graph::ConvOp>(candidate.op);
  if (!conv || !candidate.has_blocked_result) return "";
  const schedule::ConvProblem problem = blocked_problem(conv, candidate.reads_plain);
  return problem.has_narrow_groups() ? ""
                                     : choose_conv(problem, core, candidate.forms[form]).text();
}

double conversion_seconds(TensorType image, const schedule::Core& core, const DimValues& known) {
  const int64_t channels = image.getDim(1).as_constant().value_or(1);
  // A view, if there is no padding.
  if (is_pixel(image) && channels % kChannelBlock == 0) return 0;
  return schedule::conversion_seconds(representative(image.getElementCount(), known), channels,
                                      core);
}

}  // namespace scopevm::compiler::layouts
