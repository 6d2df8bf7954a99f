// The scopevm command: parses the command line into options, one function per command.
#include <CLI/CLI.hpp>
#include <algorithm>

#include "scopevm/compiler.h"
#include "tools/scopevm/commands.h"
#include "tools/scopevm/exit_code.h"

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
  return "there is no stage \"" + name + "\"; stages are " + stage_names();
}

constexpr char kDimForms[] = "What is known of a dimension: n=4, n=1..512, n<=512, n>=2 or n%8==0";

constexpr char kMachine[] = "The machine to plan for, a JSON file; without it, one CPU";
constexpr char kPlace[] =
    "Place what matches: \"conv_*=gpu\", \"type:matmul=gpu\", \"input:x=gpu\", "
    "\"output:y=cpu.global.fast\" (more than one: later ones come first)";

// Each add_* declares one command and sets `run` to its action.
using Action = std::function<int()>;

void add_compile(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("compile", "Compile a model to a module");
  auto options = std::make_shared<CompileCommand>();
  command->add_option("MODEL", options->model, "The model: .onnx, or .mlir text")->required();
  command->add_option("-o,--output", options->output, "The module to write");
  command->add_option("--dim", options->dims, kDimForms)->allow_extra_args(false);
  command
      ->add_option("--specialise", options->specialisations,
                   "Add a variant for requests within these bounds, n=1 or n<=8,seq=128 (more than "
                   "one: a variant each)")
      ->allow_extra_args(false);
  command
      ->add_option("--target-cpu", options->target_cpus,
                   "CPU to compile for: host, x86-64, x86-64-v3, ..., with features that differ "
                   "as x86-64-v3,+avxvnni (more than one: an image each)")
      ->allow_extra_args(false);
  command->add_option("--machine", options->machine, kMachine);
  command->add_option("--place", options->places, kPlace)->allow_extra_args(false);
  command
      ->add_option("--dump-after", options->dump_after,
                   "Print the result of a stage: " + stage_names() +
                       "; or of a pass of the MLIR stages: sv-simplify, ...")
      ->check(check_stage);
  command->add_option("--threads", options->threads, "Kernels compiled at once; 0: one per core")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_flag("--timing", options->timing,
                    "Print time, share and peak memory of each stage on stderr, and its passes");
  command->add_option(
      "--crash-reproducer", options->reproducer,
      "Where a pass of the MLIR stages fails, write graph and passes to a file, for "
      "scopevm-opt --run-reproducer");
  command->add_flag("--json", options->json, "With --timing: print JSON, on stdout");
  command->callback([options, &action] { action = [options] { return compile(*options); }; });
}

void add_explain(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("explain", "Print what the compiler knows of a model");
  auto options = std::make_shared<ExplainCommand>();
  command->add_option("MODEL", options->model, "The model: .onnx, or .mlir text")->required();
  command->add_flag("--shapes", options->shapes,
                    "Each value's shape, where each symbol was born, each check of a call");
  command->add_flag("--copies", options->copies,
                    "Each copy between places: its bytes, its way, and what forces it");
  command->add_option("--svg", options->svg,
                      "With --copies: draw the graph, coloured by place, to a file");
  command->add_option("--dim", options->dims, kDimForms)->allow_extra_args(false);
  command->add_option("--machine", options->machine, kMachine);
  command->add_option("--place", options->places, kPlace)->allow_extra_args(false);
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([options, &action] { action = [options] { return explain(*options); }; });
}

void add_machine(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand(
      "machine", "Print what this host offers, as a machine description for --machine");
  command->callback([&action] { action = [] { return machine(); }; });
}

void add_run(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("run", "Run a module");
  auto options = std::make_shared<RunOptions>();
  command->add_option("MODULE", options->module, "The module")->required();
  command
      ->add_option("--input", options->inputs,
                   "NAME=FILE.npy, NAME=random:1x3x48x320[:LOW..HIGH], or NAME=text:A,B,C; of a "
                   "sequence the elements, between commas; NAME=none for an optional without a "
                   "value")
      ->allow_extra_args(false);
  command
      ->add_option("--output", options->outputs,
                   "NAME=FILE.npy; the elements of a sequence or optional go to FILE.0.npy, "
                   "FILE.1.npy, ...")
      ->allow_extra_args(false);
  command->add_option("--threads", options->threads, "Worker threads; 0: one per core")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--repeat", options->repeat, "Calls to make")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--seed", options->seed, "Seed of random inputs")->capture_default_str();
  command
      ->add_option("--memory-limit", options->limits,
                   "[DEVICE.]SCOPE=BYTES: end the run with exit code 3 rather than use more")
      ->allow_extra_args(false);
  command
      ->add_option("--device", options->devices,
                   "NAME=KIND:NUMBER: which device of this host a device of the module is")
      ->allow_extra_args(false);
  command->add_flag("--emulate", options->emulate,
                    "Copies and launches take at least what the module's pools say");
  command->add_option("--trace", options->trace, "Write each launch to a Chrome trace");
  command->add_flag("--stats", options->stats, "Print times and memory");
  command->add_flag("--json", options->json, "Print JSON, with times and memory");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

void add_bound(CLI::App& app, Action& action) {
  auto* command =
      app.add_subcommand("bound", "Print the exact bytes that a call allocates, by scope");
  auto options = std::make_shared<BoundOptions>();
  command->add_option("MODULE", options->module, "The module")->required();
  command->add_option("DIMS", options->dims, "The dimensions' values: n=512");
  command->add_option("--threads", options->threads, "Worker threads of the session")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([options, &action] { action = [options] { return bound(*options); }; });
}

void add_module_commands(CLI::App& app, Action& action) {
  auto inspected = std::make_shared<InspectOptions>();
  auto* command = app.add_subcommand(
      "inspect", "Print signature, machine, memory formulas, sections and sizes of a module");
  command->add_option("MODULE", inspected->module, "The module")->required();
  command->add_flag("--json", inspected->json, "Print JSON");
  command->callback([inspected, &action] { action = [inspected] { return inspect(*inspected); }; });

  auto text = std::make_shared<TextOptions>();
  command = app.add_subcommand("dis", "Print a module as text");
  command->add_option("MODULE", text->input, "The module")->required();
  command->add_option("-o,--output", text->output, "File to write, instead of standard output");
  command->add_flag("--no-data", text->elide_data,
                    "Leave out the bytes of constants and images: to read, not to assemble");
  command->callback([text, &action] { action = [text] { return disassemble(*text); }; });

  command = app.add_subcommand("asm", "Make a module from the text that dis prints");
  command->add_option("TEXT", text->input, "The text")->required();
  command->add_option("-o,--output", text->output, "The module to write")->required();
  command->callback([text, &action] { action = [text] { return assemble(*text); }; });

  command = app.add_subcommand("verify", "Check a module's checksums and bytecode");
  command->add_option("MODULE", text->input, "The module")->required();
  command->callback([text, &action] { action = [text] { return verify(text->input); }; });
}

int main(int argc, char** argv) {
  CLI::App app("Compiles neural networks ahead of time and runs them on a small virtual machine.",
               "scopevm");
  app.set_version_flag("--version", "scopevm " SCOPEVM_VERSION);
  app.require_subcommand(1);
  Action action;
  add_compile(app, action);
  add_explain(app, action);
  add_machine(app, action);
  add_run(app, action);
  add_module_commands(app, action);
  add_bound(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kExitOk : kExitUsage;
  }
  return action();
}

}  // namespace
}  // namespace scopevm::tool

int main(int argc, char** argv) { return scopevm::tool::main(argc, argv); }
