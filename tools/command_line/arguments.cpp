// Parses the values of options; see arguments.h.
#include "tools/command_line/arguments.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "runtime/name_text.h"
#include "runtime/parse_size.h"

namespace scopevm::tool {
namespace {

Status wrong(const std::string& text, const std::string& expected) {
  return {StatusCode::kInvalidArgument, "\"" + text + "\": expected " + expected};
}

struct Range {
  std::string_view low;
  std::string_view high;
};

// Splits "LOW..HIGH". Without dots, both ends are the whole string.
Range split_range(std::string_view text) {
  const size_t dots = text.find("..");
  if (dots == std::string_view::npos) return {text, text};
  return {text.substr(0, dots), text.substr(dots + 2)};
}

Result<double> parse_real(std::string_view text) {
  const std::string copy(text);
  char* end = nullptr;
  const double value = std::strtod(copy.c_str(), &end);
  if (copy.empty() || *end != '\0') return wrong(copy, "a number");
  return value;
}

}  // namespace

Result<std::pair<std::string, std::string>> split_assignment(
    const std::string& text, const std::vector<std::string>& names) {
  std::string_view rest = text;
  if (const std::optional<std::string> name = runtime::take_quoted_name(rest);
      name && rest.starts_with('='))
    return std::pair(*name, std::string(rest.substr(1)));
  size_t at = text.find('=');
  for (size_t end = at; end != std::string::npos; end = text.find('=', end + 1))
    if (std::ranges::find(names, text.substr(0, end)) != names.end()) at = end;
  if (at == std::string::npos || at == 0) return wrong(text, "NAME=VALUE");
  return std::pair(text.substr(0, at), text.substr(at + 1));
}

std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

Result<int64_t> parse_number(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return wrong(std::string(text), "a 64-bit integer");
  return value;
}

Status add_dim_value(const std::string& name, const std::string& value,
                     std::map<std::string, int64_t>& dims) {
  SCOPEVM_ASSIGN_OR_RETURN(const int64_t number, parse_number(value));
  if (dims.emplace(name, number).second) return {};
  return {StatusCode::kInvalidArgument, "dimension \"" + name + "\" is given twice"};
}

Result<std::map<std::string, DimRange>> parse_dim_ranges(const std::vector<std::string>& strings) {
  std::map<std::string, DimRange> dims;
  for (const std::string& text : strings) {
    SCOPEVM_ASSIGN_OR_RETURN(const auto parts, split_assignment(text));
    const auto& [name, value] = parts;
    const size_t dots = value.find("..");
    const Result<int64_t> least = parse_number(value.substr(0, dots));
    const Result<int64_t> most =
        dots == std::string::npos ? least : parse_number(value.substr(dots + 2));
    if (!least.ok() || !most.ok()) return wrong(text, "NAME=VALUE or NAME=LEAST..MOST");
    if (!dims.emplace(name, DimRange{*least, *most}).second)
      return Status(StatusCode::kInvalidArgument, "dimension \"" + name + "\" is given twice");
  }
  return dims;
}

Result<int64_t> parse_bytes(const std::string& text) {
  if (const std::optional<int64_t> bytes = runtime::parse_size(text)) return *bytes;
  return wrong(text, std::string("a number of bytes, ") + runtime::kSizeForms);
}

size_t find_comma(std::string_view list, size_t begin) {
  size_t at = begin;
  while (at < list.size() && list[at] != ',') at += list[at] == '\\' ? 2 : 1;
  return std::min(at, list.size());
}

std::vector<std::string> split_strings(std::string_view list) {
  std::vector<std::string> strings(1);
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i] == ',') {
      strings.emplace_back();
      continue;
    }
    if (list[i] == '\\' && i + 1 < list.size()) ++i;
    strings.back() += list[i];
  }
  return strings;
}

Result<RandomTensor> parse_random(const std::string& text) {
  RandomTensor random;
  const size_t colon = text.find(':');
  std::string_view dims = std::string_view(text).substr(0, colon);
  while (!dims.empty()) {
    const size_t x = dims.find('x');
    if (x + 1 == dims.size()) return wrong("random:" + text, "random:DIMxDIMx...");
    const Result<int64_t> dim = parse_number(dims.substr(0, x));
    if (!dim.ok() || *dim < 0) return wrong("random:" + text, "random:DIMxDIMx...");
    random.dims.push_back(*dim);
    dims.remove_prefix(x == std::string_view::npos ? dims.size() : x + 1);
  }
  if (colon == std::string::npos) return random;
  const Range range = split_range(std::string_view(text).substr(colon + 1));
  SCOPEVM_ASSIGN_OR_RETURN(random.low, parse_real(range.low));
  SCOPEVM_ASSIGN_OR_RETURN(random.high, parse_real(range.high));
  if (!(random.low <= random.high)) return wrong("random:" + text, "LOW..HIGH with LOW <= HIGH");
  if (!std::isfinite(random.high - random.low))
    return wrong("random:" + text, "LOW..HIGH with a finite difference");
  return random;
}

}  // namespace scopevm::tool
