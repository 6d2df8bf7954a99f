// Prints shapes, symbols and checks.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/name_text.h"
#include "tools/compile/reports/report.h"
#include "tools/files/json_output.h"
#include "tools/files/standard_streams.h"

namespace scopevm::tool {
namespace {

using Explained = ShapeExplanation::Function;
using nlohmann::ordered_json;

std::string bound_text(const ShapeExplanation::Symbol& symbol) {
  if (!symbol.is_bound) return "at least 0";
  std::string text = symbol.bound.max == INT64_MAX
                         ? fmt::format("at least {}", symbol.bound.least())
                         : fmt::format("{}..{}", symbol.bound.least(), symbol.bound.max);
  if (symbol.bound.multiple_of > 1)
    text += fmt::format(", multiple of {}", symbol.bound.multiple_of);
  return text;
}

// Column widths are limited, so that one long name does not widen the whole table.
template <typename List, typename Text>
size_t width_of(const List& list, const Text& text) {
  constexpr size_t kWidest = 40;
  size_t width = 1;
  for (const auto& item : list) width = std::max(width, text(item).size());
  return std::min(width, kWidest);
}

void print_values(const Explained& function) {
  const size_t names = width_of(function.values, [](const auto& v) { return v.name; });
  const size_t ops = width_of(function.values, [](const auto& v) { return v.op; });
  print("  values\n");
  for (const ShapeExplanation::Value& value : function.values)
    print("    {:{}}{:<{}}  {:<{}}  {}{}\n", "", 2 * value.depth, value.name, names, value.op, ops,
          value.type, value.elements.empty() ? "" : " = " + value.elements);
}

void print_symbols(const Explained& function) {
  const auto name_of = [](const auto& s) { return runtime::name_text(s.name); };
  const size_t names = width_of(function.symbols, name_of);
  const size_t bounds = width_of(function.symbols, bound_text);
  print("  symbols\n");
  for (const ShapeExplanation::Symbol& symbol : function.symbols)
    print("    {:<{}}  {:<{}}  {}\n", name_of(symbol), names, bound_text(symbol), bounds,
          symbol.definition);
  if (function.symbols.empty()) print("    none\n");
}

void print_batch_dims(const Explained& function) {
  const auto is_examined = [](const auto& symbol) { return symbol.batch_obstacle.has_value(); };
  if (std::ranges::none_of(function.symbols, is_examined)) return;
  print("  requests along a dimension\n");
  for (const ShapeExplanation::Symbol& symbol : function.symbols)
    if (is_examined(symbol))
      print("    {}: {}\n", runtime::name_text(symbol.name),
            symbol.batch_obstacle->empty() ? "can be joined"
                                           : "cannot be joined: " + *symbol.batch_obstacle);
}

void print_text(const ShapeExplanation& explanation) {
  for (const Explained& function : explanation.functions) {
    print("function {}\n", function.name);
    print_values(function);
    print_symbols(function);
    print_batch_dims(function);
    print("  checks\n");
    for (const ShapeExplanation::Check& check : function.checks)
      print("    {}\n        {}\n", check.condition, check.message);
    if (function.checks.empty()) print("    none\n");
  }
}

ordered_json json_of(const Explained& function) {
  ordered_json out{{"name", function.name},
                   {"values", ordered_json::array()},
                   {"symbols", ordered_json::array()},
                   {"checks", ordered_json::array()}};
  for (const ShapeExplanation::Value& value : function.values) {
    out["values"].push_back(
        {{"name", value.name}, {"op", value.op}, {"type", value.type}, {"depth", value.depth}});
    if (!value.elements.empty()) out["values"].back()["elements"] = value.elements;
  }
  for (const ShapeExplanation::Symbol& symbol : function.symbols) {
    ordered_json& item = out["symbols"].emplace_back(
        ordered_json{{"name", symbol.name}, {"definition", symbol.definition}});
    if (symbol.batch_obstacle) {
      item["is_batch"] = symbol.batch_obstacle->empty();
      if (!symbol.batch_obstacle->empty()) item["batch_obstacle"] = *symbol.batch_obstacle;
    }
    if (!symbol.is_bound) continue;
    item["min"] = symbol.bound.least();
    item["max"] = symbol.bound.max;
    item["multiple_of"] = symbol.bound.multiple_of;
  }
  for (const ShapeExplanation::Check& check : function.checks)
    out["checks"].push_back({{"condition", check.condition}, {"message", check.message}});
  return out;
}

void print_json(const ShapeExplanation& explanation) {
  ordered_json out{{"functions", ordered_json::array()}};
  for (const Explained& function : explanation.functions)
    out["functions"].push_back(json_of(function));
  write_json(out);
}

const RegisteredReport shapes_report(Form<ShapeExplanation>{
    .position = 10,
    .description =
        "Print the shape of each value, the definition of each symbol, and each check of a call",
    .text = print_text,
    .json = print_json});

}  // namespace
}  // namespace scopevm::tool
