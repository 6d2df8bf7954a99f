// ConvTimes: the times of a convolution in both layouts of images, with those of oneDNN and of the
// machine's bounds.
#pragma once

#include <algorithm>
#include <dnnl.hpp>
#include <nlohmann/json.hpp>

#include "bench/kernels/conv_layer.h"
#include "bench/kernels/interleaved.h"

namespace scopevm::compiler::bench {

// In seconds of one image, warm, on one thread.
struct ConvTimes {
  double blocked = 0, by_channel = 0, dnnl = 0;
  double peak = 0;  // of the multiply-adds at the peak
  double read = 0;  // of a plain read of as many bytes as x, the weights and the result have

  double best() const { return std::min(blocked, by_channel); }
  double peak_percent() const { return 100 * peak / best(); }
  double ratio() const { return best() / dnnl; }
};

// Measures all of them in the same rounds. Prints an error and ends the program if the convolution
// does not compile.
ConvTimes time_conv(dnnl::engine& engine, const ConvLayer& layer, const Rounds& rounds = {});

// Writes the name of the layer, its times and their comparisons to members of a JSON object.
void add_times(nlohmann::ordered_json& object, const ConvLayer& layer, const ConvTimes& times);
// Prints the object on one line.
void print_json_line(const nlohmann::ordered_json& object);

}  // namespace scopevm::compiler::bench
