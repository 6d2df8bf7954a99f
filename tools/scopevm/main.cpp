// The scopevm command: parses the command line and runs the selected command.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <span>

#include "runtime/without_exceptions.h"
#include "scopevm/compiler.h"
#include "tools/scopevm/command_line.h"
#include "tools/scopevm/commands.h"
#include "tools/scopevm/commands/alloc.h"
#include "tools/scopevm/exit_code.h"
#include "tools/scopevm/memory_lab/replay/worker/worker.h"
#include "tools/scopevm/reference.h"
#include "tools/scopevm/standard_streams.h"

namespace scopevm::tool {
namespace {

std::string stage_names() {
  std::string names;
  for (std::string_view stage : kStages) names += (names.empty() ? "" : ", ") + std::string(stage);
  return names;
}

// Checks stage names only. The compiler checks names of MLIR passes.
std::string check_stage(const std::string& name) {
  if (name.starts_with("sv-") || std::ranges::find(kStages, name) != std::end(kStages)) return "";
  return "unknown stage \"" + name + "\"; expected one of " + stage_names();
}

constexpr char kDimForms[] = "Constraint on a dimension: n=4, n=1..512, n<=512, n>=2 or n%8==0";

constexpr char kMachine[] = "Machine description, a JSON file (default: one CPU)";
constexpr char kPlace[] =
    "Placement rule: \"conv_*=gpu\", \"type:matmul=gpu\", \"input:x=gpu\", "
    "\"output:y=cpu.global.fast\" (later rules take precedence)";
constexpr char kAllowUnmatched[] = "Warn about a --place rule that matches nothing, do not fail";
constexpr char kExternalFunctions[] =
    "A file that declares the external functions of an ONNX model's ops (docs/external.md)";

// Selects all subcommands.
bool is_any(CLI::App* /*command*/) { return true; }

// Each add_* function declares commands. The callback of the selected command sets `action`.
using Action = std::function<int()>;

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

void add_image_layout(CLI::App& command, ImageLayout& layout, bool& fast_conv) {
  const std::map<std::string, ImageLayout> layouts = {{"auto", ImageLayout::kAuto},
                                                      {"by-channel", ImageLayout::kByChannel},
                                                      {"blocked", ImageLayout::kBlocked}};
  command
      .add_option_function<std::string>(
          "--image-layout",
          [&layout, layouts](const std::string& name) { layout = layouts.at(name); },
          "Layout of images inside the model: by-channel, in blocks of 16 channels, or auto: the "
          "layouts with the least estimated time")
      ->check(CLI::IsMember({"auto", "by-channel", "blocked"}))
      ->type_name("LAYOUT")
      ->default_str("auto");
  command.add_flag(
      "--fast-conv", fast_conv,
      "Winograd's algorithm for 3x3 convolutions: about 0.4 times the time, 4 times the "
      "weights, 1.8 times the rounding errors");
}

void add_compile(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("compile", "Compile a model to a module");
  // Shared by the option parser and the action, which runs after this function has returned.
  auto options = std::make_shared<CompileCommand>();
  command
      ->add_option("MODEL", options->model, "Model: an ONNX file (.onnx) or MLIR assembly (.mlir)")
      ->required();
  command->add_option("-o,--output", options->output, "Output module file");
  // Without allow_extra_args(false), CLI11 lets an option with a vector take all following
  // arguments.
  command->add_option("--dim", options->dims, kDimForms)->allow_extra_args(false);
  command
      ->add_option("--variant", options->variants,
                   "Add a variant for requests within these bounds: n=1 or n<=8,seq=128 "
                   "(one variant per option)")
      ->allow_extra_args(false);
  command
      ->add_option("--target-cpu", options->target_cpus,
                   "Target CPU: host, x86-64, x86-64-v3, ..., optionally with features, such as "
                   "x86-64-v3,+avxvnni (one image per option)")
      ->allow_extra_args(false);
  command->add_option("--machine", options->machine, kMachine);
  command->add_option("--place", options->places, kPlace)->allow_extra_args(false);
  command->add_flag("--allow-unmatched", options->allow_unmatched, kAllowUnmatched);
  command
      ->add_option("--external", options->external_libraries,
                   "NAME or PATH of a plug-in: parts of the model that its library accepts become "
                   "external functions")
      ->allow_extra_args(false);
  command->add_option("--external-functions", options->external_functions, kExternalFunctions);
  add_tuning(*command, options->tune);
  command
      ->add_option("--dump-after", options->dump_after,
                   "Print the result of a pipeline stage: " + stage_names() +
                       "; or of an MLIR pass: sv-simplify, ...")
      ->check(check_stage);
  command
      ->add_option("--threads", options->threads,
                   "Number of kernels to compile in parallel; 0: one per core")
      ->check(integer_in(0))
      ->capture_default_str();
  command
      ->add_option("--inline-limit", options->inline_limit,
                   "Inline a call if its caller has at most this number of steps afterwards; 0: "
                   "inline no call")
      ->check(integer_in<int64_t>(0))
      ->capture_default_str();
  add_image_layout(*command, options->image_layout, options->fast_conv);
  command->add_flag("--timing", options->timing,
                    "Print time, share and peak memory of each stage, and the time of its "
                    "passes, to stderr");
  command->add_option("--crash-reproducer", options->reproducer,
                      "Write the graph and the passes to this file if an MLIR pass fails (for "
                      "scopevm-opt --run-reproducer)");
  command->add_flag("--json", options->json, "With --timing: print the times as JSON to stdout");
  command->callback([options, &action] { action = [options] { return compile(*options); }; });
}

void add_explain(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand(
      "explain",
      "Print the shapes, checks, copies, layouts, memory plan or external functions of a model");
  auto options = std::make_shared<ExplainCommand>();
  command
      ->add_option("MODEL", options->model, "Model: an ONNX file (.onnx) or MLIR assembly (.mlir)")
      ->required();
  command->add_flag("--shapes", options->shapes,
                    "Print the shape of each value, the definition of each symbol, and each "
                    "check of a call");
  command->add_flag("--copies", options->copies,
                    "Print each copy between places: its bytes, source, destination and reason");
  command->add_flag("--layout", options->layout,
                    "Print the layout of the images of each op, and each conversion");
  auto* memory = command->add_flag(
      "--memory", options->memory,
      "Print the bytes of each pool, what is live at the peak of each plan, and the changes that "
      "lower the peak");
  command->add_option(
      "--svg", options->svg,
      "With --copies: write the graph to this file as an SVG drawing, coloured by place. With "
      "--memory: draw the memory plans");
  command
      ->add_option("--at", options->values,
                   "The size of a dimension in the request, n=100 (default: a "
                   "representative size)")
      ->needs(memory)
      ->allow_extra_args(false);
  command->add_option("--threads", options->threads, "Number of threads of the session")
      ->needs(memory)
      ->check(integer_in(1))
      ->capture_default_str();
  command->add_option("--dim", options->dims, kDimForms)->allow_extra_args(false);
  command->add_option("--machine", options->machine, kMachine);
  command->add_option("--place", options->places, kPlace)->allow_extra_args(false);
  command->add_flag("--allow-unmatched", options->allow_unmatched, kAllowUnmatched);
  command
      ->add_option("--external", options->external_libraries,
                   "NAME or PATH of a plug-in, as for compile; without another report: print "
                   "the parts that its library could compute, and its decisions")
      ->allow_extra_args(false);
  command->add_option("--external-functions", options->external_functions, kExternalFunctions);
  add_tuning(*command, options->tune);
  command->add_option("--inline-limit", options->inline_limit, "As for compile")
      ->needs(memory)
      ->check(integer_in<int64_t>(0))
      ->capture_default_str();
  add_image_layout(*command, options->image_layout, options->fast_conv);
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([options, &action] { action = [options] { return explain(*options); }; });
}

void add_machine(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand(
      "machine", "Print the devices of this host as a machine description for --machine");
  command->callback([&action] { action = [] { return machine(); }; });
}

void add_run(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("run", "Run a module");
  auto options = std::make_shared<RunOptions>();
  command->add_option("MODULE", options->module, "Module file")->required();
  command->add_option("VALUES", options->values,
                      "Dimensions and scalar inputs: n=512 rate=16000. With dimensions, inputs "
                      "that are not given are random");
  command
      ->add_option(
          "--input", options->inputs,
          "NAME=FILE.npy, NAME=random:1x3x48x320[:LOW..HIGH], NAME=16000 or NAME=string:A,B,C; "
          "for a sequence: NAME=FILE.npy,random:3x4,... (one value per element); NAME=none "
          "for an optional without a value")
      ->allow_extra_args(false);
  command
      ->add_option("--output", options->outputs,
                   "NAME=FILE.npy; the elements of a sequence or optional are written to "
                   "FILE.0.npy, FILE.1.npy, ...")
      ->allow_extra_args(false);
  command->add_option("--threads", options->threads, "Number of worker threads; 0: one per core")
      ->check(integer_in(0))
      ->capture_default_str();
  command->add_option("--repeat", options->repeat, "Number of calls")
      ->check(integer_in(1))
      ->capture_default_str();
  command
      ->add_option("--timeout", options->timeout_ms,
                   "Time limit of each call in milliseconds; a call that exceeds it fails with "
                   "exit code 3 (default: none)")
      ->check(integer_in(1));
  command->add_option("--seed", options->seed, "Seed of random inputs")
      ->check(integer_in<uint64_t>(0))
      ->capture_default_str();
  command
      ->add_option("--memory-limit", options->limits,
                   "[DEVICE.]SCOPE=BYTES: limit the memory of a scope; a run that needs more "
                   "fails with exit code 3")
      ->allow_extra_args(false);
  command
      ->add_option("--allocator", options->allocators,
                   "[DEVICE.]SCOPE=NAME[:OPTION=VALUE,...]: allocate a scope with this allocator: "
                   "pool, arena, stack, planned or direct")
      ->allow_extra_args(false);
  command
      ->add_option("--device", options->devices,
                   "NAME=KIND:NUMBER: bind a device of the module to a device of this host")
      ->allow_extra_args(false);
  command
      ->add_option("--external", options->external_libraries,
                   "NAME or PATH of a plug-in that computes external functions of the module; "
                   "NAME denotes libscopevm_NAME.so")
      ->allow_extra_args(false);
  command
      ->add_option(
          "--reserve", options->reserve,
          "NAME=LEAST..MOST, NAME=VALUE or all: before the first call, allocate the memory "
          "that a call needs at most for these ranges of dimensions, or for all values "
          "that the module permits; calls then take no memory from the system")
      ->allow_extra_args(false);
  command->add_flag("--emulate", options->emulate,
                    "Delay copies and launches to match the speeds of the module's pools");
  command->add_option(
      "--trace", options->trace,
      "Write the times of calls, launches and copies to this file, in Chrome trace format");
  command->add_option("--memory-trace", options->memory_trace,
                      "Write the allocations of all memory scopes to this file, for alloc plot, "
                      "replay and compare");
  command->add_flag("--stats", options->stats, "Print times and memory use");
  command->add_flag("--json", options->json, "Print JSON, including times and memory use");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

void add_bound(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand(
      "bound", "Print the exact number of bytes that a call allocates in each memory scope");
  auto options = std::make_shared<BoundOptions>();
  command->add_option("MODULE", options->module, "Module file")->required();
  command->add_option("DIMS", options->dims,
                      "Values or ranges of dimensions: n=512, n=1..512. With ranges, or without "
                      "some dimensions, the largest number of bytes over them");
  command->add_option("--threads", options->threads, "Number of worker threads of the session")
      ->check(integer_in(1))
      ->capture_default_str();
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([options, &action] { action = [options] { return bound(*options); }; });
}

void add_module_commands(CLI::App& app, Action& action) {
  auto inspected = std::make_shared<InspectOptions>();
  auto* command = app.add_subcommand(
      "inspect", "Print the signature, machine, memory formulas, sections and sizes of a module");
  command->add_option("MODULE", inspected->module, "Module file")->required();
  command->add_flag("--json", inspected->json, "Print JSON");
  command->callback([inspected, &action] { action = [inspected] { return inspect(*inspected); }; });

  auto text = std::make_shared<TextOptions>();
  command = app.add_subcommand("dis", "Disassemble a module");
  command->add_option("MODULE", text->input, "Module file")->required();
  command->add_option("-o,--output", text->output, "Output file (default: -)");
  command->add_flag("--no-data", text->elide_data,
                    "Omit the bytes of constants and images; the output cannot be assembled");
  command->callback([text, &action] { action = [text] { return disassemble(*text); }; });

  command = app.add_subcommand("asm", "Assemble a module");
  command->add_option("ASSEMBLY", text->input, "Assembly file, as printed by dis")->required();
  command->add_option("-o,--output", text->output, "Output module file")->required();
  command->callback([text, &action] { action = [text] { return assemble(*text); }; });

  command = app.add_subcommand("verify", "Check a module's checksums and bytecode");
  command->add_option("MODULE", text->input, "Module file")->required();
  command->callback([text, &action] { action = [text] { return verify(text->input); }; });
}

// Prints the help of the command with these names, such as {"alloc", "plot"}; of `app` without
// names.
int print_help(const CLI::App& app, const std::string& path, std::span<const std::string> names) {
  if (names.empty()) {
    // app.help() is the help of the selected command.
    write_output(app.get_formatter()->make_help(&app, path, CLI::AppFormatMode::Normal));
    return kExitOk;
  }
  for (const CLI::App* known : app.get_subcommands([](const CLI::App*) { return true; }))
    if (known->get_name() == names.front())
      return print_help(*known, path + " " + known->get_name(), names.subspan(1));
  return report_usage(unknown_command(app, names.front()));
}

void add_help(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("help", "Print the help of a command");
  auto names = std::make_shared<std::vector<std::string>>();
  command->add_option("COMMAND", *names, "A command (default: all)");
  command->callback([&app, names, &action] {
    action = [&app, names] { return print_help(app, app.get_name(), *names); };
  });
}

int run_action(const Action& action) {
  int code = kExitOk;
  try {
    code = action();
  } catch (...) {
    code = report(runtime::status_of_exception());
  }
  const int output_code = report(finish_output());
  return code == kExitOk ? output_code : code;
}

int main(int argc, char** argv) {
  open_standard_streams();
  CLI::App app("Compiles neural networks ahead of time and runs them on a small virtual machine.",
               "scopevm");
  app.set_version_flag("--version", "scopevm " SCOPEVM_VERSION);
  app.footer("A file named - is standard input or standard output.");
  app.require_subcommand(1);
  app.failure_message(usage_message);
  Action action;
  add_compile(app, action);
  add_explain(app, action);
  add_machine(app, action);
  add_run(app, action);
  add_module_commands(app, action);
  add_bound(app, action);
  add_alloc(app, action);
  add_help(app, action);
  for (CLI::App* command : app.get_subcommands(is_any)) reject_repeated_options(*command);
  // Not a CLI11 option, because it is for the build only and has no place in the help text.
  if (argc == 3 && std::string_view(argv[1]) == "--reference") {
    std::fputs(reference(app, argv[2]).c_str(), stdout);
    return report(finish_output());
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // CLI11 also throws for --help and --version, with exit code 0.
    return app.exit(error) == 0 ? report(finish_output()) : kExitUsage;
  }
  return run_action(action);
}

}  // namespace
}  // namespace scopevm::tool

int main(int argc, char** argv) {
  // A child process of `alloc replay`. It must not allocate more than it measures, so it does not
  // parse a command line.
  if (argc > 1 && std::string_view(argv[1]) == "--replay-worker")
    return scopevm::lab::worker_main(argc, argv);
  return scopevm::tool::main(argc, argv);
}
