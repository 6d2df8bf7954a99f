// Declares and reads the options of a model; see model_options.h.
#include "tools/compile/options/model_options.h"

#include <map>

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

Status read_machine(const std::string& path, CompileOptions& compile) {
  if (path.empty()) return {};
  SCOPEVM_ASSIGN_OR_RETURN(const std::vector<uint8_t> bytes, read_file(path));
  compile.machine_json.assign(bytes.begin(), bytes.end());
  compile.machine_name = input_name(path);
  // An empty string would select the default machine. A blank makes an empty file a JSON error.
  if (compile.machine_json.empty()) compile.machine_json = " ";
  return {};
}

Status read_external(const ModelOptions& options, CompileOptions& compile) {
  for (const std::string& name : options.external_libraries) {
    SCOPEVM_ASSIGN_OR_RETURN(const ExternalLibrary library, ExternalLibrary::load(name));
    compile.external_libraries.push_back(library.get());
  }
  if (options.external_functions.empty()) return {};
  SCOPEVM_ASSIGN_OR_RETURN(const std::vector<uint8_t> bytes, read_file(options.external_functions));
  compile.external_functions.assign(bytes.begin(), bytes.end());
  compile.external_functions_name = input_name(options.external_functions);
  return {};
}

}  // namespace

void add_model(CLI::App& command, ModelOptions& options) {
  command
      .add_option("MODEL", options.compile.model_path,
                  "Model: an ONNX file (.onnx) or MLIR assembly (.mlir)")
      ->required();
}

void add_dims(CLI::App& command, ModelOptions& options) {
  // Without allow_extra_args(false), CLI11 lets an option with a vector take all following
  // arguments.
  command
      .add_option("--dim", options.dims,
                  "Constraint on a dimension: n=4, n=1..512, n<=512, n>=2 or n%8==0")
      ->allow_extra_args(false);
  command
      .add_option("--keep-output", options.compile.outputs,
                  "Omit the other outputs of the model, and what only they need (one output per "
                  "option; default: all outputs)")
      ->allow_extra_args(false);
}

void add_places(CLI::App& command, ModelOptions& options) {
  command.add_option("--machine", options.machine,
                     "Machine description, a JSON file (default: one CPU)");
  command
      .add_option("--place", options.compile.places,
                  "Placement rule: \"conv_*=gpu\", \"type:matmul=gpu\", \"input:x=gpu\", "
                  "\"output:y=cpu.global.fast\" (later rules take precedence)")
      ->allow_extra_args(false);
  command.add_flag("--allow-unmatched", options.compile.allow_unmatched,
                   "Warn about a --place rule that matches nothing, do not fail");
}

void add_external(CLI::App& command, ModelOptions& options, const std::string& description) {
  command.add_option("--external", options.external_libraries, description)
      ->allow_extra_args(false);
  command.add_option("--external-functions", options.external_functions,
                     "A file that declares the external functions of an ONNX model's ops "
                     "(docs/external.md)");
  add_tuning(command, options.tune);
}

CLI::Option* add_inline_limit(CLI::App& command, ModelOptions& options,
                              const std::string& description) {
  return command.add_option("--inline-limit", options.compile.inline_limit, description)
      ->check(integer_in<int64_t>(0))
      ->capture_default_str();
}

void add_order_and_layout(CLI::App& command, ModelOptions& options) {
  command.add_flag("--reorder", options.compile.reorder,
                   "Run steps in another order than the model's if this lowers the peak memory");
  const std::map<std::string, ImageLayout> layouts = {{"auto", ImageLayout::kAuto},
                                                      {"by-channel", ImageLayout::kByChannel},
                                                      {"blocked", ImageLayout::kBlocked}};
  command
      .add_option_function<std::string>(
          "--image-layout",
          [&layout = options.compile.image_layout, layouts](const std::string& name) {
            layout = layouts.at(name);
          },
          "Layout of images inside the model: by-channel, in blocks of 16 channels, or auto: the "
          "layouts with the least estimated time")
      ->check(CLI::IsMember({"auto", "by-channel", "blocked"}))
      ->type_name("LAYOUT")
      ->default_str("auto");
  command.add_flag(
      "--fast-conv", options.compile.fast_conv,
      "Winograd's algorithm for 3x3 convolutions: about 0.4 times the time, 4 times the "
      "weights, 1.8 times the rounding errors");
}

Status read_model_options(const ModelOptions& options, CompileOptions& compile) {
  SCOPEVM_RETURN_IF_ERROR(read_machine(options.machine, compile));
  return read_external(options, compile);
}

}  // namespace scopevm::tool
