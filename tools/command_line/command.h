// The commands of a program. A command is one source file: its options, their parser and its
// action. The file registers the command with a constant:
//
//   const Command<VerifyOptions> registered(
//       {.position = 80, .name = "verify", .description = "Check a module"}, declare, verify);
//
// run_program() parses the command line and executes the selected command. docs/adding-a-command.md
// describes the steps.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>

#include "scopevm/status.h"

namespace scopevm::tool {

struct CommandName {
  int position;             // commands are listed by ascending position
  std::string name;         // "verify"; or with its group, "alloc plan"
  std::string description;  // in the list of commands and in the command's help
};

// What the selected command executes; returns the exit code.
using Action = std::function<int()>;

// Registers a command. `declare` declares its options and returns its action.
void register_command(CommandName name, std::function<Action(CLI::App&)> declare);

// A command whose arguments are parsed into an Options. The objects below are static constants.
template <typename Options>
class Command {
 public:
  Command(CommandName name, void (*declare)(CLI::App& command, Options& options),
          int (*run)(const Options& options)) {
    register_command(std::move(name), [=](CLI::App& command) -> Action {
      // Shared by the parser and the action, which outlives this function.
      auto parsed = std::make_shared<Options>();
      declare(command, *parsed);
      return [=] { return run(*parsed); };
    });
  }
};

// A group of commands. Its position is less than those of its commands.
struct CommandGroup {
  explicit CommandGroup(CommandName name);
};

// A command that another program of this project executes: `program` is started with the same
// arguments, and replaces the process. It has a command or group of the same name. If `check` is
// not null and fails, the program is not started.
struct ForwardedCommand {
  ForwardedCommand(CommandName name, std::string program, Status (*check)() = nullptr);
};

// The main() of a program: parses the command line and executes the selected command. In addition
// to the registered commands, there are `help` and the options --help and --version.
int run_program(int argc, char** argv);

}  // namespace scopevm::tool
