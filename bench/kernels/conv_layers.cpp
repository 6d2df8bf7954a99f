// How fast are the convolutions of public models, compared with oneDNN (images in its preferred
// layout, prepacked weights) and with the peak of one core?
//
//   conv_layers_bench [LAYERS.csv]
//
// Times are medians of interleaved rounds on one thread, warm: with blocked images, with images by
// channel, and oneDNN. The last lines compare the sums over all layers of each network, and the
// geometric means over its distinct layers, for the faster layout of each layer.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "bench/kernels/compiled_kernel.h"
#include "bench/kernels/conv_layer.h"

namespace {

using namespace scopevm::compiler::bench;  // NOLINT: measurements read better without the prefix

struct Row {
  std::string network;
  int64_t count = 0;  // layers of the network with this shape
  ConvLayer layer;
};

// One row per line after the header; lines that start with # are comments.
std::vector<Row> read_rows(const char* path) {
  std::ifstream file(path);
  std::vector<Row> rows;
  bool is_header = true;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    if (std::exchange(is_header, false)) continue;
    for (char& c : line)
      if (c == ',') c = ' ';
    Row row;
    ConvLayer& l = row.layer;
    std::istringstream(line) >> row.network >> row.count >> l.channels >> l.height >> l.width >>
        l.rows >> l.kernel[0] >> l.kernel[1] >> l.strides[0] >> l.strides[1] >> l.groups;
    rows.push_back(std::move(row));
  }
  if (!rows.empty()) return rows;
  std::fprintf(stderr, "%s: cannot be read, or has no layers\n", path);
  std::exit(1);
}

struct Totals {
  double own = 0, dnnl = 0, logarithms = 0;
  int64_t layers = 0;
};

}  // namespace

int main(int count, char** arguments) {
  use_one_thread(arguments);
  dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  std::map<std::string, Totals> totals;
  for (const Row& row : read_rows(count > 1 ? arguments[1] : SCOPEVM_CONV_LAYERS)) {
    auto kernel = compile(row.layer.graph());
    kernel->bind({{"n", 1}});
    auto blocked = compile(row.layer.blocked_graph());
    blocked->bind({{"n", 1}});
    const std::vector<double> t =
        medians({[&] { blocked->run(); }, [&] { kernel->run(); },
                 dnnl_conv(engine, row.layer, dnnl::memory::format_tag::any), peak_work});
    const double own = std::min(t[0], t[1]);
    const double peak = kPeakGflop / t[3], gflop = 1e-9 * row.layer.flops();
    std::printf(
        "%-13s %2d x %-36s blocked %8.1f us, by channel %8.1f us, %5.1f %% of peak; oneDNN %8.1f "
        "us, ratio %5.2f\n",
        row.network.c_str(), static_cast<int>(row.count), row.layer.name().c_str(), 1e6 * t[0],
        1e6 * t[1], 100 * gflop / own / peak, 1e6 * t[2], own / t[2]);
    Totals& total = totals[row.network];
    total.own += static_cast<double>(row.count) * own;
    total.dnnl += static_cast<double>(row.count) * t[2];
    total.logarithms += std::log(own / t[2]);
    ++total.layers;
  }
  for (const auto& [network, total] : totals)
    std::printf(
        "%-13s sum %8.2f ms, oneDNN %8.2f ms, ratio %5.2f; geometric mean of ratios %5.2f\n",
        network.c_str(), 1e3 * total.own, 1e3 * total.dnnl, total.own / total.dnnl,
        std::exp(total.logarithms / static_cast<double>(total.layers)));
}
