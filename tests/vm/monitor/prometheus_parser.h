// A strict parser of the text format 0.0.4 of Prometheus, for tests. It shares no code with the
// library. Deviations are failures of the test.
#pragma once

#include <gtest/gtest.h>

#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <utility>

namespace scopevm::test {

using Labels = std::map<std::string, std::string>;

struct Metric {
  std::string type;
  // By the suffix of the name ("", "_bucket", "_sum", "_count") and the labels.
  std::map<std::pair<std::string, Labels>, double> samples;
};

class PrometheusParser {
 public:
  explicit PrometheusParser(std::string_view text) {
    EXPECT_TRUE(text.ends_with('\n'));
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = text.find('\n', begin);
      line(std::string(text.substr(begin, end - begin)));
      if (end == std::string_view::npos) break;
      begin = end + 1;
    }
    for (const auto& [name, metric] : metrics)
      if (metric.type == "histogram") check_histogram(name, metric);
  }

  // The value of a sample; a failure if there is none.
  double value(const std::string& name, const Labels& labels, const std::string& suffix = "") {
    const auto& samples = metrics[name].samples;
    const auto found = samples.find({suffix, labels});
    if (found != samples.end()) return found->second;
    ADD_FAILURE() << "no sample of " << name << suffix;
    return 0;
  }

  std::map<std::string, Metric> metrics;

 private:
  void line(const std::string& text) {
    static const std::regex help("# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) ([^\\\\]+)");
    static const std::regex type("# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (counter|gauge|histogram)");
    std::smatch match;
    if (std::regex_match(text, match, help)) {
      EXPECT_FALSE(metrics.contains(match[1])) << "two parts: " << text;
      current_ = match[1];
      metrics[current_];
    } else if (std::regex_match(text, match, type)) {
      EXPECT_EQ(match[1], current_) << "without HELP: " << text;
      metrics[current_].type = match[2];
      EXPECT_EQ(match[2] == "counter", current_.ends_with("_total")) << text;
    } else {
      sample(text);
    }
  }

  void sample(std::string_view text) {
    const std::string_view whole = text;
    const size_t name_end = text.find_first_of("{ ");
    ASSERT_NE(name_end, std::string_view::npos) << whole;
    const std::string name(text.substr(0, name_end));
    ASSERT_TRUE(name.starts_with(current_)) << whole;
    const std::string suffix = name.substr(current_.size());
    if (metrics[current_].type == "histogram")
      ASSERT_TRUE(suffix == "_bucket" || suffix == "_sum" || suffix == "_count") << whole;
    else
      ASSERT_EQ(suffix, "") << whole;
    text.remove_prefix(name_end);
    Labels labels;
    while (text.front() != ' ') {
      ASSERT_TRUE(text.starts_with(labels.empty() ? "{" : ",")) << whole;
      text.remove_prefix(1);
      ASSERT_TRUE(label(text, labels)) << whole;
      if (text.starts_with("} ")) text.remove_prefix(1);
    }
    double value = 0;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data() + 1, end, value);
    EXPECT_TRUE(read.ec == std::errc() && read.ptr == end) << whole;
    EXPECT_TRUE(metrics[current_].samples.try_emplace({suffix, labels}, value).second)
        << "twice: " << whole;
  }

  // Reads NAME="VALUE".
  static bool label(std::string_view& text, Labels& labels) {
    static const std::regex pattern(
        "([a-zA-Z_][a-zA-Z0-9_]*)=\"((?:[^\"\\\\\n]|\\\\[\\\\n\"])*)\"");
    std::match_results<std::string_view::const_iterator> match;
    if (!std::regex_search(text.begin(), text.end(), match, pattern,
                           std::regex_constants::match_continuous))
      return false;
    std::string value;
    const std::string given = match[2];
    for (size_t i = 0; i < given.size(); ++i)
      value += given[i] != '\\' ? given[i] : given[++i] == 'n' ? '\n' : given[i];
    text.remove_prefix(static_cast<size_t>(match.length()));
    return labels.try_emplace(match[1], value).second;
  }

  // Buckets are cumulative, and the last one is the count.
  static void check_histogram(const std::string& name, const Metric& metric) {
    struct Series {
      std::map<double, double> buckets;
      std::optional<double> sum, count;
    };
    std::map<Labels, Series> series;
    for (const auto& [key, value] : metric.samples) {
      auto [suffix, labels] = key;
      if (suffix != "_bucket") {
        (suffix == "_sum" ? series[labels].sum : series[labels].count) = value;
        continue;
      }
      const std::string bound = labels.extract("le").mapped();
      series[labels].buckets[bound == "+Inf" ? HUGE_VAL : std::stod(bound)] = value;
    }
    for (const auto& [labels, one] : series) {
      ASSERT_TRUE(one.sum && one.count && !one.buckets.empty()) << name;
      EXPECT_EQ(one.buckets.rbegin()->first, HUGE_VAL) << name;
      EXPECT_EQ(one.buckets.rbegin()->second, *one.count) << name;
      double last = 0;
      for (const auto& [bound, count] : one.buckets) {
        EXPECT_GE(count, last) << name;
        last = count;
      }
    }
  }

  std::string current_;
};

}  // namespace scopevm::test
