// Which ops have blocked kernels, and a cost model. The rates are those of one core with AVX-512,
// measured by bench/kernels/conv_layers.cpp. Only their ratios matter.
#include "compiler/layouts/candidate.h"

#include <cmath>

#include "compiler/graph/convolution/window.h"
#include "compiler/graph/rewrite/placement_attributes.h"
#include "compiler/layouts/blocked.h"
#include "compiler/layouts/expand.h"
#include "compiler/placement/place.h"
#include "compiler/shapes/representative.h"
#include "vm/format/host_kind.h"

namespace scopevm::compiler::layouts {
namespace {

using graph::kChannelBlock;
using graph::TensorType;

// Images with up to this number of channels are not blocked for a convolution.
constexpr int64_t kFewChannels = 4;
// Along an axis, a transposed convolution with a larger stride is not blocked.
constexpr int64_t kMostPhases = 16;

TensorType type_of(mlir::Value value) { return mlir::cast<TensorType>(value.getType()); }

bool is_on_cpu(mlir::Operation* op, const Machine& machine) {
  const DeviceIndex device = placement::device_of(op, machine);
  const auto has_limit = [&](PoolIndex pool) { return machine.pools[pool].is_limited(); };
  return machine.devices[device].kind == format::kHostKind &&
         !has_limit(machine.workspace_pool(device)) && !has_limit(machine.global_pool(device)) &&
         !has_limit(machine.constant_pool(device));
}

bool is_constant(mlir::Value value) {
  return value.getDefiningOp<graph::ConstantOp>() && !graph::has_scope(value.getType());
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
  if (merged_groups(op) == 0) return std::nullopt;
  return Candidate{op, {op.getX()}, group == 1 && *channels <= kFewChannels};
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

std::optional<Candidate> candidate_of(graph::ReductionOp op) {
  const llvm::ArrayRef<int64_t> axes = op.getAxes();
  if (axes != llvm::ArrayRef<int64_t>({2, 3})) return std::nullopt;
  return Candidate{op, {op->getOperand(0)}, false, op.getKeepDims()};
}

std::optional<Candidate> candidate_of(graph::ConcatOp op) {
  if (op.getAxis() != 1) return std::nullopt;
  for (mlir::Value input : op.getInputs())
    if (image_channels(input.getType()).value_or(1) % kChannelBlock != 0) return std::nullopt;
  return Candidate{op, llvm::SmallVector<mlir::Value, 2>(op.getInputs())};
}

std::optional<Candidate> candidate_of(graph::ResizeOp op) {
  const TensorType x = type_of(op.getX());
  if (!image_channels(x) || x.getDim(1) != type_of(op.getResult()).getDim(1) ||
      (!op.getScales().empty() && op.getScales()[1] != 1))
    return std::nullopt;
  return Candidate{op, {op.getX()}};
}

// Slices of whole blocks.
std::optional<Candidate> candidate_of(graph::SliceOp op) {
  const TensorType x = type_of(op.getX()), result = type_of(op.getResult());
  const std::optional<int64_t> channels = image_channels(x), taken = image_channels(result);
  const std::optional<int64_t> first = op.getStarts().getValue()[1].as_constant();
  if (!channels || !first || op.getSteps()[1] != 1) return std::nullopt;
  const bool is_whole = *first == 0 && channels == taken;
  if (!is_whole && (*first % kChannelBlock != 0 || *taken % kChannelBlock != 0))
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

// One group per channel.
bool is_depthwise(graph::ConvOp op) {
  const TensorType w = type_of(op.getW());
  return w.getDim(0).is_constant(static_cast<int64_t>(op.getGroup())) && w.getDim(1).is_constant(1);
}

// --- Cost. ---

// Multiply-adds per second.
constexpr double kPeak = 70e9;
// Bytes per second of copies and conversions, including the reads.
constexpr double kCopyRate = 8e9;

double positions_of(TensorType image) { return representative(image.getDim(2) * image.getDim(3)); }

// The elements of a blocked image, divided by those of the image.
double growth(TensorType image) {
  const auto channels = static_cast<double>(*image.getDim(1).as_constant());
  return std::ceil(channels / kChannelBlock) * kChannelBlock / channels;
}

Times times_of_conv(graph::ConvOp op, bool reads_plain) {
  const TensorType x = type_of(op.getX()), result = type_of(op.getResult());
  const double work = representative(op.getFlops()) / 2 / kPeak;
  const bool is_strided = op.getStrides()[0] > 1;
  if (is_depthwise(op)) {
    const bool is_small = positions_of(result) < 400;
    const double plain = is_strided ? (is_small ? 0.12 : 0.22) : is_small ? 0.3 : 0.55;
    return {work / plain, work * growth(result) / (is_strided ? 0.6 : 0.88)};
  }
  if (op.getGroup() != 1) {
    // Tiles by channel have 12 rows. Merged groups multiply by zeros.
    const auto rows = static_cast<double>(*result.getDim(1).as_constant() / op.getGroup());
    const auto merged = static_cast<double>(merged_groups(op));
    return {work / (0.75 * std::min(1.0, rows / 12)), work * merged / 0.9};
  }
  const double blocked = work * growth(result);
  if (reads_plain) return {work / 0.5, blocked / 0.65};
  if (positions_of(result) <= 1) return {work / 0.1, blocked * growth(x) / 0.45};
  return {work / 0.78, blocked * growth(x) / 0.93};
}

Times times_of_conv(graph::ConvTransposeOp op) {
  const TensorType x = type_of(op.getX()), result = type_of(op.getResult());
  const double work = representative(op.getFlops()) / 2 / kPeak;
  const double blocked = work * growth(x) * growth(result) / 0.85;
  if (!is_disjoint(op)) return {work / 0.01, blocked};
  return {work / 0.6 + conversion_seconds(result), blocked};
}

}  // namespace

int64_t merged_groups(graph::ConvOp op) {
  const auto group = static_cast<int64_t>(op.getGroup());
  if (group == 1 || is_depthwise(op)) return 1;
  const TensorType w = type_of(op.getW());
  const int64_t channels = *w.getDim(1).as_constant(), rows = *w.getDim(0).as_constant() / group;
  if (channels == 0) return 0;
  const int64_t merged = channels % kChannelBlock == 0 ? 1 : kChannelBlock / channels;
  const bool is_whole = channels * merged % kChannelBlock == 0 &&
                        rows * merged % kChannelBlock == 0 && group % merged == 0;
  return merged > 0 && is_whole ? merged : 0;
}

std::optional<Candidate> candidate(mlir::Operation* op, const Machine& machine) {
  if (op->getNumResults() != 1 || graph::has_placement_attributes(op) ||
      op->hasAttr(graph::kLocalAttribute) || !is_on_cpu(op, machine))
    return std::nullopt;
  std::optional<Candidate> found;
  if (auto reduction = mlir::dyn_cast<graph::ReductionOp>(op)) {
    if (!image_channels(op->getOperand(0).getType()) ||
        type_of(op->getResult(0)).getDtype() != DType::kF32)
      return std::nullopt;
    return candidate_of(reduction);
  }
  // One channel cannot be distinguished from an operand that is the same for all channels.
  if (image_channels(op->getResult(0).getType()).value_or(1) == 1) return std::nullopt;
  if (auto conv = mlir::dyn_cast<graph::ConvOp>(op)) return candidate_of(conv);
  if (auto conv = mlir::dyn_cast<graph::ConvTransposeOp>(op)) return candidate_of(conv);
  if (auto elementwise = mlir::dyn_cast<graph::ElementwiseOp>(op)) return candidate_of(elementwise);
  if (auto concat = mlir::dyn_cast<graph::ConcatOp>(op)) return candidate_of(concat);
  if (auto resize = mlir::dyn_cast<graph::ResizeOp>(op)) return candidate_of(resize);
  if (auto slice = mlir::dyn_cast<graph::SliceOp>(op)) return candidate_of(slice);
  if (auto pad = mlir::dyn_cast<graph::PadOp>(op)) return candidate_of(pad);
  if (mlir::isa<graph::MaxPoolOp, graph::AveragePoolOp>(op))
    return Candidate{op, {op->getOperand(0)}};
  return std::nullopt;
}

Times times_of(const Candidate& candidate) {
  mlir::Operation* op = candidate.op;
  if (auto conv = mlir::dyn_cast<graph::ConvOp>(op))
    return times_of_conv(conv, candidate.reads_plain);
  if (auto conv = mlir::dyn_cast<graph::ConvTransposeOp>(op)) return times_of_conv(conv);
  // Memory-bound ops, which mostly become part of a convolution.
  constexpr double kRate = 40e9;
  const TensorType image = type_of(candidate.images.front());
  const double plain = representative(image.getElementCount()) * sizeof(float) / kRate;
  return {plain, plain * growth(image)};
}

double conversion_seconds(TensorType image) {
  // A view, if there is no padding.
  if (is_pixel(image) && image.getDim(1).as_constant().value_or(1) % kChannelBlock == 0) return 0;
  return representative(image.getElementCount()) * 2 * sizeof(float) * growth(image) / kCopyRate;
}

}  // namespace scopevm::compiler::layouts
