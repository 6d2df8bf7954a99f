// Times of convolutions; see conv_times.h.
#include "bench/kernels/conv_times.h"

#include <cstdio>
#include <vector>

#include "bench/kernels/compiled_kernel.h"
#include "tools/machine_peak/machine_peak.h"

namespace scopevm::compiler::bench {

ConvTimes time_conv(dnnl::engine& engine, const ConvLayer& layer, const Rounds& rounds) {
  const auto blocked = compile(layer.blocked_graph()), by_channel = compile(layer.graph());
  blocked->bind({{"n", 1}});
  by_channel->bind({{"n", 1}});
  // read_floats() reads multiples of 128.
  constexpr size_t kFloats = 128;
  const double floats = layer.bytes() / sizeof(float);
  const std::vector<float> data =
      filled(std::max<size_t>(static_cast<size_t>(floats) / kFloats, 1) * kFloats);
  const std::vector<double> t =
      medians({[&] { blocked->run(); }, [&] { by_channel->run(); },
               dnnl_conv(engine, layer, dnnl::memory::format_tag::any), peak_work,
               [&] { machine_peak::read_floats(data.data(), data.size()); }},
              rounds);
  return {.blocked = t[0],
          .by_channel = t[1],
          .dnnl = t[2],
          .peak = 1e-9 * layer.flops() / kPeakGflop * t[3],
          .read = t[4] * floats / static_cast<double>(data.size())};
}

void add_times(nlohmann::ordered_json& object, const ConvLayer& layer, const ConvTimes& times) {
  object["layer"] = layer.name();
  object["blocked_us"] = 1e6 * times.blocked;
  object["by_channel_us"] = 1e6 * times.by_channel;
  object["dnnl_us"] = 1e6 * times.dnnl;
  object["peak_percent"] = times.peak_percent();
  object["bandwidth_percent"] = 100 * times.read / times.best();
  object["flops_per_byte"] = layer.flops() / layer.bytes();
  object["ratio"] = times.ratio();
}

void print_json_line(const nlohmann::ordered_json& object) {
  std::puts(object.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace).c_str());
  std::fflush(stdout);
}

}  // namespace scopevm::compiler::bench
