// Writes the man page in roff (man(7)) and the completion script of bash.
#include "tools/command_line/reference.h"

#include <fmt/format.h>

namespace scopevm::tool {
namespace {

std::vector<const CLI::App*> commands(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

// Escapes characters with a meaning in roff. A line that starts with one of `.'` is a request.
std::string roff(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    const bool starts_line = escaped.empty() || escaped.back() == '\n';
    if (starts_line && (c == '.' || c == '\'')) escaped += "\\&";
    if (c == '-') escaped += '\\';
    escaped += c == '\\' ? "\\e" : std::string(1, c);
  }
  return escaped;
}

std::string man_options(const CLI::App& command) {
  std::string text;
  for (const CLI::Option* option : command.get_options()) {
    const bool is_positional = !option->nonpositional();
    text += fmt::format(".TP\n\\fB{}\\fR{}\n{}\n", roff(option->get_name(is_positional, true)),
                        roff(CLI::Formatter().make_option_opts(option)),
                        roff(option->get_description()));
  }
  return text;
}

// The sections of a command and of the commands of a group.
std::string man_section(const CLI::App& command, const std::string& path) {
  std::string text = fmt::format(".SS {}\n{}\n{}", roff(path), roff(command.get_description()),
                                 man_options(command));
  for (const CLI::App* inner : commands(command))
    text += man_section(*inner, path + " " + inner->get_name());
  return text;
}

using Parts = std::map<std::string, std::string>;

// What `print` returns for each command of the program, or the part of another program.
template <typename Print>
std::string all_commands(const CLI::App& app, const Parts& parts, Print print) {
  std::string text;
  for (const CLI::App* command : commands(app)) {
    const auto part = parts.find(command->get_name());
    text += part != parts.end() ? part->second : print(*command);
  }
  return text;
}

std::string man_sections(const CLI::App& app, const Parts& parts) {
  return all_commands(app, parts, [](const CLI::App& command) {
    return man_section(command, "scopevm " + command.get_name());
  });
}

std::string man_page(const CLI::App& app, const Parts& parts) {
  return fmt::format(
      ".TH SCOPEVM 1 \"\" \"scopevm {0}\"\n.SH NAME\nscopevm \\- {1}\n"
      ".SH SYNOPSIS\n\\fBscopevm\\fR \\fICOMMAND\\fR [\\fIARGUMENTS\\fR]\n.SH OPTIONS\n{2}"
      ".SH COMMANDS\n{3}",
      SCOPEVM_VERSION, roff(app.get_description()), man_options(app), man_sections(app, parts));
}

// The options of a command, separated by spaces: "-o --output --dim".
std::string words_of(const CLI::App& command) {
  std::string names;
  const auto add = [&names](const std::string& name) {
    names += (names.empty() ? "" : " ") + name;
  };
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_snames()) add("-" + name);
    for (const std::string& name : option->get_lnames()) add("--" + name);
  }
  return names;
}

std::string command_names(const CLI::App& group) {
  std::string names;
  for (const CLI::App* command : commands(group)) names += command->get_name() + " ";
  return names;
}

// A branch of the completion's case statement. In a group, the second word selects the command.
std::string completion_branch(const CLI::App& command) {
  std::string branch = fmt::format("    {}) words='{}'", command.get_name(), words_of(command));
  if (const std::string names = command_names(command); !names.empty()) {
    branch += fmt::format(" names='{}'\n    case ${{COMP_WORDS[2]}} in\n", names);
    for (const CLI::App* inner : commands(command)) branch += completion_branch(*inner);
    branch += "    esac";
  }
  return branch + " ;;\n";
}

std::string bash_completion(const CLI::App& app, const Parts& parts) {
  // An empty COMPREPLY makes bash complete file names (-o default).
  return fmt::format(R"(# Completion of scopevm for bash, generated from its options.
_scopevm() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} words= names=
  case ${{COMP_WORDS[1]}} in
{1}  esac
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    words='{0}{2}'
  elif ((COMP_CWORD == 2)) && [[ -n $names ]]; then
    words="$names $words"
  elif [[ $current != -* ]]; then
    return
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}}
complete -o default -F _scopevm scopevm
)",
                     command_names(app), all_commands(app, parts, completion_branch),
                     words_of(app));
}

}  // namespace

std::string reference(const CLI::App& app, std::string_view form, const Parts& parts) {
  // The program that collects the parts has its own `help`.
  const Parts without_help = {{"help", ""}};
  if (form == "man-part") return man_sections(app, without_help);
  if (form == "bash-part") return all_commands(app, without_help, completion_branch);
  return form == "man" ? man_page(app, parts) : bash_completion(app, parts);
}

}  // namespace scopevm::tool
