// Which sizes of convolutions are slow, compared with sizes next to them?
//
//   conv_sweep_bench [--step N] [--json] [PARAMETER...]
//
// Varies the channels, the size of the images, the strides and the dilations of 3x3, 1x1 and
// depthwise convolutions, and prints the time of each point relative to its multiply-adds at the
// peak of one core. Times are those of the faster layout of images, as in conv_layers.cpp.
//
// A point is an outlier if its cost exceeds kLimit times that of the next larger point, or kLimit
// times the linear interpolation between its neighbours. The cost is the time of a layer along
// channels and sizes, and the time per multiply-add along strides and dilations. Both are relative
// to the peak that was measured in the same rounds, so that load on the machine does not matter.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/kernels/conv_layer.h"
#include "bench/kernels/conv_times.h"

namespace {

using namespace scopevm::compiler::bench;  // NOLINT: measurements read better without the prefix

constexpr double kLimit = 1.3;
// Fewer and shorter rounds than those of conv_layers.cpp: a sweep has hundreds of points.
constexpr Rounds kRounds{.count = 11, .seconds = 1e-3};
constexpr int64_t kBlock = 16;  // channels of a block, and lanes of a vector

// --- Families. ---

enum class Parameter { kChannels, kSize, kStride, kDilation };

struct ParameterRange {
  const char* name;
  int64_t last;           // the values are 1 to `last`
  bool is_thinned;        // by --step
  bool per_multiply_add;  // the cost
};
constexpr ParameterRange kParameters[] = {{"channels", 130, true, false},
                                          {"size", 60, true, false},
                                          {"stride", 3, false, true},
                                          {"dilation", 3, false, true}};

struct Kind {
  const char* name;
  int64_t window;
  bool is_depthwise;
};
constexpr Kind kKinds[] = {{"3x3", 3, false}, {"1x1", 1, false}, {"depthwise 3x3", 3, true}};

ConvLayer layer_of(Parameter parameter, const Kind& kind, int64_t value) {
  ConvLayer layer{.channels = 64, .height = 28, .width = 28, .kernel = {kind.window, kind.window}};
  switch (parameter) {
    case Parameter::kChannels:
      layer.channels = value;
      break;
    case Parameter::kSize:
      layer.height = layer.width = value;
      break;
    case Parameter::kStride:
      layer.strides[0] = layer.strides[1] = value;
      break;
    case Parameter::kDilation:
      layer.dilations[0] = layer.dilations[1] = value;
      break;
  }
  layer.rows = layer.channels;
  if (kind.is_depthwise) layer.groups = layer.channels;
  return layer;
}

// Every `step`-th value from 1, the last one, and those at both sides of a block's end.
std::vector<int64_t> values_of(const ParameterRange& range, int64_t step) {
  std::vector<int64_t> values;
  for (int64_t value = 1; value <= range.last; ++value)
    if (!range.is_thinned || (value - 1) % step == 0 || value % kBlock <= 1 || value == range.last)
      values.push_back(value);
  return values;
}

// --- Points. ---

struct Point {
  int64_t value = 0;
  ConvLayer layer;
  ConvTimes times;
  // The cost, divided by that of the next larger point, and by the interpolation.
  std::optional<double> to_next, to_neighbours;

