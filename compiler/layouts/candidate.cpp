// Which ops have blocked kernels, and a cost model. The rates are those of one core with AVX-512,
// measured by bench/kernels/conv_layers.cpp. Only their ratios matter.
#include "compiler/layouts/candidate.h"

#include <cmath>

#include "compiler/graph/convolution/window.h"
#include "compiler/graph/rewrite/placement_attributes.h"
#include "compiler/layouts/blocked/blocked.h"
#include "compiler/layouts/by_channel/expand.h"
#include "compiler/placement/place.h"
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
  return machine.devices[placement::device_of(op, machine)].kind == format::kHostKind;
}

bool is_constant(mlir::Value value) {
  return value.getDefiningOp<graph::ConstantOp>() && !graph::has_scope(value.getType());
}

bool has_narrow_groups(graph::ConvOp op) {
  const TensorType w = type_of(op.getW());
  return graph::has_narrow_groups(static_cast<int64_t>(op.getGroup()), w.getDim(0), w.getDim(1)) &&
         graph::is_small_window({op.getStrides(), op.getPads(), op.getDilations()},
                                w.getShape().drop_front(2));
}

// Whether the kernel's copy of x is small: it has the rows of x that one row of the result needs,
// and is stored for each worker. The kernels of narrow groups do not copy x.
bool has_small_parts(graph::ConvOp op) {
  const TensorType x = type_of(op.getX()), w = type_of(op.getW()), result = type_of(op.getResult());
  const graph::Window window{op.getStrides(), op.getPads(), op.getDilations()};
  if (has_narrow_groups(op)) return true;
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
  if (merged_groups(op) == 0 || w.getElementCount().is_constant(0) || !has_small_parts(op))
    return std::nullopt;
  return Candidate{op,
                   {op.getX()},
                   group == 1 && *channels <= kFewChannels,
                   /*has_blocked_result=*/pixels_per_block(op) == 1};
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

// --- Cost. ---

// Multiply-adds per second.
constexpr double kPeak = 70e9;
// Bytes per second of conversions, including the reads: those of up to 3 MB are faster, and larger
// ones slower.
constexpr double kCopyRate = 24e9;

double positions_of(TensorType image, const DimValues& known) {
  return representative(image.getDim(2) * image.getDim(3), known);
}

// The elements of a blocked image, divided by those of the image.
double growth(TensorType image) {
  const auto channels = static_cast<double>(*image.getDim(1).as_constant());
  return std::ceil(channels / kChannelBlock) * kChannelBlock / channels;
}

bool is_pointwise(TensorType w) { return w.getDim(2).is_constant(1) && w.getDim(3).is_constant(1); }

// The time of a convolution by channel with one group, divided by that of its multiply-adds at the
// peak. All rows of the weights share the time of unfolding the image, which is longer if the lines
// of x that a window covers are not in L1, or if the elements of a row of windows are not adjacent.
double plain_factor(graph::ConvOp op, const DimValues& known) {
  const TensorType x = type_of(op.getX()), w = type_of(op.getW());
  const auto rows = static_cast<double>(*w.getDim(0).as_constant());
  if (is_pointwise(w)) return 1 / 0.8 + 5 / rows;
  constexpr double kL1 = 32 << 10;
  const double lines =
      representative(x.getDim(1) * x.getDim(3) * w.getDim(2), known) * sizeof(float);
  const double unfolding = op.getStrides()[1] > 1 ? 9 : lines > kL1 ? 7.5 : 4;
  return 1 / 0.87 + unfolding / rows;
}

// The part of the multiply-adds that is left if those with padding are omitted, for small pads.
double without_padding(graph::ConvOp op, const DimValues& known) {
  const TensorType w = type_of(op.getW()), result = type_of(op.getResult());
  double part = 1;
  for (size_t axis = 0; axis < 2; ++axis) {
    const double taps = representative(w.getDim(2 + axis) * result.getDim(2 + axis), known);
    // With stride 1, the first window has `pad` taps in the padding, the second one fewer, and so
    // on.
    for (const size_t side : {axis, 2 + axis}) {
      const auto pad = static_cast<double>(op.getPads()[side]);
      part -= pad * (pad + 1) / 2 / static_cast<double>(op.getStrides()[axis]) / taps;
    }
  }
  return std::max(part, 0.25);
}

Times times_of_conv(graph::ConvOp op, bool reads_plain, const DimValues& known) {
  const TensorType x = type_of(op.getX()), result = type_of(op.getResult());
  const double work = representative(op.getFlops(), known) / 2 / kPeak;
  const bool is_strided = op.getStrides()[0] > 1;
  if (op.getGroup() != 1) {
    // Tiles by channel have 12 rows. Merged groups multiply by zeros.
    const auto rows =
        static_cast<double>(*result.getDim(1).as_constant()) / static_cast<double>(op.getGroup());
    const bool is_small = positions_of(result, known) < 400;
    double plain = 0.75 * std::min(1.0, rows / 12);
    if (rows == 1) plain = is_strided ? (is_small ? 0.12 : 0.22) : is_small ? 0.3 : 0.55;
    if (has_narrow_groups(op))
      return {work / plain, work * growth(result) / (is_strided ? 0.6 : rows == 1 ? 0.88 : 0.7)};
    return {work / plain, work * static_cast<double>(merged_groups(op)) / 0.9};
  }
  if (const int64_t pixels = pixels_per_block(op); pixels > 1) {
    // The windows of a block cover those of its pixels.
    const auto width = static_cast<double>(*type_of(op.getW()).getDim(3).as_constant());
    const double covered = (width + static_cast<double>((pixels - 1) * op.getStrides()[1])) / width;
    const double used = static_cast<double>(*result.getDim(1).as_constant() * pixels) / 16;
    return {work * plain_factor(op, known),
            work * growth(x) * covered / used / 0.85 + conversion_seconds(result, known)};
  }
  const TensorType w = type_of(op.getW());
  const auto rows = static_cast<double>(*w.getDim(0).as_constant());
  constexpr double kHalfBlock = 0.5 * kChannelBlock;
  const double blocked = work * (graph::has_half_block(*w.getDim(0).as_constant(), is_pointwise(w))
                                     ? std::ceil(rows / kHalfBlock) * kHalfBlock / rows
                                     : growth(result));
  if (reads_plain) return {work / 0.45, blocked / 0.8};
  if (positions_of(result, known) <= 1) return {work / 0.1, blocked * growth(x) / 0.45};
  const bool omits_padding =
      !is_pointwise(w) &&
      graph::omits_padding(result.getDim(3), *w.getDim(3).as_constant(), op.getStrides()[1],
                           op.getPads()[1] + op.getPads()[3], /*is_blocked=*/true);
  return {work * plain_factor(op, known),
          blocked * (omits_padding ? without_padding(op, known) : 1) / 0.93};
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

// Whether Winograd's algorithm is faster: the transformations amortise over the channels, and the
// transformed weights, 4 times as many, over the blocks of an image.
bool gains_by_winograd(graph::ConvOp op) {
  const TensorType w = type_of(op.getW()), result = type_of(op.getResult());
  constexpr int64_t kLeastChannels = 32;
  constexpr double kLeastBlocks = 12;
  const double blocks = representative(ceildiv(result.getDim(2), 4) * ceildiv(result.getDim(3), 4));
  return *w.getDim(0).as_constant() >= kLeastChannels &&
         *w.getDim(1).as_constant() >= kLeastChannels && blocks >= kLeastBlocks;
}

// The first form is the estimated best one. The others include all numbers of channel blocks that
// kernels choose from: the one that equals the first form has the same kernel.
llvm::SmallVector<ConvForm, 1> forms_of(graph::ConvOp op, const Candidate& candidate,
                                        bool fast_conv) {
  const bool can_be_winograd = fast_conv && can_use_winograd(op, candidate);
  llvm::SmallVector<ConvForm, 1> forms = {
      {.is_winograd = can_be_winograd && gains_by_winograd(op)}};
  if (can_be_winograd) forms.push_back({.is_winograd = !forms.front().is_winograd});
  const TensorType w = type_of(op.getW());
  const int64_t rows = *w.getDim(0).as_constant();
  if (has_narrow_groups(op) || !candidate.has_blocked_result ||
      (op.getGroup() == 1 && graph::has_half_block(rows, is_pointwise(w))))
    return forms;
  const int64_t groups = static_cast<int64_t>(op.getGroup()) / merged_groups(op);
  const int64_t blocks = (rows + kChannelBlock - 1) / kChannelBlock / groups;
  if (blocks == 1) return forms;
  for (const int64_t count : {1, 2, 3, 4})
    // Of 3 and 4, the larger one: each form takes time to measure.
    if (blocks % count == 0 && (count != 3 || blocks % 4 != 0))
      forms.push_back({.group_blocks = count});
  return forms;
}

Times times_of_conv(graph::ConvTransposeOp op, const DimValues& known) {
  const TensorType x = type_of(op.getX()), result = type_of(op.getResult());
  const double work = representative(op.getFlops(), known) / 2 / kPeak;
  const double blocked = work * growth(x) * growth(result) / 0.85;
  if (!is_disjoint(op)) return {work / 0.01, blocked};
  return {work / 0.6 + conversion_seconds(result, known), blocked};
}

// The candidate, without the conditions on devices and scopes.
std::optional<Candidate> unplaced_candidate(mlir::Operation* op, bool fast_conv) {
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
    found->forms = forms_of(conv, *found, fast_conv);
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

std::string ConvForm::name() const {
  if (is_winograd) return "winograd";
  if (group_blocks == 0) return "direct";
  return "direct in groups of " + std::to_string(group_blocks) +
         (group_blocks == 1 ? " block" : " blocks");
}

int64_t merged_groups(graph::ConvOp op) {
  const auto group = static_cast<int64_t>(op.getGroup());
  if (group == 1 || has_narrow_groups(op)) return 1;
  const TensorType w = type_of(op.getW());
  const int64_t channels = *w.getDim(1).as_constant(), rows = *w.getDim(0).as_constant() / group;
  // One group per channel, with a large window: most products would be with zeros.
  if (channels == 0 || (channels == 1 && rows == 1)) return 0;
  const int64_t merged = channels % kChannelBlock == 0 ? 1 : kChannelBlock / channels;
  if (merged == 0) return 0;
  const bool is_whole = channels * merged % kChannelBlock == 0 &&
                        rows * merged % kChannelBlock == 0 && group % merged == 0;
  return is_whole ? merged : 0;
}

int64_t pixels_per_block(graph::ConvOp op) {
  const TensorType w = type_of(op.getW());
  const int64_t rows = *w.getDim(0).as_constant(), width = *w.getDim(3).as_constant();
  // For narrower windows, most of the work of a block would be products with zeros.
  constexpr int64_t kLeastWidth = 3, kMostStride = 4;
  if (op.getGroup() != 1 || op.getDilations()[1] != 1 || width < kLeastWidth || rows == 0 ||
      op.getStrides()[1] > kMostStride)
    return 1;
  return std::max<int64_t>(kChannelBlock / rows, 1);
}

bool may_grow(mlir::Operation* op, const Machine& machine) {
  const DeviceIndex device = placement::device_of(op, machine);
  return llvm::none_of(std::array{machine.workspace_pool(device), machine.global_pool(device),
                                  machine.constant_pool(device)},
                       [&](PoolIndex pool) { return machine.pools[pool].is_limited(); });
}

std::optional<Candidate> candidate(mlir::Operation* op, const Machine& machine, bool fast_conv) {
  if (op->getNumResults() != 1 || graph::has_placement_attributes(op) ||
      op->hasAttr(graph::kLocalAttribute) || graph::has_scope(op->getResult(0).getType()) ||
      !is_on_cpu(op, machine) || !may_grow(op, machine))
    return std::nullopt;
  std::optional<Candidate> found = unplaced_candidate(op, fast_conv);
  if (found &&
      llvm::any_of(found->images, [](mlir::Value x) { return graph::has_scope(x.getType()); }))
    return std::nullopt;
  return found;
}

Times times_of(const Candidate& candidate, const DimValues& known) {
  mlir::Operation* op = candidate.op;
  if (auto conv = mlir::dyn_cast<graph::ConvOp>(op)) {
    Times times = times_of_conv(conv, candidate.reads_plain, known);
    // Measured; a quarter of the multiplications are left.
    constexpr double kWinograd = 0.4;
    if (candidate.forms.front().is_winograd) times.blocked *= kWinograd;
    return times;
  }
  if (auto conv = mlir::dyn_cast<graph::ConvTransposeOp>(op)) return times_of_conv(conv, known);
  // Memory-bound ops, which mostly become part of a convolution.
  constexpr double kRate = 40e9;
  const TensorType image = type_of(candidate.images.front());
  const double plain = representative(image.getElementCount(), known) * sizeof(float) / kRate;
  return {plain, plain * growth(image)};
}

double conversion_seconds(TensorType image, const DimValues& known) {
  // A view, if there is no padding.
  if (is_pixel(image) && image.getDim(1).as_constant().value_or(1) % kChannelBlock == 0) return 0;
  return representative(image.getElementCount(), known) * 2 * sizeof(float) * growth(image) /
         kCopyRate;
}

}  // namespace scopevm::compiler::layouts
