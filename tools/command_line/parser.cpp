// Messages of the command-line parser; see parser.h.
#include "tools/command_line/parser.h"

#include <algorithm>
#include <vector>

#include "runtime/count_text.h"
#include "runtime/nearest_name.h"
#include "tools/files/standard_streams.h"

namespace scopevm::tool {
namespace {

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

// "alloc plan": the command's name after those of its groups.
std::string path_of(const CLI::App& command) {
  const CLI::App* group = command.get_parent();
  const bool is_in_group = group != nullptr && group->get_parent() != nullptr;
  return (is_in_group ? path_of(*group) + " " : "") + command.get_name();
}

std::string unexpected_argument(const CLI::App& command, const std::string& argument) {
  const std::string option = argument.substr(0, argument.find('='));
  const std::string suggestion =
      option.starts_with("--") ? runtime::name_suggestion(option, option_names(command)) : "";
  return path_of(command) + ": unexpected argument \"" + argument + "\"" + suggestion;
}

// The message for an option that is given more often than the parser accepts; empty if there is
// none.
std::string repeated_option(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options())
    if (option->get_multi_option_policy() == CLI::MultiOptionPolicy::Throw &&
        option->get_items_expected_max() <= 1 && option->count() > 1)
      return option->get_name() + " is given " + runtime::count_text(option->count(), "time") +
             ", expected at most once";
  return "";
}

// The selected command, or the innermost group of commands if none is selected.
const CLI::App& selected_command(const CLI::App& app) {
  const std::vector<CLI::App*> commands = app.get_subcommands();
  return commands.empty() ? app : selected_command(*commands.front());
}

std::string describe(const CLI::App& app, const CLI::Error& error) {
  const CLI::App& command = selected_command(app);
  if (!command.get_subcommands([](const CLI::App*) { return true; }).empty()) {
    const std::vector<std::string> arguments = command.remaining();
    const std::string context = &command == &app ? "" : command.get_name() + ": ";
    return context +
           (arguments.empty() ? "expected a command" : unknown_command(command, arguments.front()));
  }
  if (const std::string repeated = repeated_option(command); !repeated.empty()) return repeated;
  // After an invalid value, a "--" that the command accepts remains, too.
  const std::vector<std::string> arguments = command.remaining();
  const auto unexpected =
      std::ranges::find_if(arguments, [](const std::string& text) { return text != "--"; });
  if (unexpected != arguments.end()) return unexpected_argument(command, *unexpected);
  return error.what();
}

}  // namespace

std::string unknown_command(const CLI::App& app, const std::string& name) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  const bool is_option = name.starts_with("-");
  return (is_option ? "unknown option \"" : "unknown command \"") + name + "\"" +
         runtime::name_suggestion(name, is_option ? option_names(app) : names);
}

void reject_repeated_options(CLI::App& command) {
  for (CLI::App* inner : command.get_subcommands([](CLI::App*) { return true; }))
    reject_repeated_options(*inner);
  for (CLI::Option* option : command.get_options())
    if (option->get_items_expected_max() <= 1)
      option->multi_option_policy(CLI::MultiOptionPolicy::Throw);
}

std::string usage_message(const CLI::App* app, const CLI::Error& error) {
  return "scopevm: " + escaped(describe(*app, error)) + "\nRun with --help for more information.\n";
}

}  // namespace scopevm::tool
