// The text format of Prometheus; see prometheus.h.
#include "vm/api/monitor/prometheus.h"

#include <algorithm>

#include "runtime/string/utf8.h"

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

std::string label_text(std::string_view label) {
  std::string text;
  while (!label.empty()) {
    const size_t bytes = runtime::decode_utf8(label).bytes;
    const std::string_view character = label.substr(0, bytes);
    if (character == "\n") {
      text += "\\n";
    } else if (bytes == 0) {
      text += "\xEF\xBF\xBD";  // U+FFFD, the replacement character, in UTF-8
    } else {
      if (character == "\"" || character == "\\") text += '\\';
      text += character;
    }
    label.remove_prefix(std::max<size_t>(bytes, 1));
  }
  return text;
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
    put(label_text(label));
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
