// Declares and reads the options of a model; see model_options.h.
#include "tools/compile/options/model_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "scopevm/session.h"
#include "tools/command_line/parser.h"
#include "tools/files/file.h"

namespace scopevm::tool {
namespace {

void add_tuning(CLI::App& command, TuneOptions& options) {
  auto* tune =
      command.add_flag("--tune", options.is_enabled,
                       "Measure the forms of convolutions, by channel and blocked, and, with "
                       "--external, parts and the whole model with external functions and with "
                       "scopevm's kernels; use the fastest ones");
  command
      .add_option("--tune-for", options.requests,
                  "The dimensions of a representative request for --tune: n=1,length=128 (one "
                  "request per option)")
      ->allow_extra_args(false)
      ->needs(tune);
  command
      .add_option("--tune-threads", options.threads,
                  "Number of worker threads of the sessions that --tune measures")
      ->check(integer_in(1))
      ->needs(tune)
      ->capture_default_str();
  command
      .add_option("--tune-cache", options.cache,
                  "The file that stores the times of --tune; none: no file (default: "
                  "scopevm/tuning.json in $XDG_CACHE_HOME or $HOME/.cache)")
      ->needs(tune);
}

bool is_file(const NamedOption& option) { return option.kind == NamedOption::Kind::kFile; }

// CLI11's type of the value.
std::string type_of(const NamedOption& option) {
  if (option.kind == NamedOption::Kind::kNumber) return "INT";
  if (option.kind != NamedOption::Kind::kChoice) return "TEXT";
  return fmt::format("{{{}}}", fmt::join(option.choices, ","));
}

void add_named_option(CLI::App& command, const NamedOption& option,
                      std::map<std::string, std::vector<std::string>>& named) {
  const std::string flag = "--" + option.name;
  const auto set = [&named, name = option.name](const std::vector<std::string>& values) {
    named[name] = values;
  };
  switch (option.kind) {
    case NamedOption::Kind::kFlag:
      command.add_flag_function(
          flag, [set](int64_t count) { set({count > 0 ? "true" : "false"}); }, option.description);
      return;
    case NamedOption::Kind::kList:
      // Without allow_extra_args(false), CLI11 lets an option with a vector take all following
      // arguments.
      command.add_option_function<std::vector<std::string>>(flag, set, option.description)
          ->allow_extra_args(false);
      return;
    default:
      command
          .add_option_function<std::string>(
              flag, [set](const std::string& value) { set({value}); }, option.description)
          ->type_name(type_of(option))
          ->default_str(option.initial);
  }
}

}  // namespace

void add_model(CLI::App& command, ModelOptions& options) {
  command.add_option("MODEL", options.path, "Model: an ONNX file (.onnx) or MLIR assembly (.mlir)")
      ->required();
}

void add_named(CLI::App& command, ModelOptions& options, bool is_explain) {
  for (const NamedOption& option : named_options())
    if (!is_explain || option.is_for_explain) add_named_option(command, option, options.named);
}

void add_external(CLI::App& command, ModelOptions& options, const std::string& description) {
  command.add_option("--external", options.external_libraries, description)
      ->allow_extra_args(false);
  add_tuning(command, options.tune);
}

Result<OptionSetter> parse_model_options(const ModelOptions& options) {
  OptionSetter setter;
  setter.compile.model_path = options.path;
  // In the order of the table: the bounds of a variant are combined with those of --dim.
  for (const NamedOption& option : named_options()) {
    const auto given = options.named.find(option.name);
    if (given == options.named.end()) continue;
    if (std::ranges::find(given->second, "") != given->second.end())
      return Status(StatusCode::kInvalidArgument, "--" + option.name + " \"\": expected a value");
    if (is_file(option)) continue;
    for (const std::string& value : given->second)
      if (const Status status = setter.set(option.name, value); !status.ok())
        return Status(status.code(), "--" + option.name + " " + std::string(status.message()));
  }
  if (const Status status = setter.check(); !status.ok())
    return Status(status.code(), "--" + std::string(status.message()));
  return setter;
}

Status read_model_options(const ModelOptions& options, OptionSetter& setter) {
  for (const NamedOption& option : named_options()) {
    const std::string path = is_file(option) ? options.value(option.name) : "";
    if (path.empty()) continue;
    SCOPEVM_ASSIGN_OR_RETURN(const std::vector<uint8_t> bytes, read_file(path));
    const std::string_view contents(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    SCOPEVM_RETURN_IF_ERROR(setter.set_contents(option.name, contents, input_name(path)));
  }
  for (const std::string& name : options.external_libraries) {
    SCOPEVM_ASSIGN_OR_RETURN(const ExternalLibrary library, ExternalLibrary::load(name));
    setter.compile.external_libraries.push_back(library.get());
  }
  return {};
}

}  // namespace scopevm::tool
