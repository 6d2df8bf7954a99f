// Parses the option of docs/adding-a-compile-option.md and prints its member of CompileOptions.
#include <cstdio>

#include "tools/command_line/command.h"
#include "tools/compile/options/model_options.h"

namespace scopevm::tool {
namespace {

void declare(CLI::App& command, ModelOptions& options) {
  add_named(command, options, /*is_explain=*/true);
}

int print_option(const ModelOptions& options) {
  const Result<OptionSetter> parsed = parse_model_options(options);
  if (!parsed.ok()) return 1;
  std::printf("warnings are errors: %s, fast convolutions: %s\n",
              parsed->compile.warnings_are_errors ? "yes" : "no",
              parsed->compile.fast_conv ? "yes" : "no");
  return 0;
}

const Command<ModelOptions> registered({.position = 1, .name = "print", .description = "Print it"},
                                       declare, print_option);

}  // namespace
}  // namespace scopevm::tool

int main(int argc, char** argv) { return scopevm::tool::run_program(argc, argv); }
