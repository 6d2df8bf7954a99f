// The Interpreter class. Private to this folder.
//   interpreter.cpp the dispatch loop; control, memory, compute, shapes, values
//   kernels.cpp     interrupts; launches of CPU kernels
//   calls.cpp       calls and returns
//   closures.cpp    closures
//   devices.cpp     launches and copies on non-CPU devices
//   emulated.cpp    emulated waits
//   externals.cpp   calls of external functions
//   failures.cpp    errors of instructions
//   hooked.cpp      the state that an execution hook sees
//   lists.cpp       lists
//   ranks.cpp       the request on the other ranks of a job
//   strings.cpp     string inputs and string opcodes
//   traced.cpp      events of the trace
//
// There is one execute() per row of vm/isa/opcodes.def. It returns false when the call has ended.
// Then either the entry function has returned, or status_ is the error.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scopevm/execution_hook.h"
#include "vm/isa/opcodes.h"
#include "vm/run/fiber/call_fiber.h"
#include "vm/run/frame/list.h"
#include "vm/run/interpreter/interpreter.h"

namespace scopevm::vm {

struct StringOperands;

class Pause;
class RankChannel;

class Interpreter {
  using ScopeMemory = runtime::ScopeMemory;
  using Storage = runtime::Storage;
  using RegisterIndex = isa::RegisterIndex;
  using Clock = std::chrono::steady_clock;

 public:
  Interpreter(BoundSession& session, CallContext& context, const RunOptions& options)
      : session_(session),
        context_(context),
        options_(options),
        contents_(session.module().contents()),
        kernels_(session.cpu_kernels()),
        is_traced_(options.trace != nullptr),
        is_timed_(is_traced_ || session.emulation() != nullptr),
        is_direct_(!is_timed_ && options.fiber == nullptr),
        is_limited_(options.deadline || options.cancel != nullptr),
        is_watched_(options.hook != nullptr) {}

  Status run();

 private:
  struct KernelLoop;

  bool start(const LoadedFunction& function);
  bool can_fall_back() const;
  void loop();
  // Executes the instruction at `at`, and sets `at` to the next one.
  template <typename Op>
  bool step(const uint32_t*& at);
  // What is done before the next instruction if `is_watched_`.
  [[gnu::noinline]] bool before_instruction();
  class HookedState;
  bool call_hook();
  runtime::DeviceStream* stream_of(const RegisterValue& value) const;
#define OPCODE(name, code, effect, ...) bool execute(const isa::op::name& in);
#include "vm/isa/opcodes.def"

  int64_t value(isa::Int operand) const { return operand.value(frame_.slots); }
  Register& reg(RegisterIndex index) { return frame_.registers[index.value]; }
  bool is_stack(isa::PoolIndex pool) const {
    return contents_.pools[pool.value].kind == format::PoolKind::kStack;
  }
  int64_t* dims(RegisterIndex index) const { return frame_.dims_of(index.value); }
  void set_dims(RegisterIndex index, isa::IntList from) {
    int64_t* to = dims(index);
    for (uint32_t i = 0; i < from.size(); ++i) to[i] = value(from[i]);
  }
  // Replaces the register's value by `made`. Adds a reference to made.storage, and releases the
  // reference of the old value. `made` is a copy, because it can be the register's own value.
  void set(RegisterIndex index, Register made) {
    if (made.storage != nullptr) ++made.storage->call_references;
    release_reference(std::exchange(reg(index), made).storage);
  }
  void reset(Register& target) { release_reference(std::exchange(target.storage, nullptr)); }
  void release_reference(Storage* storage) {
    if (storage != nullptr && --storage->call_references == 0) release_storage(storage);
  }

  static Register list_register(Storage* storage) {
    return {static_cast<std::byte*>(storage->data), storage, storage->bytes, DType::kU8, 0};
  }

