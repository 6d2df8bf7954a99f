// Runs and stops of the debugger; see debugger.h.
#include "tools/scopevm/commands/debug/debugger.h"

#include <utility>

#include "tools/execution/state_tensor.h"
#include "tools/files/standard_streams.h"
#include "tools/tensors/element_text.h"

namespace scopevm::tool {

bool Debugger::has_special(const ExecutionState& state) {
  if (!last_) return false;
  for (const Breakpoint& breakpoint : breakpoints_) {
    if (!breakpoint.is_of_elements()) continue;
    const bool infinite = breakpoint.kind == Breakpoint::Kind::kInfinity;
    for (const uint32_t index : code_.written_tensors(*last_)) {
      const Result<Tensor> tensor = copy_tensor(state, state.register_value(index));
      if (!tensor.ok()) continue;
      const std::optional<int64_t> element = find_special(*tensor, infinite);
      if (!element) continue;
      if (search_end_ < 0)
        print("{} in %r{} at {}, written by {} at {}\n", infinite ? "infinity" : "NaN", index,
              index_text(tensor->dims(), *element), code_.name(*last_), code_.text(*last_));
      return true;
    }
  }
  return false;
}

bool Debugger::is_stop(const ExecutionState& state) {
  bool is_stop = false;
  // All of them in each state, because a comparison stops the run when it becomes true.
  for (Breakpoint& breakpoint : breakpoints_)
    if (is_reached(breakpoint, state, code_, inspector_)) is_stop = true;
  if (target_ && state.position() == *target_) return true;
  return are_breakpoints_active_ && (has_special(state) || is_stop);
}

bool Debugger::at(const ExecutionState& state) {
  const bool stops = is_stop(state);
  last_ = state.next();
  if (search_end_ >= 0) {
    if (state.position() >= search_end_) return false;
    if (stops) found_ = state.position();
    return true;
  }
  if (!stops) return true;
  state_ = &state;
  position_ = state.position();
  inspector_.print_place(position_, state.next());
  next_ = execute_commands();
  state_ = nullptr;
  return next_ == Next::kContinue;
}

void Debugger::print_end(const Status& status) {
  if (status.ok()) {
    print("the call has ended after {} instructions\n", position_);
    return;
  }
  print("the call failed: {}\n", std::string(status.message()));
}

// Runs the call until it ends or a command stops it.
void Debugger::run_once() {
  has_ended_ = false;
  failure_.reset();
  last_.reset();
  next_ = Next::kContinue;
  for (Breakpoint& breakpoint : breakpoints_) breakpoint.was_true = false;
  struct Counter final : ExecutionHook {
    explicit Counter(Debugger& of) : debugger(of) {}
    bool at(const ExecutionState& state) override {
      count = state.position() + 1;
      return debugger.at(state);
    }
    Debugger& debugger;
    int64_t count = 0;
  } counter(*this);
  CallOptions options;
  options.hook = &counter;
  const Status status = call_.run(options);
  if (search_end_ >= 0) {
    search_end_ = -1;
    // Without a breakpoint before it, the search ends at the start.
    target_ = found_.value_or(0);
    are_breakpoints_active_ = false;
    next_ = Next::kAgain;
    return;
  }
  if (next_ != Next::kContinue) return;
  has_ended_ = true;
  position_ = counter.count;
  if (!status.ok()) failure_ = status;
  print_end(status);
  next_ = execute_commands();
}

void Debugger::run() {
  next_ = execute_commands();
  while (next_ != Next::kQuit) run_once();
}

}  // namespace scopevm::tool
