// The text format of Prometheus; see prometheus.h.
#include "vm/api/monitor/prometheus.h"

namespace scopevm {

std::string seconds_text(int64_t nanoseconds) {
  constexpr int64_t kSecond = 1'000'000'000;
  std::string text = std::to_string(nanoseconds / kSecond);
  const int64_t rest = nanoseconds % kSecond;
  if (rest == 0) return text;
  std::string digits = std::to_string(kSecond + rest);  // "1" and nine digits
  digits.resize(digits.find_last_not_of('0') + 1);
  digits[0] = '.';
  return text + digits;
}

void PrometheusText::put(std::string_view text) { text_ += text; }

void PrometheusText::start(std::string_view name, std::string_view type, std::string_view help) {
  name_ = name;
  for (const std::string_view part :
       {std::string_view("# HELP "), name, std::string_view(" "), help,
        std::string_view("\n# TYPE "), name, std::string_view(" "), type, std::string_view("\n")})
    put(part);
}

void PrometheusText::add_text(Labels labels, std::string_view value, std::string_view suffix) {
  put(name_);
  put(suffix);
  std::string_view before = "{";
  for (const auto& [name, label] : labels) {
    for (const std::string_view part : {before, name, std::string_view("=\"")}) put(part);
    for (const char& c : label) {
      if (c == '"' || c == '\\' || c == '\n') put("\\");
      put(c == '\n' ? std::string_view("n") : std::string_view(&c, 1));
    }
    put("\"");
    before = ",";
  }
  for (const std::string_view part : {std::string_view("} "), value, std::string_view("\n")})
    put(part);
}

void PrometheusText::add(Labels labels, int64_t value, std::string_view suffix) {
  add_text(labels, std::to_string(value), suffix);
}

void PrometheusText::add_seconds(Labels labels, int64_t nanoseconds, std::string_view suffix) {
  add_text(labels, seconds_text(nanoseconds), suffix);
}

}  // namespace scopevm
