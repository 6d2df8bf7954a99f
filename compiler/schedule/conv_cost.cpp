// The cost model of convolutions. The rates of a core (core.h) are fitted to measurements of
// bench/kernels/conv_layers.cpp and conv_sweep.cpp.
#include "compiler/schedule/conv_cost.h"

#include <algorithm>
#include <cmath>

namespace scopevm::compiler::schedule {
namespace {

// The time of a convolution by channel with one group, divided by that of its multiply-adds at the
// peak. All rows of the weights share the time of unfolding the image, which is longer if the lines
// of x that a window covers are not in L1, or if the elements of a row of windows are not adjacent.
double by_channel_factor(const ConvProblem& problem, const ConvRates& rates) {
  const auto rows = static_cast<double>(problem.out_channels);
  if (problem.axes[0].taps == 1 && problem.axes[1].taps == 1)
    return 1 / rates.by_channel_pointwise + rates.read_pointwise / rows;
  constexpr double kL1 = 32 << 10;
  const double lines = static_cast<double>(problem.channels * problem.axes[0].taps) *
                       problem.axes[1].size.typical * sizeof(float);
  const double unfolding = problem.axes[1].stride > 1 ? rates.unfold_strided
                           : lines > kL1              ? rates.unfold_large
                                                      : rates.unfold;
  return 1 / rates.by_channel + unfolding / rows;
}

// The part of the multiply-adds that is left if those with padding are omitted, for small pads.
double without_padding(const ConvProblem& problem) {
  double part = 1;
  for (const ConvAxis& axis : problem.axes) {
    const double taps = static_cast<double>(axis.taps) * axis.out.typical;
    // With stride 1, the first window has `pad` taps in the padding, the second one fewer, and so
    // on.
    for (const int64_t side : {axis.pad, axis.pad_after}) {
      const auto pad = static_cast<double>(side);
      part -= pad * (pad + 1) / 2 / static_cast<double>(axis.stride) / taps;
    }
  }
  return std::max(part, 0.25);
}

double positions(const ConvProblem& problem) {
  return problem.axes[0].out.typical * problem.axes[1].out.typical;
}

LayoutTimes times_of_groups(const ConvProblem& problem, double peak, const ConvRates& rates) {
  // Tiles by channel have 12 rows. Merged groups multiply by zeros.
  constexpr double kSmallImage = 400;
  const auto rows = static_cast<double>(problem.out_channels) / static_cast<double>(problem.groups);
  const bool is_strided = problem.axes[0].stride > 1;
  double by_channel = rates.by_channel_groups * std::min(1.0, rows / 12);
  if (rows == 1) {
    const auto [large, small] =
        is_strided ? rates.by_channel_depthwise_strided : rates.by_channel_depthwise;
    by_channel = positions(problem) < kSmallImage ? small : large;
  }
  if (!problem.has_narrow_groups())
    return {peak / by_channel,
            peak * static_cast<double>(merged_groups(problem)) / rates.merged_groups};
  const double narrow = is_strided  ? rates.depthwise_strided
                        : rows == 1 ? rates.depthwise
                                    : rates.narrow_groups;
  return {peak / by_channel, peak * blocked_growth(problem.out_channels) / narrow};
}

// A block of the result has the channels of several pixels: their windows cover more columns.
LayoutTimes times_of_columns(const ConvWork& work, int64_t pixels, double peak,
                             const ConvRates& rates) {
  const ConvProblem& problem = work.problem;
  const auto width = static_cast<double>(problem.axes[1].taps);
  const double covered =
      (width + static_cast<double>((pixels - 1) * problem.axes[1].stride)) / width;
  const double used = static_cast<double>(problem.out_channels * pixels) / kChannelBlock;
  return {peak * by_channel_factor(problem, rates),
          peak * blocked_growth(problem.channels) * covered / used / rates.pixel_columns +
              work.result_conversion};
}

}  // namespace

double blocked_growth(int64_t channels) {
  const auto count = static_cast<double>(channels);
  return std::ceil(count / kChannelBlock) * kChannelBlock / count;
}

LayoutTimes conv_times(const ConvWork& work, const Core& core) {
  const ConvProblem& problem = work.problem;
  const ConvRates& rates = core.conv;
  const double peak = work.multiply_adds / core.multiply_adds();
  if (problem.is_transposed) {
    const double blocked = peak * blocked_growth(problem.channels) *
                           blocked_growth(problem.out_channels) / rates.transposed;
    if (!work.is_disjoint) return {peak / rates.by_channel_transposed, blocked};
    return {peak / rates.by_channel_disjoint + work.result_conversion, blocked};
  }
  if (problem.groups != 1) return times_of_groups(problem, peak, rates);
  if (const int64_t pixels = pixels_per_block(problem); pixels > 1)
    return times_of_columns(work, pixels, peak, rates);
  constexpr double kHalfBlock = 0.5 * kChannelBlock;
  const auto rows = static_cast<double>(problem.out_channels);
  const double growth = has_half_block(problem) ? std::ceil(rows / kHalfBlock) * kHalfBlock / rows
                                                : blocked_growth(problem.out_channels);
  if (!problem.is_blocked)
    return {peak / rates.by_channel_first_layer, peak * growth / rates.first_layer};
  const double winograd = work.algorithm == ConvAlgorithm::kWinograd ? rates.winograd : 1;
  if (positions(problem) <= 1)
    return {peak / rates.by_channel_single_pixel,
            winograd * peak * growth * blocked_growth(problem.channels) / rates.single_pixel};
  const double left = can_omit_padding(problem) ? without_padding(problem) : 1;
  return {peak * by_channel_factor(problem, rates), winograd * peak * growth * left / rates.direct};
}

double conversion_seconds(double elements, int64_t channels, const Core& core) {
  return elements * 2 * sizeof(float) * blocked_growth(channels) / core.copy_rate;
}

LayoutTimes image_op_times(double elements, int64_t channels, const Core& core) {
  const double seconds = elements * sizeof(float) / core.elementwise_rate;
  return {seconds, seconds * blocked_growth(channels)};
}

}  // namespace scopevm::compiler::schedule