  Status begin_on_ranks();
  template <typename Check>
  Result<RankChannel*> take_channel_on_ranks(const Check& check);
  void end_on_ranks();
  // Suspends the call until a function of the channel returns false. Without a fiber, the functions
  // that depend on it wait.
  void wait_while(bool (RankChannel::*is_waiting)(bool is_first_look));
  // Suspends the call until RankChannel::settle() would not wait.
  void wait_for_ranks();
  // REQUIRES: a fiber runs the call.
  void sleep(Pause& pause);
  // REQUIRES: channel_ is not null.
  bool is_of_other_rank(uint32_t pool) const;
  bool share_element(const Register& of, int64_t index, int64_t& slot);
  Status intern_inputs();
  Register input_register(const Tensor& input);
  bool bind_list(uint32_t input);
  bool allocate_list(uint32_t pool, int64_t capacity, int64_t max_rank, Storage** storage);
  bool make_room(RegisterIndex list, isa::PoolIndex pool, int64_t more, int64_t rank);
  bool insert(RegisterIndex list, isa::PoolIndex pool, RegisterIndex element, int64_t index);
  bool find_index(int64_t* index, int64_t count, int64_t size);

  bool push_call(uint32_t callee, isa::RegisterList results);
  bool check_argument(const LoadedFunction& callee, uint32_t parameter, const Register& argument);
  void pass(uint32_t parameter, const Register& argument, const int64_t* dims);
  bool check_closure(const isa::op::call_closure& in, const List& closure);
  bool enter(const LoadedFunction& function);
  void leave_frame();
  bool go_to(isa::Target target);
  bool check_interrupts() {
    if (!is_limited_ && !options_.is_cancelled->load(std::memory_order_relaxed)) return true;
    const StatusCode code = interrupt(options_);
    return code == StatusCode::kOk || fail_for_interrupt(code);
  }
  bool fail_for_interrupt(StatusCode code);
  bool set_buffers(const isa::op::launch& in, const format::LaunchDecl& launch);
  // StopCheckScope::Check of kernels; `interpreter` is an Interpreter.
  static bool is_interrupted(void* interpreter);
  // An Executor::Body; `loop` is a KernelLoop.
  static void run_range(void* loop, int64_t begin, int64_t end, int64_t worker);
  bool check_kernel() {
    const StatusCode code = interrupt_.load(std::memory_order_relaxed);
    return code == StatusCode::kOk || fail_for_interrupt(code);
  }
  // Launches that execute() does not run directly.
  [[gnu::noinline]] bool launch_kernel(const format::LaunchDecl& launch, isa::RegisterList buffers,
                                       int64_t grid);
  bool launch_on_cpu(const format::LaunchDecl& launch, int64_t grid, int64_t grain);
  bool set_external_tensors(const isa::op::call_extern& in, const format::LaunchDecl& launch);
  bool set_external_tensor(const format::LaunchDecl& launch, uint32_t index, const Register& buffer,
                           int64_t* dims);
  Status run_external(const isa::op::call_extern& in, const format::LaunchDecl& launch);
  bool return_from_main(isa::RegisterList values);
  bool bind_callers_buffer(const isa::op::alloc_storage& in, int64_t bytes, Storage** storage);
  bool finish_string_op(const Status& work);
  bool run_string_op(Status (*work)(StringTable&, const StringOperands&), const StringOperands& in);
  std::optional<uint32_t> pool_of(const Register& buffer) const;
  bool wait_at_least(double seconds, Clock::time_point start);
  bool finish_copy(const isa::op::device_copy& in, Clock::time_point start);
  bool finish_launch(const format::LaunchDecl& launch, isa::RegisterList buffers,
                     Clock::time_point start);
  TraceEvent traced_op(TraceEvent::Kind kind) const;
  TraceEvent traced_launch(const format::LaunchDecl& launch) const;
  TraceEvent traced_copy(const isa::op::device_copy& in) const;
  // Records the live bytes of a pool, and the whole call.
  void trace_memory(int32_t pool);
  void trace_call();
  void run_parallel(int64_t total, int64_t grain, Executor::Body body, void* context);
  bool copy_bytes(const isa::op::device_copy& in);
  bool launch_on_device(const format::LaunchDecl& launch, isa::RegisterList buffers, int64_t grid,
                        int64_t grain);
  bool uses_host_memory(isa::RegisterList buffers) const;
  bool is_on_other_rank(uint32_t device) const;
  bool is_in_transfer(const void* data, int64_t bytes, bool is_write);
  bool begin_host_access(uint32_t device);
  bool settle_before(isa::Opcode opcode);
  template <typename Op>
  bool accesses_host_bytes(const Op& in);
  bool operands_access_host_bytes(const isa::op::launch& in);
  bool operands_access_host_bytes(const isa::op::device_copy& in);
  bool settle();
  // Suspends the call until a method of the stream would not wait. Without a fiber, the method
  // itself waits.
  void wait_for(uint32_t device, runtime::StreamWork work, int64_t bytes = 0) {
    if (options_.fiber == nullptr) return;
    if (is_on_other_rank(device) && work == runtime::StreamWork::kHostUses)
      wait_for_ranks();
    else
      options_.fiber->wait(*context_.streams[device], work, bytes);
  }
  bool settle_if_deferred(uint32_t pool);
  bool is_in_host_memory(const Storage& storage) const;
  [[gnu::noinline]] void release_storage(Storage* storage);
  [[gnu::noinline]] void finish_streams();
  // Allocates a storage owned by the call.
  bool allocate(uint32_t pool, int64_t bytes, Storage** storage);
  // Calls `function` on a stack of normal size; see on_thread_stack().
  template <typename Function>
  auto on_thread(Function&& function) {
    return on_thread_stack(options_.fiber, function);
  }
  bool check_device(uint32_t device, const Status& status);

