// How fast are the convolutions of public models, compared with oneDNN (images in its preferred
// layout, prepacked weights) and with the peak of one core?
//
//   conv_layers_bench [--json] [LAYERS.csv]
//
// Times are medians of interleaved rounds on one thread, warm: with blocked images, with images by
// channel, and oneDNN. The last lines compare the sums over all layers of each network, and the
// geometric means over its distinct layers, for the faster layout of each layer. --json prints one
// JSON object per layer instead, which bench/conv_plot.py reads.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/kernels/conv_layer.h"
#include "bench/kernels/conv_times.h"

namespace {

using namespace scopevm::compiler::bench;  // NOLINT: measurements read better without the prefix

constexpr const char* kHelp =
    "usage: conv_layers_bench [--json] [LAYERS.csv]\n"
    "Measures the convolutions of the public models, or those of a file with the columns of\n"
    "bench/kernels/conv_layers.csv.\n"
    "  --json  print one JSON object per layer\n";

struct Options {
  bool is_json = false;
  const char* path = SCOPEVM_CONV_LAYERS;
};

Options read_options(int count, char** arguments) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string_view argument = arguments[i];
    if (argument == "--help") {
      std::fputs(kHelp, stdout);
      std::exit(0);
    }
    if (argument == "--json") {
      options.is_json = true;
    } else if (argument.starts_with("--")) {
      std::fprintf(stderr, "conv_layers_bench: unknown option %s\n%s", arguments[i], kHelp);
      std::exit(2);
    } else {
      options.path = arguments[i];
    }
  }
  return options;
}

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

void print(const Row& row, const ConvTimes& times) {
  std::printf(
      "%-13s %2d x %-36s blocked %8.1f us, by channel %8.1f us, %5.1f %% of peak; oneDNN %8.1f "
      "us, ratio %5.2f\n",
      row.network.c_str(), static_cast<int>(row.count), row.layer.name().c_str(),
      1e6 * times.blocked, 1e6 * times.by_channel, times.peak_percent(), 1e6 * times.dnnl,
      times.ratio());
}

void print_json(const Row& row, const ConvTimes& times) {
  nlohmann::ordered_json object = {{"network", row.network}, {"count", row.count}};
  add_times(object, row.layer, times);
  print_json_line(object);
}

struct Totals {
  double own = 0, dnnl = 0, logarithms = 0;
  int64_t layers = 0;
};

}  // namespace

int main(int count, char** arguments) {
  use_one_thread(arguments);
  const Options options = read_options(count, arguments);
  dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  std::map<std::string, Totals> totals;
  for (const Row& row : read_rows(options.path)) {
    const ConvTimes times = time_conv(engine, row.layer);
    if (options.is_json) {
      print_json(row, times);
      continue;
    }
    print(row, times);
    Totals& total = totals[row.network];
    total.own += static_cast<double>(row.count) * times.best();
    total.dnnl += static_cast<double>(row.count) * times.dnnl;
    total.logarithms += std::log(times.ratio());
    ++total.layers;
  }
  for (const auto& [network, total] : totals)
    std::printf(
        "%-13s sum %8.2f ms, oneDNN %8.2f ms, ratio %5.2f; geometric mean of ratios %5.2f\n",
        network.c_str(), 1e3 * total.own, 1e3 * total.dnnl, total.own / total.dnnl,
        std::exp(total.logarithms / static_cast<double>(total.layers)));
}
