// Calls of functions and returns from them.
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "vm/run/call/results.h"
#include "vm/run/interpreter/interpreter_class.h"

namespace scopevm::vm {
namespace {

namespace op = isa::op;
using isa::RegisterIndex;

// The limit is far above the depth of real models. FrameStack::kMaxBytes bounds the memory of the
// frames.
constexpr size_t kMaxCallDepth = 1024;

}  // namespace

bool Interpreter::enter(const LoadedFunction& function) {
  if (Status pushed = context_.push_frame(function); !pushed.ok()) {
    status_ = std::move(pushed);
    return false;
  }
  frame_ = context_.frames.top();
  // The slots and all that follows them: an execution hook can read them before they are written.
  if (options_.hook != nullptr)
    std::memset(frame_.slots, 0, function.layout.bytes - function.layout.slots_offset);
  next_ = function.decl->code.data();
  return true;
}

void Interpreter::leave_frame() {
  for (Register& each : std::span(frame_.registers, frame_.function->decl->register_count))
    reset(each);
  context_.pop_frame();
}

// Pushes the callee's frame. `results` are the caller's registers that receive its results.
bool Interpreter::push_call(uint32_t callee, isa::RegisterList results) {
  if (context_.frames.depth() >= kMaxCallDepth) {
    status_ = Status(StatusCode::kResourceLimit,
                     "more than " + std::to_string(kMaxCallDepth) + " nested calls");
    return false;
  }
  if (!check_interrupts()) return false;
  // enter() sets next_ to the callee's first instruction.
  const uint32_t* resume = next_;
  if (!enter(session_.module().function(callee))) return false;
  frame_.resume = resume;
  frame_.results = results;
  // frame_ is a copy of the top frame. The copy is stored back, because these fields are read when
  // the frame returns.
  context_.frames.top() = frame_;
  if (is_traced_) context_.tracer.enter(frame_.function->decl->name);
  return true;
}

// Called before push_call(), so that the message names the caller's function and instruction.
bool Interpreter::check_argument(const LoadedFunction& callee, uint32_t parameter,
                                 const Register& argument) {
  if (argument.rank <= callee.layout.max_rank) return true;
  return fail(StatusCode::kInvalidModel, "argument " + std::to_string(parameter) + " has rank " +
                                             std::to_string(argument.rank) + ", expected at most " +
                                             std::to_string(callee.layout.max_rank));
}

// Copies the caller's register `argument` to the callee's register `parameter`.
// REQUIRES: check_argument() succeeded.
void Interpreter::pass(uint32_t parameter, const Register& argument, const int64_t* dims) {
  set({parameter}, argument);
  std::memcpy(this->dims({parameter}), dims, argument.rank * sizeof(int64_t));
}

bool Interpreter::execute(const op::call& in) {
  // A copy, because push_call() replaces frame_. Its pointers stay valid: frame memory does not
  // move.
  const Frame caller = frame_;
  const LoadedFunction& callee = session_.module().function(in.callee.value);
  for (uint32_t i = 0; i < in.arguments.size(); ++i)
    if (!check_argument(callee, i, reg(in.arguments[i]))) return false;
  if (!push_call(in.callee.value, in.results)) return false;
  for (uint32_t i = 0; i < in.arguments.size(); ++i) {
    const uint32_t from = in.arguments[i].value;
    pass(i, caller.registers[from], caller.dims_of(from));
  }
  return true;
}

bool Interpreter::execute(const op::ret& in) {
  if (context_.frames.depth() == 1) return return_from_main(in.values);
  const Frame callee = frame_;
  // Checked while frame_ is the callee's frame, which fail() names.
  const uint32_t max_rank = context_.frames.below_top().function->layout.max_rank;
  for (uint32_t i = 0; i < in.values.size(); ++i)
    if (const Register& value = reg(in.values[i]); value.rank > max_rank)
      return fail(StatusCode::kInvalidModel, "result " + std::to_string(i) + " has rank " +
                                                 std::to_string(value.rank) +
                                                 ", expected at most " + std::to_string(max_rank));
  // frame_ becomes the caller's frame, so that set() and dims() write registers of the caller. The
  // callee's frame stays on the stack until its results have been copied.
  frame_ = context_.frames.below_top();
  for (uint32_t i = 0; i < in.values.size(); ++i) {
    const Register& value = callee.registers[in.values[i].value];
    const RegisterIndex dst = callee.results[i];
    set(dst, value);
    std::memcpy(dims(dst), callee.dims_of(in.values[i].value), value.rank * sizeof(int64_t));
  }
  const Frame caller = std::exchange(frame_, callee);
  leave_frame();
  frame_ = caller;
  next_ = callee.resume;
  if (is_traced_) context_.tracer.leave();
  return true;
}

bool Interpreter::return_from_main(isa::RegisterList values) {
  // It can allocate copies of results.
  // The results are on rank 0.
  if (context_.request->channel_of_rank_0 == nullptr)
    status_ = on_thread([&] { return collect_results(session_, context_, frame_, values); });
  // The bounds are recorded before leave_frame(), because the slots are in the memory of the frame.
  if (status_.ok()) record_bounds(*frame_.function->decl, frame_.slots, context_.pools());
  leave_frame();
  return false;
}

}  // namespace scopevm::vm
