// scopevm explain: prints the shapes and checks, the copies, or other reports on a model as text or
// JSON.
#include "tools/command_line/arguments.h"
#include "tools/command_line/command.h"
#include "tools/command_line/exit_code.h"
#include "tools/command_line/parser.h"
#include "tools/files/file.h"
#include "tools/files/standard_streams.h"
#include "tools/scopevm/commands/explain/copies.h"
#include "tools/scopevm/commands/explain/external.h"
#include "tools/scopevm/commands/explain/layout.h"
#include "tools/scopevm/commands/explain/memory.h"
#include "tools/scopevm/commands/explain/shapes.h"
#include "tools/scopevm/commands/explain/svg/memory_svg.h"
#include "tools/scopevm/commands/explain/svg/places_svg.h"
#include "tools/scopevm/compiler_library.h"
#include "tools/scopevm/model/dim_bounds.h"
#include "tools/scopevm/model/model_input.h"
#include "tools/scopevm/model/model_options.h"
#include "tools/scopevm/tuning/tuning.h"

namespace scopevm::tool {
namespace {

struct ExplainCommand {
  ModelOptions model;
  bool shapes = false;
  bool copies = false;
  bool layout = false;
  bool memory = false;
  std::vector<std::string> values;  // NAME=VALUE: the dims of MemoryRequest
  int threads = 1;                  // of MemoryRequest
  std::string svg;                  // a file; empty: none
  bool json = false;
};

void declare(CLI::App& command, ExplainCommand& options) {
  add_model(command, options.model);
  command.add_flag("--shapes", options.shapes,
                   "Print the shape of each value, the definition of each symbol, and each "
                   "check of a call");
  command.add_flag("--copies", options.copies,
                   "Print each copy between places: its bytes, source, destination and reason");
  command.add_flag("--layout", options.layout,
                   "Print the layout of the images of each op, and each conversion");
  auto* memory = command.add_flag(
      "--memory", options.memory,
      "Print the bytes of each pool, what is live at the peak of each plan, and the changes that "
      "lower the peak");
  command.add_option(
      "--svg", options.svg,
      "With --copies: write the graph to this file as an SVG drawing, coloured by place. With "
      "--memory: draw the memory plans");
  command
      .add_option("--at", options.values,
                  "The size of a dimension in the request, n=100 (default: a "
                  "representative size)")
      ->needs(memory)
      ->allow_extra_args(false);
  command.add_option("--threads", options.threads, "Number of threads of the session")
      ->needs(memory)
      ->check(integer_in(1))
      ->capture_default_str();
  add_dims(command, options.model);
  add_places(command, options.model);
  add_external(command, options.model,
               "NAME or PATH of a plug-in, as for compile; without another report: print "
               "the parts that its library could compute, and its decisions");
  add_inline_limit(command, options.model, "As for compile")->needs(memory);
  add_image_layout(command, options.model);
  command.add_flag("--json", options.json, "Print JSON");
}

Status report_copies(const CompileOptions& options, const std::string& svg, bool as_json) {
  SCOPEVM_ASSIGN_OR_RETURN(const CompilerLibrary compiler, CompilerLibrary::load());
  SCOPEVM_ASSIGN_OR_RETURN(const CopyExplanation explanation,
                           compiler.explain<CopyExplanation>(options));
  if (!svg.empty()) {
    SCOPEVM_RETURN_IF_ERROR(write_file(svg, places_svg(explanation)));
    if (svg == kStandardStream) return {};
  }
  print_copies(explanation, as_json);
  return {};
}

Status report_shapes(const CompileOptions& options, bool as_json) {
  SCOPEVM_ASSIGN_OR_RETURN(const CompilerLibrary compiler, CompilerLibrary::load());
  SCOPEVM_ASSIGN_OR_RETURN(const ShapeExplanation explanation,
                           compiler.explain<ShapeExplanation>(options));
  print_shapes(explanation, as_json);
  return {};
}

Status report_layouts(const TuneOptions& tune, CompileOptions options, bool as_json) {
  SCOPEVM_ASSIGN_OR_RETURN(const CompilerLibrary compiler, CompilerLibrary::load());
  SCOPEVM_ASSIGN_OR_RETURN(const std::shared_ptr<TuningCache> cache, set_tuning(tune, options));
  const Result<LayoutExplanation> explanation = compiler.explain<LayoutExplanation>(options);
  if (cache) SCOPEVM_RETURN_IF_ERROR(cache->save());
  if (!explanation.ok()) return explanation.status();
  print_layout(*explanation, as_json);
  return {};
}

Status report_memory(const ExplainCommand& command, CompileOptions options) {
  SCOPEVM_ASSIGN_OR_RETURN(const CompilerLibrary compiler, CompilerLibrary::load());
  SCOPEVM_ASSIGN_OR_RETURN(const std::shared_ptr<TuningCache> cache,
                           set_tuning(command.model.tune, options));
  const Result<MemoryExplanation> explanation = compiler.explain<MemoryExplanation>(options);
  if (cache) SCOPEVM_RETURN_IF_ERROR(cache->save());
  if (!explanation.ok()) return explanation.status();
  if (!command.svg.empty()) {
    SCOPEVM_RETURN_IF_ERROR(write_file(command.svg, memory_svg(*explanation)));
    if (command.svg == kStandardStream) return {};
  }
  print_memory(*explanation, command.json);
  return {};
}

Status report_external(const TuneOptions& tune, CompileOptions options, bool as_json) {
  SCOPEVM_ASSIGN_OR_RETURN(const CompilerLibrary compiler, CompilerLibrary::load());
  SCOPEVM_ASSIGN_OR_RETURN(const std::shared_ptr<TuningCache> cache, set_tuning(tune, options));
  const Result<ExternalExplanation> explanation = compiler.explain<ExternalExplanation>(options);
  if (cache) SCOPEVM_RETURN_IF_ERROR(cache->save());
  if (!explanation.ok()) return explanation.status();
  for (const std::string& warning : explanation->warnings)
    print_message(stderr, "scopevm: warning: {}\n", warning);
  print_external(*explanation, as_json);
  return {};
}

Status report_explanation(const ExplainCommand& command, CompileOptions options) {
  SCOPEVM_RETURN_IF_ERROR(
      check_is_no_input(command.svg, {command.model.path, command.model.machine}));
  SCOPEVM_RETURN_IF_ERROR(check_is_writable(command.svg));
  SCOPEVM_ASSIGN_OR_RETURN(const ModelInput model, ModelInput::open(command.model.path));
  options.model_path = model.path();
  const TuneOptions& tune = command.model.tune;
  return model.named(command.shapes   ? report_shapes(options, command.json)
                     : command.copies ? report_copies(options, command.svg, command.json)
                     : command.layout ? report_layouts(tune, options, command.json)
                     : command.memory ? report_memory(command, options)
                                      : report_external(tune, options, command.json));
}

// Parses NAME=VALUE of --at.
Status add_request_dim(const std::string& text, std::map<std::string, int64_t>& dims) {
  SCOPEVM_ASSIGN_OR_RETURN(const auto parts, split_assignment(text));
  return add_dim_value(parts.first, parts.second, dims);
}

int explain(const ExplainCommand& command) {
  CompileOptions options;
  if (const Status status = add_dim_bounds(command.model.dims, options.dims); !status.ok())
    return report_usage(std::string(status.message()));
  if (const Status status = read_model_options(command.model, options); !status.ok())
    return report(status);
  options.memory_request.threads = command.threads;
  for (const std::string& value : command.values)
    if (const Status status = add_request_dim(value, options.memory_request.dims); !status.ok())
      return report_usage(std::string(status.message()));
  if (!command.svg.empty() && !command.copies && !command.memory)
    return report_usage("--svg requires --copies or --memory");
  const int reports = command.shapes + command.copies + command.layout + command.memory;
  if (reports > 1 || (reports == 0 && command.model.external_libraries.empty()))
    return report_usage(
        "explain: expected one of --shapes, --copies, --layout, --memory and --external");
  if (command.model.tune.is_enabled && (command.shapes || command.copies))
    return report_usage("--tune excludes --shapes and --copies");
  if (command.svg == kStandardStream && command.json)
    return report_usage("expected at most one of --svg - and --json: each writes to stdout");
  return report(report_explanation(command, std::move(options)));
}

const Command<ExplainCommand> registered(
    {.position = 20,
     .name = "explain",
     .description =
         "Print the shapes, checks, copies, layouts, memory plan or external functions of a model"},
    declare, explain);

}  // namespace

}  // namespace scopevm::tool