  // Reports that a buffer of a launch has `bytes` bytes, fewer than the kernel accesses.
  [[gnu::cold]] bool fail_for_buffer(const format::LaunchDecl& launch, uint32_t index,
                                     int64_t bytes);
  [[gnu::cold]] bool fail_for_external(const format::LaunchDecl& launch, const std::string& what);
  [[gnu::cold]] bool fail(StatusCode code, const std::string& what);
  [[gnu::cold]] bool fail_at_source(const std::string& what);

  BoundSession& session_;
  CallContext& context_;
  const RunOptions& options_;
  const format::ModuleContents& contents_;
  const KernelFn* kernels_;
  const bool is_traced_;
  const bool is_timed_;    // launches and copies are measured
  const bool is_direct_;   // the interpreter calls kernels without a closure for on_thread()
  const bool is_limited_;  // interrupts are not those of Call::cancel() only
  RankChannel* channel_ = nullptr;  // of the request, if it has begun on the ranks of a job
  // There is an execution hook, or `pending_device_` is not null. One test for both, so that a run
  // without them does not pay for a hook.
  bool is_watched_;
  int64_t position_ = 0;          // instructions before at_; counted with an execution hook only
  Frame frame_;                   // a copy of the top of context_.frames
  const uint32_t* at_ = nullptr;  // the current instruction
  // The instruction that will follow. Valid only in step() of an opcode that can change it, and
  // before loop().
  const uint32_t* next_ = nullptr;
  std::vector<Register> input_ids_;  // ids of string tensors: inputs, and elements of list inputs
  size_t next_ids_ = 0;              // index in input_ids_ of the next input to bind
  // The device that may have pending work on host memory: copies, or launches with shared memory;
  // null if none is pending. Until this work has completed, no host storage is released, and no
  // instruction accesses host bytes, except for further work of the same device, which executes in
  // order.
  runtime::Device* pending_device_ = nullptr;
  uint32_t pending_index_ = 0;  // index of `pending_device_` in the module
  // Host storages without references that this work can still use. They are released when it has
  // ended, or by CallContext::end() after a failure.
  std::vector<Storage*> deferred_;
  // The interrupt that a kernel has found: kCancelled or kDeadlineExceeded, or kOk. Any worker.
  std::atomic<StatusCode> interrupt_{StatusCode::kOk};
  Status status_;
};

}  // namespace scopevm::vm
