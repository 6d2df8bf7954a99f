// PrometheusText: writes metrics in the text format 0.0.4 of Prometheus
// (https://prometheus.io/docs/instrumenting/exposition_formats/).
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace scopevm {

class PrometheusText {
 public:
  using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

  // Starts a metric. `type` is "counter", "gauge" or "histogram". `help` is one line.
  void start(std::string_view name, std::string_view type, std::string_view help);
  // A sample of the metric. `suffix` follows its name: "_sum".
  void add(Labels labels, int64_t value, std::string_view suffix = {});
  // A sample in seconds.
  void add_seconds(Labels labels, int64_t nanoseconds, std::string_view suffix = {});
  std::string take() && { return std::move(text_); }

 private:
  void add_text(Labels labels, std::string_view value, std::string_view suffix);
  [[gnu::noinline]] void put(std::string_view text);  // not inlined, for its size

  std::string text_;
  std::string_view name_;
};

// The value of a label, escaped. The format is UTF-8: each byte that is not becomes U+FFFD.
std::string label_text(std::string_view label);

// Nanoseconds as seconds, without trailing zeros: "0.0025".
std::string seconds_text(int64_t nanoseconds);

}  // namespace scopevm
