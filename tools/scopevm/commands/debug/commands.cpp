// The commands of the debugger; see debugger.h.
#include <algorithm>
#include <string_view>
#include <utility>

#include "runtime/count_text.h"
#include "runtime/quoted.h"
#include "tools/command_line/arguments.h"
#include "tools/files/standard_streams.h"
#include "tools/scopevm/commands/debug/debugger.h"

namespace scopevm::tool {
namespace {

constexpr size_t kListedBefore = 3, kListedAfter = 6;

// Splits "NAME BEGIN..END" into the name and the range.
bool parse_value(const std::string& argument, std::string& name, ElementRange& range) {
  const size_t dots = argument.rfind(".."), space = argument.rfind(' ');
  name = argument;
  if (dots == std::string::npos || space == std::string::npos || space > dots) return true;
  const Result<int64_t> begin = parse_number(argument.substr(space + 1, dots - space - 1)),
                        end = parse_number(argument.substr(dots + 2));
  if (!begin.ok() || !end.ok() || *begin < 0 || *end < *begin) return false;
  name = trimmed(argument.substr(0, space));
  range = {*begin, *end};
  return true;
}

}  // namespace

struct Debugger::CommandRow {
  std::string_view name;
  std::string_view short_name;  // can be empty
  std::string_view arguments;
  std::string_view text;
  Next (Debugger::*execute)(const std::string& argument);
};

const std::vector<Debugger::CommandRow>& Debugger::rows() {
  static const std::vector<CommandRow> rows = {
      {"help", "h", "", "print the commands", &Debugger::help},
      {"break", "b", "[PLACE]",
       "stop at FUNCTION:PC, op NAME, kernel NAME, opcode NAME, "
       "if COMPARISON, nan or inf; without PLACE: print the breakpoints",
       &Debugger::set_breakpoint},
      {"delete", "d", "NUMBER", "delete a breakpoint", &Debugger::delete_breakpoint},
      {"run", "r", "", "run from the start to the first breakpoint", &Debugger::run_again},
      {"start", "", "", "go to the first instruction", &Debugger::start},
      {"continue", "c", "", "run to the next breakpoint", &Debugger::resume},
      {"reverse", "rc", "", "go back to the last breakpoint, or to the start", &Debugger::reverse},
      {"step", "s", "[COUNT]", "execute instructions", &Debugger::step},
      {"back", "bs", "[COUNT]", "go back by instructions", &Debugger::back},
      {"goto", "g", "POSITION", "go to the state after this number of instructions",
       &Debugger::go_to},
      {"print", "p", "NAME [BEGIN..END]",
       "print a register (%r3), slot (s3), input or result, "
       "or a formula (n + r3.0); elements BEGIN to END - 1",
       &Debugger::print_value},
      {"registers", "i", "", "print the types of all registers", &Debugger::print_registers},
      {"dims", "", "", "print dimensions and shapes with formulas", &Debugger::print_dims},
      {"backtrace", "bt", "", "print the active functions", &Debugger::print_backtrace},
      {"list", "l", "[COUNT]", "print the code around the instruction", &Debugger::list},
      {"quit", "q", "", "end the debugger", &Debugger::quit},
  };
  return rows;
}

Debugger::Next Debugger::execute_commands() {
  std::string line;
  for (;;) {
    if (!prompt_.empty()) {
      print("{}", prompt_);
      (void)finish_output();
    }
    if (!std::getline(commands_, line)) return Next::kQuit;
    line = trimmed(line);
    if (line.empty() || line[0] == '#') continue;
    if (const Next next = execute(line); next != Next::kCommand) return next;
  }
}

Debugger::Next Debugger::execute(const std::string& line) {
  const size_t space = line.find(' ');
  const std::string name = line.substr(0, space);
  const std::string argument = space == std::string::npos ? "" : trimmed(line.substr(space));
  for (const CommandRow& row : rows())
    if (row.name == name || row.short_name == name) {
      if (row.arguments.empty() && !argument.empty())
        return reject(std::string(row.name) + ": expected no argument");
      return (this->*row.execute)(argument);
    }
  return reject("unknown command " + runtime::quoted(name) + "; `help` prints the commands");
}

Debugger::Next Debugger::reject(const std::string& what) {
  print("error: {}\n", what);
  return Next::kCommand;
}

std::optional<int64_t> Debugger::number(const std::string& argument, int64_t usual, int64_t least) {
  if (argument.empty() && usual >= least) return usual;
  const Result<int64_t> given = parse_number(argument);
  if (given.ok() && *given >= least) return *given;
  reject(runtime::quoted(argument) + ": expected an integer of at least " + std::to_string(least));
  return std::nullopt;
}

Debugger::Next Debugger::help(const std::string&) {
  for (const CommandRow& row : rows()) {
    std::string form(row.name);
    if (!row.short_name.empty()) form += ", " + std::string(row.short_name);
    if (!row.arguments.empty()) form += " " + std::string(row.arguments);
    print("{}\n    {}\n", form, row.text);
  }
  return Next::kCommand;
}

Debugger::Next Debugger::set_breakpoint(const std::string& argument) {
  if (argument.empty()) {
    for (size_t i = 0; i < breakpoints_.size(); ++i)
      print("breakpoint {}: {}\n", i, breakpoints_[i].text);
    if (breakpoints_.empty()) print("no breakpoints\n");
    return Next::kCommand;
  }
  Result<Breakpoint> made = parse_breakpoint(argument, code_);
  if (!made.ok()) return reject(std::string(made.status().message()));
  if (state_ != nullptr) (void)is_reached(*made, *state_, code_, inspector_);  // sets was_true
  print("breakpoint {}: {}\n", breakpoints_.size(), made->text);
  breakpoints_.push_back(*std::move(made));
  return Next::kCommand;
}

Debugger::Next Debugger::delete_breakpoint(const std::string& argument) {
  const std::optional<int64_t> index = number(argument, -1, 0);
  if (!index) return Next::kCommand;
  if (*index >= static_cast<int64_t>(breakpoints_.size()))
    return reject("there is no breakpoint " + std::to_string(*index));
  breakpoints_.erase(breakpoints_.begin() + *index);
  return Next::kCommand;
}

Debugger::Next Debugger::move_to(int64_t position) {
  const bool is_ahead = state_ != nullptr && position > position_;
  target_ = position;
  are_breakpoints_active_ = false;
  return is_ahead ? Next::kContinue : Next::kAgain;
}

Debugger::Next Debugger::start(const std::string&) { return move_to(0); }

Debugger::Next Debugger::run_again(const std::string&) {
  target_.reset();
  are_breakpoints_active_ = true;
  return Next::kAgain;
}

Debugger::Next Debugger::resume(const std::string&) {
  if (has_ended_ && state_ == nullptr)
    return reject("this is the end of the call; `run` starts it again, `back` goes back");
  target_.reset();
  are_breakpoints_active_ = true;
  return state_ != nullptr ? Next::kContinue : Next::kAgain;
}

Debugger::Next Debugger::step(const std::string& argument) {
  const std::optional<int64_t> count = number(argument, 1, 1);
  if (!count) return Next::kCommand;
  if (has_ended_ && state_ == nullptr)
    return reject("this is the end of the call; `run` starts it again, `back` goes back");
  return move_to(state_ == nullptr ? *count - 1 : position_ + *count);
}

Debugger::Next Debugger::back(const std::string& argument) {
  const std::optional<int64_t> count = number(argument, 1, 1);
  if (!count) return Next::kCommand;
  if (position_ == 0) return reject("this is the start of the call");
  return move_to(std::max<int64_t>(position_ - *count, 0));
}

Debugger::Next Debugger::reverse(const std::string&) {
  if (position_ == 0) return reject("this is the start of the call");
  target_.reset();
  found_.reset();
  are_breakpoints_active_ = true;
  search_end_ = position_;
  return Next::kAgain;
}

Debugger::Next Debugger::go_to(const std::string& argument) {
  const std::optional<int64_t> position = number(argument, -1, 0);
  return position ? move_to(*position) : Next::kCommand;
}

// An input or a result of the call.
Debugger::Next Debugger::print_named(const std::string& name, ElementRange range) {
  if (state_ != nullptr && state_->depth() == 1)
    for (uint32_t i = 0; i < signature_.inputs.size(); ++i)
      if (signature_.inputs[i].name == name) {
        const Status status = inspector_.print_register(*state_, i, range);
        return status.ok() ? Next::kCommand : reject(std::string(status.message()));
      }
  for (const TensorSignature& output : signature_.outputs) {
    if (output.name != name) continue;
    if (has_ended_ && failure_) return reject("the call has failed and has no results");
    if (!has_ended_ || state_ != nullptr)
      return reject("the result " + runtime::quoted(name) + " exists after the end of the call");
    const Result<std::span<const Tensor>> elements = call_.elements(name);
    if (!elements.ok()) return reject(std::string(elements.status().message()));
    for (const Tensor& tensor : *elements) inspector_.print_tensor(name, "", tensor, range);
    return Next::kCommand;
  }
  return reject("no value " + runtime::quoted(name) +
                " here; expected a register (%r3), a slot (s3), an input, a result or a formula");
}

Debugger::Next Debugger::print_value(const std::string& argument) {
  std::string name;
  ElementRange range;
  if (!parse_value(argument, name, range))
    return reject(runtime::quoted(argument) + ": expected BEGIN..END, such as 10..20");
  if (name.empty()) return reject("print: expected a name");
  if (name.starts_with("%r")) {
    const Result<int64_t> index = parse_number(name.substr(2));
    if (!index.ok() || *index < 0 || *index > UINT32_MAX)
      return reject(runtime::quoted(name) + ": expected a register, such as %r3");
    if (state_ == nullptr) return reject("no instruction is next; registers exist during a run");
    const Status status = inspector_.print_register(*state_, static_cast<uint32_t>(*index), range);
    return status.ok() ? Next::kCommand : reject(std::string(status.message()));
  }
  const std::optional<int64_t> value = inspector_.evaluate(name, state_);
  if (!value) return print_named(name, range);
  print("{} = {}\n", name, *value);
  return Next::kCommand;
}

Debugger::Next Debugger::print_registers(const std::string&) {
  if (state_ == nullptr) return reject("no instruction is next; registers exist during a run");
  inspector_.print_registers(*state_);
  return Next::kCommand;
}

Debugger::Next Debugger::print_dims(const std::string&) {
  inspector_.print_dims(state_);
  return Next::kCommand;
}

Debugger::Next Debugger::print_backtrace(const std::string&) {
  if (state_ == nullptr) return reject("no instruction is next; functions are active in a run");
  inspector_.print_backtrace(*state_);
  return Next::kCommand;
}

Debugger::Next Debugger::list(const std::string& argument) {
  const std::optional<int64_t> count = number(argument, kListedAfter, 1);
  if (!count) return Next::kCommand;
  if (state_ != nullptr) {
    inspector_.print_code(state_->next(), argument.empty() ? kListedBefore : 0,
                          static_cast<size_t>(*count));
    return Next::kCommand;
  }
  const auto main = static_cast<uint32_t>(code_.module().main() - code_.module().functions.data());
  inspector_.print_code({main, 0}, 0, static_cast<size_t>(*count));
  return Next::kCommand;
}

Debugger::Next Debugger::quit(const std::string&) { return Next::kQuit; }

}  // namespace scopevm::tool
