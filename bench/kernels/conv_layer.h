// ConvLayer: a convolution for timing, in scopevm and in oneDNN.
#pragma once

#include <cstdint>
#include <dnnl.hpp>
#include <string>

#include "bench/kernels/interleaved.h"

namespace scopevm::compiler::bench {

// A convolution of images with pads of half a window, rounded down, on each side.
struct ConvLayer {
  int64_t channels = 1, height = 1, width = 1;  // of x
  int64_t rows = 1;                             // output channels
  int64_t kernel[2] = {1, 1}, strides[2] = {1, 1}, dilations[2] = {1, 1}, groups = 1;

  // The elements that a dilated kernel spans along an axis.
  int64_t window(int axis) const { return (kernel[axis] - 1) * dilations[axis] + 1; }
  int64_t pad(int axis) const { return window(axis) / 2; }
  int64_t out(int axis) const {
    const int64_t size = axis == 0 ? height : width;
    return (size + 2 * pad(axis) - window(axis)) / strides[axis] + 1;
  }
  // Of one image; a multiply-add counts as 2.
  double flops() const {
    return 2.0 * static_cast<double>(out(0) * out(1) * rows * (channels / groups) * kernel[0] *
                                     kernel[1]);
  }
  // Of x, the weights and the result.
  double bytes() const {
    return sizeof(float) * static_cast<double>(channels * height * width +
                                               rows * (channels / groups) * kernel[0] * kernel[1] +
                                               rows * out(0) * out(1));
  }
  std::string name() const;           // "3x3/2 64->128 at 56x56"
  std::string graph() const;          // @main with n images and constant weights
  std::string blocked_graph() const;  // the same with images in blocks of 16 channels
};

// One image in oneDNN, with weights in its preferred layout. `image`: Tag::any for images in its
// preferred layout, or that of graphs, Tag::nchw.
Work dnnl_conv(dnnl::engine& engine, const ConvLayer& layer, dnnl::memory::format_tag image);

// oneDNN and OpenBLAS read the number of threads when they are loaded. Restarts the program with
// one thread, unless the environment has a number. REQUIRES: the program has just begun.
void use_one_thread(char** arguments);

}  // namespace scopevm::compiler::bench