  // The time relative to that of the multiply-adds at the peak.
  double relative_time() const { return times.best() / times.peak; }
  bool is_outlier() const {
    return to_next.value_or(0) > kLimit || to_neighbours.value_or(0) > kLimit;
  }
};

void compare(std::vector<Point>& points, bool per_multiply_add) {
  const auto cost = [&](const Point& point) {
    return point.relative_time() * (per_multiply_add ? 1 : point.layer.flops());
  };
  for (size_t i = 0; i + 1 < points.size(); ++i) {
    Point& point = points[i];
    const Point& next = points[i + 1];
    point.to_next = cost(point) / cost(next);
    if (i == 0) continue;
    const Point& previous = points[i - 1];
    const double part = static_cast<double>(point.value - previous.value) /
                        static_cast<double>(next.value - previous.value);
    point.to_neighbours = cost(point) / (cost(previous) + part * (cost(next) - cost(previous)));
  }
}

std::vector<Point> measure(dnnl::engine& engine, Parameter parameter, const Kind& kind,
                           int64_t step) {
  const ParameterRange& range = kParameters[static_cast<int>(parameter)];
  std::vector<Point> points;
  for (int64_t value : values_of(range, step)) {
    const ConvLayer layer = layer_of(parameter, kind, value);
    points.push_back({value, layer, time_conv(engine, layer, kRounds), {}, {}});
  }
  compare(points, range.per_multiply_add);
  return points;
}

// --- Output. ---

std::string text_of(std::optional<double> ratio) {
  return ratio ? fmt::format("{:.2f}", *ratio) : "-";
}

void print_header() {
  fmt::print("{:<9} {:<14} {:>5} {:>10} {:>10} {:>12} {:>8} {:>14}\n", "parameter", "kind", "value",
             "us", "time/peak", "oneDNN/peak", "to next", "to neighbours");
}

void print(const ParameterRange& range, const Kind& kind, const Point& point) {
  fmt::print("{:<9} {:<14} {:>5} {:>10.2f} {:>10.2f} {:>12.2f} {:>8} {:>14}{}\n", range.name,
             kind.name, point.value, 1e6 * point.times.best(), point.relative_time(),
             point.times.dnnl / point.times.peak, text_of(point.to_next),
             text_of(point.to_neighbours), point.is_outlier() ? "  outlier" : "");
  std::fflush(stdout);
}

void print_json(const ParameterRange& range, const Kind& kind, const Point& point) {
  const auto json_of = [](std::optional<double> ratio) {
    return ratio ? nlohmann::ordered_json(*ratio) : nlohmann::ordered_json(nullptr);
  };
  nlohmann::ordered_json object = {
      {"parameter", range.name}, {"kind", kind.name}, {"value", point.value}};
  add_times(object, point.layer, point.times);
  object["relative_time"] = point.relative_time();
  object["to_next"] = json_of(point.to_next);
  object["to_neighbours"] = json_of(point.to_neighbours);
  object["is_outlier"] = point.is_outlier();
  print_json_line(object);
}

void print_outliers(const std::vector<std::string>& outliers) {
  fmt::print(
      "\n{} outliers, whose time exceeds {} times the next larger point's, or {} times the "
      "interpolation between the neighbours\n",
      outliers.size(), kLimit, kLimit);
  for (const std::string& outlier : outliers) fmt::print("{}\n", outlier);
}

std::string outlier_line(const ParameterRange& range, const Point& point) {
  return fmt::format("{:<9} {:<44} {:>6} of the next point's, {:>6} of the interpolation",
                     range.name, point.layer.name(), text_of(point.to_next),
                     text_of(point.to_neighbours));
}

// --- Options. ---

constexpr const char* kHelp =
    "usage: conv_sweep_bench [--step N] [--json] [PARAMETER...]\n"
    "Measures convolutions over a parameter: channels, size, stride, dilation; default: all.\n"
    "  --step N  measure every N-th number of channels and size, and those next to multiples of\n"
    "            16; default: 4\n"
    "  --json    print one JSON object per point\n";

struct Options {
  int64_t step = 4;
  bool is_json = false;
  std::vector<std::string_view> parameters;  // empty: all

  bool has(std::string_view name) const {
    return parameters.empty() ||
           std::find(parameters.begin(), parameters.end(), name) != parameters.end();
  }
};

[[noreturn]] void fail(const std::string& message) {
  fmt::print(stderr, "conv_sweep_bench: {}\n{}", message, kHelp);
  std::exit(2);
}

int64_t step_of(const char* text) {
  int64_t step = 0;
  const char* end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, step);
  if (error != std::errc() || stop != end || step < 1)
    fail(fmt::format("--step is \"{}\", expected a positive integer", text));
  return step;
}

Options read_options(int count, char** arguments) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string_view argument = arguments[i];
    const bool is_parameter =
        std::any_of(std::begin(kParameters), std::end(kParameters),
                    [&](const auto& range) { return argument == range.name; });
    if (argument == "--help") {
      fmt::print("{}", kHelp);
      std::exit(0);
    }
    if (argument == "--json") {
      options.is_json = true;
    } else if (argument == "--step") {
      if (i + 1 == count) fail("--step requires a number");
      options.step = step_of(arguments[++i]);
    } else if (is_parameter) {
      options.parameters.push_back(argument);
    } else {
      fail(fmt::format("unknown option or parameter {}", argument));
    }
  }
  return options;
}

}  // namespace

int main(int count, char** arguments) {
  use_one_thread(arguments);
  const Options options = read_options(count, arguments);
  dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  std::vector<std::string> outliers;
  if (!options.is_json) print_header();
  for (int i = 0; i < static_cast<int>(std::size(kParameters)); ++i) {
    const auto parameter = static_cast<Parameter>(i);
    const ParameterRange& range = kParameters[i];
    if (!options.has(range.name)) continue;
    for (const Kind& kind : kKinds) {
      // The dilation of one element has no effect.
      if (parameter == Parameter::kDilation && kind.window == 1) continue;
      for (const Point& point : measure(engine, parameter, kind, options.step)) {
        options.is_json ? print_json(range, kind, point) : print(range, kind, point);
        if (point.is_outlier()) outliers.push_back(outlier_line(range, point));
      }
    }
  }
  if (!options.is_json) print_outliers(outliers);
}
