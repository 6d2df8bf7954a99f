// Estimated times of convolutions in both layouts. They are proportional to the number of images,
// so that variants for other numbers have the same layouts and share their weights.
#pragma once

#include "compiler/schedule/convolution.h"

namespace scopevm::compiler::schedule {

// Seconds with images by channel and with blocked images.
struct LayoutTimes {
  double by_channel = 0, blocked = 0;
};
inline LayoutTimes operator+(LayoutTimes a, LayoutTimes b) {
  return {a.by_channel + b.by_channel, a.blocked + b.blocked};
}

// An ordinary or transposed convolution of images by channel, and what its blocked form costs
// around it.
struct ConvWork {
  ConvProblem problem;           // is_blocked: the blocked form reads blocked images
  double multiply_adds = 0;      // of all images
  double result_conversion = 0;  // seconds, of the result to images by channel
  bool is_disjoint = false;      // transposed, without overlaps of windows
  ConvAlgorithm algorithm = ConvAlgorithm::kDirect;
};
LayoutTimes conv_times(const ConvWork& work, const Core& core);

// The elements of a blocked image, divided by those of the image.
double blocked_growth(int64_t channels);
// Seconds of the conversion of an image with this number of elements to the other layout.
double conversion_seconds(double elements, int64_t channels, const Core& core);
// Seconds of an elementwise op or a pool, which is bound by memory.
LayoutTimes image_op_times(double elements, int64_t channels, const Core& core);

}  // namespace scopevm::compiler::schedule
