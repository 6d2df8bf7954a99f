// scopevm explain: prints a report on a model as text, JSON or a drawing. Each file of reports/
// registers its report.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "tools/command_line/arguments.h"
#include "tools/command_line/command.h"
#include "tools/command_line/exit_code.h"
#include "tools/command_line/parser.h"
#include "tools/compile/options/model_input.h"
#include "tools/compile/options/model_options.h"
#include "tools/compile/program.h"
#include "tools/compile/reports/report.h"
#include "tools/compile/tuning/tuning.h"
#include "tools/files/file.h"
#include "tools/files/standard_streams.h"

namespace scopevm::tool {

std::vector<ReportEntry>& reports() {
  // A function, because constants of other files register reports before main() in any order.
  static std::vector<ReportEntry> entries;
  return entries;
}

namespace {

struct ExplainCommand {
  ModelOptions model;
  std::set<std::string> kinds;      // of the requested reports
  std::vector<std::string> values;  // NAME=VALUE: the dims of `request`
  MemoryRequest request;
  std::string svg;  // a file; empty: none
  bool json = false;
  const CLI::App* parser = nullptr;
};

bool has_flag(const ReportEntry& report) { return !report.description.empty(); }

void declare(CLI::App& command, ExplainCommand& options) {
  add_model(command, options.model);
  std::ranges::sort(reports(), {}, &ReportEntry::position);
  for (const ReportEntry& report : reports())
    if (has_flag(report))
      command.add_flag_callback(
          "--" + report.kind, [&kinds = options.kinds, &report] { kinds.insert(report.kind); },
          report.description);
  command.add_option(
      "--svg", options.svg,
      "With --copies: write the graph to this file as an SVG drawing, coloured by place. With "
      "--memory: draw the memory plans");
  command
      .add_option("--at", options.values,
                  "With --memory and --time: the size of a dimension in the request, n=100 "
                  "(default: a representative size)")
      ->allow_extra_args(false);
  command
      .add_option("--threads", options.request.threads,
                  "With --memory and --time: number of threads of the session")
      ->check(integer_in(1))
      ->capture_default_str();
  add_named(command, options.model, /*is_explain=*/true);
  add_external(command, options.model,
               "NAME or PATH of a plug-in, as for compile; without another report: print "
               "the parts that its library could compute, and its decisions");
  command.add_flag("--json", options.json, "Print JSON");
  options.parser = &command;
}

// The flags of the reports for which `condition` holds: "--copies or --memory".
template <typename Condition>
std::string flags(const Condition& condition, const std::string& conjunction) {
  std::vector<std::string> names;
  for (const ReportEntry& report : reports())
    if (condition(report)) names.push_back("--" + report.kind);
  const std::string last = names.back();
  names.pop_back();
  return fmt::format("{} {} {}", fmt::join(names, ", "), conjunction, last);
}

Result<const ReportEntry*> selected_report(const ExplainCommand& command) {
  std::vector<const ReportEntry*> selected;
  for (const ReportEntry& report : reports())
    if (command.kinds.contains(report.kind)) selected.push_back(&report);
  if (selected.empty() && !command.model.external_libraries.empty())
    selected.push_back(&*std::ranges::find_if_not(reports(), has_flag));
  if (selected.size() == 1) return selected.front();
  return Status(StatusCode::kInvalidArgument,
                "explain: expected one of " + flags([](const auto&) { return true; }, "and"));
}

// Returns the message about options that conflict; empty if there is none.
std::string conflict(const ExplainCommand& command, const ReportEntry& report) {
  const auto has_svg = [](const ReportEntry& entry) { return entry.has_svg; };
  const auto has_request = [](const ReportEntry& entry) { return entry.has_request; };
  const auto is_fixed = [](const ReportEntry& entry) { return !entry.is_tuned; };
  if (!command.svg.empty() && !report.has_svg) return "--svg requires " + flags(has_svg, "or");
  for (const char* name : {"--at", "--threads", "--inline-limit", "--reorder"})
    if (command.parser->get_option(name)->count() > 0 && !report.has_request)
      return std::string(name) + " requires " + flags(has_request, "or");
  for (const std::string& name : report.excluded)
    if (command.parser->get_option(name)->count() > 0) return name + " excludes --" + report.kind;
  if (command.model.tune.is_enabled && !report.is_tuned)
    return "--tune excludes " + flags(is_fixed, "and");
  if (command.svg == kStandardStream && command.json)
    return "expected at most one of --svg - and --json: each writes to stdout";
  return "";
}

Status print_report(const ExplainCommand& command, const ReportEntry& report,
                    CompileOptions options) {
  SCOPEVM_RETURN_IF_ERROR(
      check_is_no_input(command.svg, {options.model_path, command.model.value("machine")}));
  SCOPEVM_RETURN_IF_ERROR(check_is_writable(command.svg));
  SCOPEVM_ASSIGN_OR_RETURN(const ModelInput model, ModelInput::open(options.model_path));
  options.model_path = model.path();
  SCOPEVM_ASSIGN_OR_RETURN(const std::shared_ptr<TuningCache> cache,
                           set_tuning(command.model.tune, options));
  const Result<MadeReport> made = report.make(options);
  if (cache) SCOPEVM_RETURN_IF_ERROR(cache->save());
  if (!made.ok()) return model.named(made.status());
  if (!command.svg.empty()) SCOPEVM_RETURN_IF_ERROR(write_file(command.svg, made->svg()));
  if (command.svg != kStandardStream) made->print(command.json);
  return {};
}

// Parses NAME=VALUE of --at.
Status add_request_dim(const std::string& text, std::map<std::string, int64_t>& dims) {
  SCOPEVM_ASSIGN_OR_RETURN(const auto parts, split_assignment(text));
  return add_dim_value(parts.first, parts.second, dims);
}

int explain(const ExplainCommand& command) {
  Result<OptionSetter> parsed = parse_model_options(command.model);
  if (!parsed.ok()) return report_usage(std::string(parsed.status().message()));
  CompileOptions& options = parsed->compile;
  options.memory_request = command.request;
  if (const Status status = read_model_options(command.model, *parsed); !status.ok())
    return report(status);
  for (const std::string& value : command.values)
    if (const Status status = add_request_dim(value, options.memory_request.dims); !status.ok())
      return report_usage(std::string(status.message()));
  const Result<const ReportEntry*> selected = selected_report(command);
  if (!selected.ok()) return report_usage(std::string(selected.status().message()));
  if (const std::string message = conflict(command, **selected); !message.empty())
    return report_usage(message);
  return report(print_report(command, **selected, std::move(options)));
}

const Command<ExplainCommand> explain_command(kExplain, declare, explain);

}  // namespace
}  // namespace scopevm::tool
