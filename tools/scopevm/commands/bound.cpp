// scopevm bound: prints the number of bytes that a call allocates at given dims, without making the
// call. The numbers are exact, except for "calls", which a branch can skip, and for storages with
// data-dependent sizes, which are listed without a number. With ranges of dims, or without the
// values of some dims, it prints the largest number over these ranges.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "runtime/name_text.h"
#include "scopevm/module.h"
#include "tools/command_line/arguments.h"
#include "tools/command_line/command.h"
#include "tools/command_line/exit_code.h"
#include "tools/command_line/parser.h"
#include "tools/files/formulas.h"
#include "tools/files/json_output.h"
#include "tools/files/standard_streams.h"
#include "tools/scopevm/module_file.h"
#include "vm/format/schema/entry_name.h"

namespace scopevm::tool {
namespace {

struct BoundOptions {
  std::string module;
  std::vector<std::string> dims;  // NAME=VALUE or NAME=LEAST..MOST
  int threads = 1;
  bool formulas = false;
  bool json = false;
};

void declare(CLI::App& command, BoundOptions& options) {
  command.add_option("MODULE", options.module, "Module file")->required();
  command.add_option("DIMS", options.dims,
                     "Values or ranges of dimensions: n=512, n=1..512. With ranges, or without "
                     "some dimensions, the largest number of bytes over them");
  command.add_option("--threads", options.threads, "Number of worker threads of the session")
      ->check(integer_in(1, runtime::kMaxThreads))
      ->capture_default_str();
  command.add_flag("--formulas", options.formulas,
                   "Print the formula of each number over the dimensions");
  command.add_flag("--json", options.json, "Print JSON, with the formulas");
}

// Whether some bytes of the scope are known only during a call.
bool depends_on_data(const MemoryBound& bound, const ScopeBound& scope) {
  return std::ranges::any_of(bound.lines, [&](const MemoryLine& line) {
    return line.depends_on_data && line.device == scope.device && line.scope == scope.scope;
  });
}

constexpr char kDataDependent[] = "data-dependent";

// The bytes of a scope. `is_open`: depends_on_data().
std::string bytes_text(int64_t bytes, bool is_open) {
  if (!is_open) return std::to_string(bytes);
  return bytes == 0 ? kDataDependent : fmt::format(">= {}", bytes);
}

bool uses_definition(const std::string& formula, const std::vector<FormulaDefinition>& known) {
  const auto is_part = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  return std::ranges::any_of(known, [&](const FormulaDefinition& definition) {
    const std::string& name = definition.name;
    for (size_t at = formula.find(name); at != std::string::npos; at = formula.find(name, at + 1)) {
      const size_t end = at + name.size();
      if ((at == 0 || !is_part(formula[at - 1])) &&
          (end == formula.size() || !is_part(formula[end])))
        return true;
    }
    return false;
  });
}

// "result probability = 40*n". Without formulas, only the cause of a data-dependent size.
std::string line_text(const MemoryLine& line, const MemoryBound& bound, bool has_formulas) {
  const bool has_cause = line.depends_on_data && !line.formula.empty() &&
                         !uses_definition(line.formula, bound.definitions);
  const std::string name = (line.is_result ? "result " : "") + line.what;
  return has_formulas || has_cause ? name + " = " + line.formula : name;
}

void print_text(const MemoryBound& bound, bool has_formulas) {
  if (bound.function != format::kEntryName) print("function {}\n", bound.function);
  if (has_formulas) print_definitions("", bound.definitions);
  print("{:<8} {:<20} {:>14} {:>14}  {}\n", "device", "scope", "bytes", "lower bound", "");
  for (const MemoryLine& line : bound.lines) {
    const std::string what = line_text(line, bound, has_formulas);
    if (line.depends_on_data)
      print("{:<8} {:<20} {:>14} {:>14}  {}\n", line.device, line.scope, kDataDependent, "", what);
    else
      print("{:<8} {:<20} {:>14} {:>14}  {}\n", line.device, line.scope, line.bytes,
            line.lower_bound_bytes, what);
  }
  for (const ScopeBound& scope : bound.scopes) {
    const bool is_open = depends_on_data(bound, scope);
    print("{:<8} {:<20} {:>14} {:>14}  total\n", scope.device, scope.scope,
          bytes_text(scope.bytes, is_open), bytes_text(scope.lower_bound_bytes, is_open));
  }
}

int rank_of(const Module& module, const ScopeBound& scope) {
  for (const MemoryScope& known : module.memory_scopes())
    if (known.device == scope.device && known.scope == scope.scope) return known.rank;
  return 0;
}

// The sums of the totals by rank, if the module has several ranks.
void print_ranks(const Module& module, const MemoryBound& bound) {
  for (int rank = 0; rank < module.ranks() && module.ranks() > 1; ++rank) {
    int64_t bytes = 0;
    bool is_open = false;
    for (const ScopeBound& total : bound.scopes) {
      if (rank_of(module, total) != rank) continue;
      bytes += total.bytes;
      is_open = is_open || depends_on_data(bound, total);
    }
    print("{:<8} {:<20} {:>14}\n", "rank " + std::to_string(rank), "all",
          bytes_text(bytes, is_open));
  }
}

// "batch = 1, 8 <= length <= 512 (a multiple of 8)": the ranges of the dims.
std::string range_text(const Signature& signature, const std::map<std::string, DimRange>& dims) {
  std::string text;
  for (const DimensionSignature& dimension : signature.dimensions) {
    const auto given = dims.find(dimension.name);
    DimRange range = given != dims.end() ? given->second : DimRange{dimension.min, dimension.max};
    const std::string name = runtime::name_text(dimension.name);
    const int64_t multiple_of = dimension.multiple_of;
    range.most -= range.most % multiple_of;
    range.least += (multiple_of - range.least % multiple_of) % multiple_of;
    text += text.empty() ? "" : ", ";
    if (given != dims.end() && range.least == range.most) {
      text += name + " = " + std::to_string(range.least);
      continue;
    }
    if (range.least > 1) text += std::to_string(range.least) + " <= ";
    text += name + " <= " + std::to_string(range.most);
    if (dimension.multiple_of > 1)
      text += " (a multiple of " + std::to_string(dimension.multiple_of) + ")";
  }
  return text;
}

void print_largest(const Module& module, const MemoryBound& bound,
                   const std::map<std::string, DimRange>& dims) {
  print("at most, for {}\n", range_text(module.signature(), dims));
  print("{:<8} {:<20} {:>14}\n", "device", "scope", "bytes");
  for (const ScopeBound& scope : bound.scopes) {
    print("{:<8} {:<20} {:>14}", scope.device, scope.scope,
          bytes_text(scope.bytes, depends_on_data(bound, scope)));
    if (scope.lower_bound_bytes < scope.bytes) print("  at least {}", scope.lower_bound_bytes);
    print("\n");
  }
  for (const MemoryLine& line : bound.lines)
    print("{:<8} {:<20} {:>14}  {}\n", line.device, line.scope, kDataDependent,
          line_text(line, bound, false));
}

void print_json(const Module& module, const MemoryBound& bound) {
  nlohmann::ordered_json out;
  out["function"] = bound.function;
  out["memory"] = nlohmann::ordered_json::array();
  for (const ScopeBound& scope : bound.scopes) {
    nlohmann::ordered_json entry = {{"device", scope.device}, {"scope", scope.scope}};
    if (module.ranks() > 1) entry["rank"] = rank_of(module, scope);
    entry["bound_bytes"] = scope.bytes;
    entry["lower_bound_bytes"] = scope.lower_bound_bytes;
    out["memory"].push_back(std::move(entry));
  }
  out["definitions"] = definitions_json(bound.definitions);
  out["lines"] = nlohmann::ordered_json::array();
  for (const MemoryLine& line : bound.lines)
    out["lines"].push_back({{"device", line.device},
                            {"scope", line.scope},
                            {"what", line.what},
                            {"is_result", line.is_result},
                            {"bytes", line.bytes},
                            {"lower_bound_bytes", line.lower_bound_bytes},
                            {"formula", line.formula},
                            {"depends_on_data", line.depends_on_data}});
  write_json(out);
}

int bound(const BoundOptions& options) {
  const auto dims = parse_dim_ranges(options.dims);
  if (!dims.ok()) return report_usage(dims.status().message());
  const Result<Module> module = load_module(options.module);
  if (!module.ok()) return report(module.status());
  std::map<std::string, int64_t> values;
  for (const auto& [name, range] : *dims)
    if (range.least == range.most) values[name] = range.least;
  const bool is_range = values.size() < dims->size() ||
                        std::ranges::any_of(
                            module->signature().dimensions,
                            [&](const auto& dimension) { return !dims->contains(dimension.name); });
  if (options.formulas && is_range && !options.json)
    return report_usage("--formulas describes one function: give one value of each dimension");
  const Result<MemoryBound> bound = is_range ? module->largest_bound(*dims, options.threads)
                                             : module->memory_bound(values, options.threads);
  if (!bound.ok()) return report(bound.status());
  if (options.json)
    print_json(*module, *bound);
  else if (is_range)
    print_largest(*module, *bound, *dims);
  else
    print_text(*bound, options.formulas);
  if (!options.json) print_ranks(*module, *bound);
  return kExitOk;
}

const Command<BoundOptions> bound_command(
    {.position = 90,
     .name = "bound",
     .description = "Print the exact number of bytes that a call allocates in each memory scope"},
    declare, bound);

}  // namespace

}  // namespace scopevm::tool
