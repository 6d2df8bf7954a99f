// The debugger: runs a call, and executes commands between its instructions. A run cannot go back,
// so `back` runs the call again up to an earlier position. This gives the same state, because calls
// are deterministic.
//   commands.cpp     the commands
//   debugger.cpp     runs and stops
#pragma once

#include <cstdint>
#include <functional>
#include <istream>
#include <optional>
#include <string>
#include <vector>

#include "scopevm/session.h"
#include "tools/execution/code_map.h"
#include "tools/scopevm/commands/debug/breakpoint.h"
#include "tools/scopevm/commands/debug/inspector.h"

namespace scopevm::tool {

class Debugger final : public ExecutionHook {
 public:
  // All arguments must outlive this object. `prompt` is printed before each command; can be empty.
  Debugger(CodeMap& code, Call& call, const Signature& signature, std::istream& commands,
           std::string prompt)
      : code_(code),
        inspector_(code),
        call_(call),
        signature_(signature),
        commands_(commands),
        prompt_(std::move(prompt)) {}

  void set_dimensions(DimensionValues values) { inspector_.set_dimensions(std::move(values)); }
  // Executes commands until `quit` or the end of the commands.
  void run();

  bool at(const ExecutionState& state) override;

 private:
  struct CommandRow;
  // What a command does after it: waits for the next command, continues the run, runs the call
  // again, or ends the debugger.
  enum class Next : uint8_t { kCommand, kContinue, kAgain, kQuit };

  static const std::vector<CommandRow>& rows();
  // Reads and executes commands. Does not return kCommand.
  Next execute_commands();
  Next execute(const std::string& line);
  // A command. `argument` is the rest of its line.
  Next help(const std::string& argument);
  Next set_breakpoint(const std::string& argument);
  Next delete_breakpoint(const std::string& argument);
  Next start(const std::string& argument);
  Next run_again(const std::string& argument);
  Next resume(const std::string& argument);
  Next step(const std::string& argument);
  Next back(const std::string& argument);
  Next reverse(const std::string& argument);
  Next go_to(const std::string& argument);
  Next print_value(const std::string& argument);
  Next print_registers(const std::string& argument);
  Next print_dims(const std::string& argument);
  Next print_backtrace(const std::string& argument);
  Next list(const std::string& argument);
  Next quit(const std::string& argument);

  Next move_to(int64_t position);
  // Prints an error of a command.
  Next reject(const std::string& what);
  // The number of an argument, or `usual` if there is none; no value after an error.
  std::optional<int64_t> number(const std::string& argument, int64_t usual, int64_t least);
  Next print_named(const std::string& name, ElementRange range);

  bool is_stop(const ExecutionState& state);
  // Whether the last instruction has written what a breakpoint looks for. Prints it.
  bool has_special(const ExecutionState& state);
  void run_once();
  void print_end(const Status& status);

  CodeMap& code_;
  Inspector inspector_;
  Call& call_;
  const Signature& signature_;
  std::istream& commands_;
  const std::string prompt_;
  std::vector<Breakpoint> breakpoints_;

  const ExecutionState* state_ = nullptr;  // null before a run and after its end
  int64_t position_ = 0;                   // of the state, or of the end
  bool has_ended_ = false;
  std::optional<Status> failure_;  // of the run that has ended
  Next next_ = Next::kCommand;     // of the last command
  // Where the run stops without a breakpoint; no value: at none of them.
  std::optional<int64_t> target_;
  // A search for the last breakpoint before this position; -1: none.
  int64_t search_end_ = -1;
  std::optional<int64_t> found_;
  bool are_breakpoints_active_ = true;
  std::optional<InstructionPlace> last_;  // the last instruction of the run
};

}  // namespace scopevm::tool
