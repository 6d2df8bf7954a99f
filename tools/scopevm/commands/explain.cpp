// scopevm explain: prints the shapes and checks, the copies, or other reports on a model as text or
// JSON.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "runtime/count_text.h"
#include "tools/scopevm/arguments.h"
#include "tools/scopevm/commands.h"
#include "tools/scopevm/commands/explain_external.h"
#include "tools/scopevm/commands/explain_layout.h"
#include "tools/scopevm/commands/explain_memory.h"
#include "tools/scopevm/commands/external_options.h"
#include "tools/scopevm/commands/formulas.h"
#include "tools/scopevm/commands/json_output.h"
#include "tools/scopevm/commands/memory_svg.h"
#include "tools/scopevm/commands/places.h"
#include "tools/scopevm/commands/places_svg.h"
#include "tools/scopevm/compiler_library.h"
#include "tools/scopevm/exit_code.h"
#include "tools/scopevm/file.h"
#include "tools/scopevm/model_input.h"
#include "tools/scopevm/standard_streams.h"
#include "tools/scopevm/tuning/tuning.h"

namespace scopevm::tool {
namespace {

using Explained = ShapeExplanation::Function;
using nlohmann::ordered_json;
using runtime::count_text;

std::string bound_text(const ShapeExplanation::Symbol& symbol) {
  if (!symbol.is_bound) return "at least 0";
  std::string text = symbol.bound.max == INT64_MAX
                         ? fmt::format("at least {}", symbol.bound.min)
                         : fmt::format("{}..{}", symbol.bound.min, symbol.bound.max);
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
  const size_t names = width_of(function.symbols, [](const auto& s) { return s.name; });
  const size_t bounds = width_of(function.symbols, bound_text);
  print("  symbols\n");
  for (const ShapeExplanation::Symbol& symbol : function.symbols)
    print("    {:<{}}  {:<{}}  {}{}\n", symbol.name, names, bound_text(symbol), bounds,
          symbol.definition,
          symbol.model_name.empty() ? "" : fmt::format(" (\"{}\")", symbol.model_name));
  if (function.symbols.empty()) print("    none\n");
}

void print_text(const ShapeExplanation& explanation) {
  for (const Explained& function : explanation.functions) {
    print("function {}\n", function.name);
    print_values(function);
    print_symbols(function);
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
    if (!symbol.model_name.empty()) item["model_name"] = symbol.model_name;
    if (!symbol.is_bound) continue;
    item["min"] = symbol.bound.min;
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

// --- Copies. ------------------------------------------------------------------------------------

std::string value_text(const CopyExplanation::Copy& copy) {
  return fmt::format("{}\"{}\"", copy.function.empty() ? "" : "in " + copy.function + ": ",
                     copy.value);
}

std::string bytes_text(const CopyExplanation::Copy& copy) {
  std::string formula = copy.formula + (copy.formula == "1" ? " byte" : " bytes");
  if (copy.has_own_dims) formula += fmt::format(" (dims of {})", copy.function);
  if (!copy.bytes || std::to_string(*copy.bytes) == copy.formula) return formula;
  return fmt::format("{} = {}", formula, *copy.bytes);
}

void print_limits(const CopyExplanation& explanation) {
  for (const CopyExplanation::Limit& limit : explanation.limits) {
    print(
        "{} is limited to {}; without spilling, {} are live there. Moves and spills "
        "cost {:.3f} ms per call (lower bound {:.3f} ms):\n",
        limit.pool, count_text(limit.limit_bytes, "byte"), count_text(limit.needed_bytes, "byte"),
        1e3 * limit.seconds, 1e3 * limit.lower_bound_seconds);
    for (const std::string& moved : limit.moved) print("    {}\n", moved);
    // Calls of one function at different dims have the same copies: print each copy once.
    std::set<std::string> lines;
    for (const CopyExplanation::Copy& copy : explanation.copies) {
      const std::string line = fmt::format("    {}, spilled to {}", value_text(copy), copy.to);
      if (copy.from == limit.pool && copy.is_spill && lines.insert(line).second)
        print("{}\n", line);
    }
  }
}

std::string times_text(const CopyExplanation::Copy& copy) {
  if (!copy.times_depend_on.empty())
    return fmt::format(", {}-dependent count", copy.times_depend_on);
  return copy.times > 1 ? fmt::format(", about {:.0f} times per call", copy.times) : "";
}

// Summarises the copies: "2 copies, 8 bytes each time, 2 with recursion-dependent count".
std::string copies_text(const std::vector<CopyExplanation::Copy>& copies) {
  std::optional<int64_t> total = 0;
  bool repeats = false;
  std::map<std::string, int> open;  // number of copies, by the reason why their count is unknown
  for (const CopyExplanation::Copy& copy : copies) {
    repeats = repeats || copy.times > 1 || !copy.times_depend_on.empty();
    if (!copy.times_depend_on.empty()) ++open[copy.times_depend_on];
    total = total && copy.bytes ? std::optional(*total + *copy.bytes) : std::nullopt;
  }
  std::string text = fmt::format("{} {}", copies.size(), copies.size() == 1 ? "copy" : "copies");
  if (total) text += fmt::format(", {}{}", count_text(*total, "byte"), repeats ? " each time" : "");
  for (const auto& [why, count] : open)
    text += fmt::format(", {} with {}-dependent count", count, why);
  return text;
}

void print_text(const CopyExplanation& explanation) {
  for (const std::string& warning : explanation.warnings)
    print_message(stderr, "scopevm: warning: {}\n", warning);
  for (const CopyExplanation::Copy& copy : explanation.copies) {
    print("{}  {} -> {}  {}{}\n", value_text(copy), copy.from, copy.to, bytes_text(copy),
          times_text(copy));
    print_definitions("    where ", copy.definitions);
    print("    {}\n    {}\n", copy.producer_reason, copy.consumer_reason);
  }
  print_limits(explanation);
  for (const std::string& note : explanation.notes) print("note: {}\n", note);
  print("{}{}\n", copies_text(explanation.copies),
        !explanation.is_proved       ? "; the cheapest placement found, not proved optimal"
        : explanation.limits.empty() ? "; the placement is optimal"
                                     : "; without the limits, the placement is optimal");
}

void print_json(const CopyExplanation& explanation) {
  ordered_json out{{"copies", ordered_json::array()}, {"is_proved", explanation.is_proved}};
  for (const CopyExplanation::Copy& copy : explanation.copies) {
    ordered_json& line = out["copies"].emplace_back(ordered_json{
        {"value", copy.value}, {"from", copy.from}, {"to", copy.to}, {"formula", copy.formula}});
    line["definitions"] = definitions_json(copy.definitions);
    if (!copy.function.empty()) line["function"] = copy.function;
    if (copy.has_own_dims) line["has_own_dims"] = true;
    if (copy.bytes) line["bytes"] = *copy.bytes;
    if (copy.times_depend_on.empty())
      line["times"] = copy.times;
    else
      line["times_depend_on"] = copy.times_depend_on;
    if (copy.bytes) line["seconds"] = copy.seconds;
    line["producer_reason"] = copy.producer_reason;
    line["consumer_reason"] = copy.consumer_reason;
    if (copy.is_spill) line["is_spill"] = true;
  }
  for (const CopyExplanation::Limit& limit : explanation.limits)
    out["limits"].push_back({{"pool", limit.pool},
                             {"limit_bytes", limit.limit_bytes},
                             {"needed_bytes", limit.needed_bytes},
                             {"moved", limit.moved},
                             {"seconds", limit.seconds},
                             {"lower_bound_seconds", limit.lower_bound_seconds}});
  out["notes"] = explanation.notes;
  out["warnings"] = explanation.warnings;
  write_json(out);
}

Status print_copies(const CompileOptions& options, const std::string& svg, bool as_json) {
  SCOPEVM_ASSIGN_OR_RETURN(const CompilerLibrary compiler, CompilerLibrary::load());
  SCOPEVM_ASSIGN_OR_RETURN(const CopyExplanation explanation, compiler.explain_copies(options));
  if (!svg.empty()) {
    SCOPEVM_RETURN_IF_ERROR(write_file(svg, places_svg(explanation)));
    if (svg == kStandardStream) return {};
  }
  as_json ? print_json(explanation) : print_text(explanation);
  return {};
}

Status print_shapes(const CompileOptions& options, bool as_json) {
  SCOPEVM_ASSIGN_OR_RETURN(const CompilerLibrary compiler, CompilerLibrary::load());
  SCOPEVM_ASSIGN_OR_RETURN(const ShapeExplanation explanation, compiler.explain_shapes(options));
  as_json ? print_json(explanation) : print_text(explanation);
  return {};
}

Status print_layouts(const TuneOptions& tune, CompileOptions options, bool as_json) {
  SCOPEVM_ASSIGN_OR_RETURN(const CompilerLibrary compiler, CompilerLibrary::load());
  SCOPEVM_ASSIGN_OR_RETURN(const std::shared_ptr<TuningCache> cache, set_tuning(tune, options));
  const Result<LayoutExplanation> explanation = compiler.explain_layout(options);
  if (cache) SCOPEVM_RETURN_IF_ERROR(cache->save());
  if (!explanation.ok()) return explanation.status();
  print_layout(*explanation, as_json);
  return {};
}

Status print_memory_plan(const ExplainCommand& command, CompileOptions options) {
  SCOPEVM_ASSIGN_OR_RETURN(const CompilerLibrary compiler, CompilerLibrary::load());
  SCOPEVM_ASSIGN_OR_RETURN(const std::shared_ptr<TuningCache> cache,
                           set_tuning(command.tune, options));
  const Result<MemoryExplanation> explanation = compiler.explain_memory(options);
  if (cache) SCOPEVM_RETURN_IF_ERROR(cache->save());
  if (!explanation.ok()) return explanation.status();
  if (!command.svg.empty()) {
    SCOPEVM_RETURN_IF_ERROR(write_file(command.svg, memory_svg(*explanation)));
    if (command.svg == kStandardStream) return {};
  }
  print_memory(*explanation, command.json);
  return {};
}

Status print_external_parts(const TuneOptions& tune, CompileOptions options, bool as_json) {
  SCOPEVM_ASSIGN_OR_RETURN(const CompilerLibrary compiler, CompilerLibrary::load());
  SCOPEVM_ASSIGN_OR_RETURN(const std::shared_ptr<TuningCache> cache, set_tuning(tune, options));
  const Result<ExternalExplanation> explanation = compiler.explain_external(options);
  if (cache) SCOPEVM_RETURN_IF_ERROR(cache->save());
  if (!explanation.ok()) return explanation.status();
  for (const std::string& warning : explanation->warnings)
    print_message(stderr, "scopevm: warning: {}\n", warning);
  print_external(*explanation, as_json);
  return {};
}

Status print_explanation(const ExplainCommand& command, CompileOptions options) {
  SCOPEVM_RETURN_IF_ERROR(check_is_no_input(command.svg, {command.model, command.machine}));
  SCOPEVM_RETURN_IF_ERROR(check_is_writable(command.svg));
  SCOPEVM_ASSIGN_OR_RETURN(const ModelInput model, ModelInput::open(command.model));
  options.model_path = model.path();
  return model.named(command.shapes   ? print_shapes(options, command.json)
                     : command.copies ? print_copies(options, command.svg, command.json)
                     : command.layout ? print_layouts(command.tune, options, command.json)
                     : command.memory ? print_memory_plan(command, options)
                                      : print_external_parts(command.tune, options, command.json));
}

// Parses NAME=VALUE of --at.
Status add_request_dim(const std::string& text, std::map<std::string, int64_t>& dims) {
  SCOPEVM_ASSIGN_OR_RETURN(const auto parts, split_assignment(text));
  return add_dim_value(parts.first, parts.second, dims);
}

}  // namespace

int explain(const ExplainCommand& command) {
  CompileOptions options;
  if (const Status status = add_dim_bounds(command.dims, options.dims); !status.ok())
    return report_usage(std::string(status.message()));
  options.allow_unmatched = command.allow_unmatched;
  options.image_layout = command.image_layout;
  options.fast_conv = command.fast_conv;
  if (const Status status = read_places(command.machine, command.places, options); !status.ok())
    return report(status);
  if (const Status status =
          read_external(command.external_libraries, command.external_functions, options);
      !status.ok())
    return report(status);
  options.inline_limit = command.inline_limit;
  options.memory_request.threads = command.threads;
  for (const std::string& value : command.values)
    if (const Status status = add_request_dim(value, options.memory_request.dims); !status.ok())
      return report_usage(std::string(status.message()));
  if (!command.svg.empty() && !command.copies && !command.memory)
    return report_usage("--svg requires --copies or --memory");
  const int reports = command.shapes + command.copies + command.layout + command.memory;
  if (reports > 1 || (reports == 0 && command.external_libraries.empty()))
    return report_usage(
        "explain: expected one of --shapes, --copies, --layout, --memory and --external");
  if (command.tune.is_enabled && (command.shapes || command.copies))
    return report_usage("--tune excludes --shapes and --copies");
  if (command.svg == kStandardStream && command.json)
    return report_usage("expected at most one of --svg - and --json: each writes to stdout");
  return report(print_explanation(command, std::move(options)));
}

}  // namespace scopevm::tool
