// Core: what schedules and their estimated costs assume of one core of a target. core.cpp has the
// table of cores.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "compiler/schedule/target.h"

namespace scopevm::compiler::schedule {

// The multiply-adds of convolutions per second, as shares of the peak. Times of a convolution by
// channel contain the unfolding of its image; see conv_cost.cpp.
struct ConvRates {
  // Blocked images.
  double direct = 0.93;
  double first_layer = 0.8;     // x by channel
  double single_pixel = 0.45;   // one pixel per image: bound by the weights
  double pixel_columns = 0.85;  // a block has the output channels of several pixels
  double merged_groups = 0.9;
  double transposed = 0.85;
  double depthwise = 0.88;  // one channel per group
  double depthwise_strided = 0.6;
  double narrow_groups = 0.7;  // 2, 4 or 8 channels per group
  double winograd = 0.4;       // time of Winograd's algorithm, divided by that of the direct one

  // Images by channel.
  double by_channel = 0.87;
  double by_channel_pointwise = 0.8;
  double by_channel_first_layer = 0.45;
  double by_channel_single_pixel = 0.1;
  double by_channel_groups = 0.75;  // 12 or more output channels per group
  struct BySize {
    double large, small;  // images
  };
  BySize by_channel_depthwise = {0.55, 0.3}, by_channel_depthwise_strided = {0.22, 0.12};
  double by_channel_transposed = 0.01;
  double by_channel_disjoint = 0.6;  // transposed, without overlaps of windows
  // The time of reading and unfolding an element of the image, in multiply-adds.
  double read_pointwise = 5, unfold = 4, unfold_large = 7.5, unfold_strided = 9;
};

struct Core {
  std::string_view name;
  int vector_bits = 512;
  // The LLVM names of the CPUs with this core. Empty: all others with these vectors.
  std::span<const std::string_view> cpus;

  // Per cycle: multiply-adds of whole vectors, and loads of whole vectors. Prefetches are loads.
  int fma_ports = 2, load_ports = 2;
  int fma_latency = 4;  // cycles

  int64_t l1_bytes = 32 << 10;
  double clock = 4.4e9;  // cycles per second while all FMA ports are busy
  // Bytes per second of conversions between layouts, including the reads, and of elementwise ops.
  double copy_rate = 24e9, elementwise_rate = 40e9;
  ConvRates conv;

  // Of f32, per second.
  double multiply_adds() const { return clock * fma_ports * vector_bits / 32; }
};

// The table of cores. The last one with a width has no list of CPUs.
std::span<const Core> cores();
// The core of a target: the first one with its vectors and its name.
const Core& core_of(const Target& target);
// The core for which layouts are chosen without a target.
const Core& default_core();

}  // namespace scopevm::compiler::schedule
