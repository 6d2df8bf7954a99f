// Collects the commands, and executes the selected one; see command.h.
#include "tools/command_line/command.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "runtime/without_exceptions.h"
#include "tools/command_line/child_process.h"
#include "tools/command_line/exit_code.h"
#include "tools/command_line/parser.h"
#include "tools/command_line/reference.h"
#include "tools/files/own_files.h"
#include "tools/files/standard_streams.h"

namespace scopevm::tool {
namespace {

struct Entry {
  CommandName command;
  std::function<Action(CLI::App&)> declare;  // empty: a group, or forwarded
  std::string program;                       // that the command is forwarded to; empty: none
  Status (*check)() = nullptr;               // of ForwardedCommand
};

// The registered commands. A function, because constants of other files register commands before
// main() in an unspecified order.
std::vector<Entry>& registry() {
  static std::vector<Entry> entries;
  return entries;
}

// Declares the commands. The callback of the selected command sets `action`.
void add_commands(CLI::App& app, Action& action) {
  std::ranges::sort(registry(), {}, [](const Entry& entry) { return entry.command.position; });
  for (const auto& [command, declare, program, check] : registry()) {
    const size_t space = command.name.rfind(' ');
    const bool is_in_group = space != std::string::npos;
    CLI::App* parent = is_in_group ? app.get_subcommand(command.name.substr(0, space)) : &app;
    CLI::App* added = parent->add_subcommand(
        is_in_group ? command.name.substr(space + 1) : command.name, command.description);
    if (declare)
      added->callback([&action, run = declare(*added)] { action = run; });
    else if (program.empty())
      added->require_subcommand(1);
  }
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

// The forwarded command that the arguments select, also as `help COMMAND`; null: none.
const Entry* forwarded_command(int argc, char** argv) {
  const int at = argc > 1 && std::string_view(argv[1]) == "help" ? 2 : 1;
  if (argc <= at) return nullptr;
  const auto entry = std::ranges::find_if(registry(), [&](const Entry& entry) {
    return !entry.program.empty() && entry.command.name == argv[at];
  });
  return entry == registry().end() ? nullptr : &*entry;
}

// Returns only if the program cannot be started.
int execute_program(const Entry& forwarded, char** argv) {
  const Result<std::string> path = find_own_program(forwarded.program);
  if (!path.ok()) return report(path.status());
  if (forwarded.check != nullptr)
    if (const Status status = forwarded.check(); !status.ok()) return report(status);
  execv(path->c_str(), argv);
  return report({StatusCode::kNotFound, *path + ": cannot run: " + std::strerror(errno)});
}

// Not a CLI11 option, because it is for the build only and has no place in the help text. The form
// "man" or "bash" prints the whole reference. Other programs print "man-part" and "bash-part".
Status print_reference(const CLI::App& app, const std::string& form) {
  std::map<std::string, std::string> parts;
  std::set<std::string> programs;
  for (const Entry& entry : registry()) {
    if (entry.program.empty()) continue;
    // The part of a program has all of its commands, so that it replaces the first one here.
    std::string& part = parts[entry.command.name];
    const Result<std::string> path = find_own_program(entry.program);
    if (!path.ok() || !programs.insert(entry.program).second) continue;  // a build without it
    SCOPEVM_RETURN_IF_ERROR(run_child({*path, "--reference", form + "-part"}, {}, &part).status());
  }
  write_output(reference(app, form, parts));
  return {};
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

}  // namespace

void register_command(CommandName name, std::function<Action(CLI::App&)> declare) {
  registry().push_back({std::move(name), std::move(declare), {}});
}

CommandGroup::CommandGroup(CommandName name) { register_command(std::move(name), {}); }

ForwardedCommand::ForwardedCommand(CommandName name, std::string program, Status (*check)()) {
  registry().push_back({std::move(name), {}, std::move(program), check});
}

int run_program(int argc, char** argv) {
  open_standard_streams();
  if (const Entry* forwarded = forwarded_command(argc, argv))
    return run_action([&] { return execute_program(*forwarded, argv); });
  CLI::App app("Compiles neural networks ahead of time and runs them on a small virtual machine.",
               "scopevm");
  app.set_version_flag("--version", "scopevm " SCOPEVM_VERSION);
  app.footer("A file named - is standard input or standard output.");
  app.require_subcommand(1);
  app.failure_message(usage_message);
  Action action;
  add_commands(app, action);
  add_help(app, action);
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; }))
    reject_repeated_options(*command);
  if (argc == 3 && std::string_view(argv[1]) == "--reference") {
    const int code = report(print_reference(app, argv[2]));
    return code == kExitOk ? report(finish_output()) : code;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // CLI11 also throws for --help and --version, with exit code 0.
    return app.exit(error) == 0 ? report(finish_output()) : kExitUsage;
  }
  return run_action(action);
}

}  // namespace scopevm::tool
