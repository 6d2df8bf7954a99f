// Convolutions for timing; see conv_layer.h.
#include "bench/kernels/conv_layer.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace scopevm::compiler::bench {

std::string ConvLayer::name() const {
  const std::string stride = strides[0] == strides[1]
                                 ? fmt::format("/{}", strides[0])
                                 : fmt::format("/{}x{}", strides[0], strides[1]);
  const bool is_dilated = dilations[0] != 1 || dilations[1] != 1;
  const std::string dilation =
      is_dilated ? fmt::format(" dilation {}x{}", dilations[0], dilations[1]) : "";
  return fmt::format("{}{}x{}{}{} {}->{} at {}x{}", groups > 1 ? "depthwise " : "", kernel[0],
                     kernel[1], stride == "/1" ? "" : stride, dilation, channels, rows, height,
                     width);
}

std::string ConvLayer::graph() const {
  const std::string x = fmt::format("!sv.tensor<f32[n, {}, {}, {}]>", channels, height, width);
  const std::string y = fmt::format("!sv.tensor<f32[n, {}, {}, {}]>", rows, out(0), out(1));
  const std::string w =
      fmt::format("{}, {}, {}, {}", rows, channels / groups, kernel[0], kernel[1]);
  const std::string w_dims =
      fmt::format("{}x{}x{}x{}", rows, channels / groups, kernel[0], kernel[1]);
  return fmt::format(
      R"(func.func @main(%x: {0}) -> {1} {{
  %w = sv.constant {{value = dense<0.25> : tensor<{3}xf32>}} : !sv.tensor<f32[{2}]>
  %y = sv.conv %x, %w {{strides = array<i64: {4}, {5}>, pads = array<i64: {6}, {7}, {6}, {7}>,
      dilations = array<i64: {8}, {9}>, group = {10} : i64}} : ({0}, !sv.tensor<f32[{2}]>) -> {1}
  return %y : {1}
}})",
      x, y, w, w_dims, strides[0], strides[1], pad(0), pad(1), dilations[0], dilations[1], groups);
}

std::string ConvLayer::blocked_graph() const {
  const auto type = [](int64_t channels, int64_t height, int64_t width) {
    return fmt::format("!sv.tensor<f32[n, {}, {}, {}, 16]>", (channels + 15) / 16, height, width);
  };
  // With one group per channel, x must be blocked.
  const std::string x = channels < 16 && groups == 1
                            ? fmt::format("!sv.tensor<f32[n, {}, {}, {}]>", channels, height, width)
                            : type(channels, height, width);
  const std::string w =
      fmt::format("{}, {}, {}, {}", rows, channels / groups, kernel[0], kernel[1]);
  const std::string w_dims =
      fmt::format("{}x{}x{}x{}", rows, channels / groups, kernel[0], kernel[1]);
  return fmt::format(
      R"(func.func @main(%x: {0}) -> {1} {{
  %w = sv.constant {{value = dense<0.25> : tensor<{3}xf32>}} : !sv.tensor<f32[{2}]>
  %y = sv.blocked_conv %x, %w {{strides = array<i64: {4}, {5}>, pads = array<i64: {6}, {7}, {6}, {7}>,
      dilations = array<i64: {8}, {9}>, group = {10} : i64}} : ({0}, !sv.tensor<f32[{2}]>) -> {1}
  return %y : {1}
}})",
      x, type(rows, out(0), out(1)), w, w_dims, strides[0], strides[1], pad(0), pad(1),
      dilations[0], dilations[1], groups);
}

Work dnnl_conv(dnnl::engine& engine, const ConvLayer& c, dnnl::memory::format_tag image) {
  constexpr auto kF32 = dnnl::memory::data_type::f32;
  const dnnl::memory::desc x({1, c.channels, c.height, c.width}, kF32, image);
  const dnnl::memory::desc y({1, c.rows, c.out(0), c.out(1)}, kF32, image);
  dnnl::memory::dims w_dims{c.rows, c.channels / c.groups, c.kernel[0], c.kernel[1]};
  if (c.groups > 1)
    w_dims = {c.groups, c.rows / c.groups, c.channels / c.groups, c.kernel[0], c.kernel[1]};
  const dnnl::memory::desc w(w_dims, kF32, dnnl::memory::format_tag::any);
  const dnnl::memory::dims strides{c.strides[0], c.strides[1]};
  // oneDNN counts the elements between those of a window.
  const dnnl::memory::dims dilations{c.dilations[0] - 1, c.dilations[1] - 1};
  const dnnl::memory::dims pads{c.pad(0), c.pad(1)};
  const dnnl::convolution_forward::desc desc(dnnl::prop_kind::forward_inference,
                                             dnnl::algorithm::convolution_direct, x, w, y, strides,
                                             dilations, pads, pads);
  const dnnl::convolution_forward::primitive_desc pd(desc, engine);
  dnnl::memory xm(pd.src_desc(), engine), wm(pd.weights_desc(), engine), ym(pd.dst_desc(), engine);
  for (dnnl::memory* memory : {&xm, &wm, &ym}) {
    const std::vector<float> values = filled(memory->get_desc().get_size() / sizeof(float));
    std::copy(values.begin(), values.end(), static_cast<float*>(memory->get_data_handle()));
  }
  dnnl::stream stream(engine);
  dnnl::convolution_forward conv(pd);
  return [=]() mutable {
    conv.execute(stream, {{DNNL_ARG_SRC, xm}, {DNNL_ARG_WEIGHTS, wm}, {DNNL_ARG_DST, ym}});
    stream.wait();
  };
}

void use_one_thread(char** arguments) {
  if (std::getenv("OMP_NUM_THREADS") != nullptr) return;
  setenv("OMP_NUM_THREADS", "1", 1);
  setenv("OPENBLAS_NUM_THREADS", "1", 1);
  execv("/proc/self/exe", arguments);
}

}  // namespace scopevm::compiler::bench
