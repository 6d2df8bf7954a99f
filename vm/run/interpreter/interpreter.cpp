// The dispatch loop. Indices in the bytecode are not checked, because the verifier has checked
// them. Values that depend on the request are checked: sizes and offsets from slots, ranks, and the
// results of allocations.
#include "vm/run/interpreter/interpreter.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

#include "runtime/count_text.h"
#include "runtime/cpu/stop_check.h"
#include "runtime/without_exceptions.h"
#include "vm/run/bound/request_check.h"
#include "vm/run/call/results.h"
#include "vm/run/interpreter/element.h"
#include "vm/run/interpreter/interpreter_class.h"
#include "vm/run/ranks/remote_memory.h"

namespace scopevm::vm {
namespace {

using runtime::Storage;
namespace op = isa::op;
using runtime::count_text;

// Inlines frequent opcodes into the dispatch loop, because a function call would cost as much as
// the operation.
#define SCOPEVM_HOT [[gnu::always_inline]] inline

// The words of Op's instructions; 0 if it has a list, so that they differ.
template <typename Op>
consteval uint32_t fixed_word_count() {
  uint32_t count = 1;
  bool has_list = false;
  isa::visit_fields(Op(), [&]<typename Field>(const Field&) {
    ++count;
    if constexpr (requires(Field field) { field.words(); }) has_list = true;
  });
  return has_list ? 0 : count;
}

// For most opcodes a constant, so that the address of the next instruction depends on no load.
template <typename Op>
uint32_t word_count(const uint32_t* at) {
  constexpr uint32_t kFixed = fixed_word_count<Op>();
  return kFixed != 0 ? kFixed : isa::word_count(*at);
}

// Whether an execution of Op reads or writes Interpreter::next_. A shape function can fall back to
// main.
template <typename Op>
constexpr bool uses_next() {
  constexpr isa::Opcode kCode = Op::kOpcode;
  return Op::has(isa::Trait::no_fall_through) || kCode == isa::Opcode::call ||
         kCode == isa::Opcode::call_closure || kCode == isa::Opcode::shape_function;
}

}  // namespace

Status Interpreter::run() {
  // Of the kernels that execute() calls directly. On a fiber, run_range() calls all kernels,
  // because the thread can change.
  std::optional<runtime::StopCheckScope> stop_check;
  if (options_.fiber == nullptr) stop_check.emplace(is_interrupted, this);
  context_.entry = &session_.module().entry(context_.request->dimensions);
  const Status thrown = runtime::without_exceptions([&]() -> Status {
    SCOPEVM_RETURN_IF_ERROR(begin_on_ranks());
    context_.tracer.begin(options_.trace, session_.threads(), options_.request_id);
    SCOPEVM_RETURN_IF_ERROR(on_thread([&] { return intern_inputs(); }));
    if (start(*context_.entry)) loop();
    return {};
  });
  if (!thrown.ok()) status_ = thrown;
  if (channel_ != nullptr) end_on_ranks();
  // The streams are finished also after a failure, because pending copies may still use the
  // caller's inputs and outputs.
  if (!context_.streams.empty()) finish_streams();
  // A call whose deadline passes during its last instruction fails too.
  if (status_.ok()) (void)check_interrupts();
  if (is_traced_) trace_call();
  // With one frame, the chain of calls would consist of the entry function only.
  if (status_.ok() || context_.frames.depth() < 2) return std::move(status_);
  return std::move(status_).with_context(context_.frames.chain());
}

// Enters main or a variant and binds the inputs. Returns false if the frame cannot be pushed or an
// input cannot be bound.
bool Interpreter::start(const LoadedFunction& function) {
  context_.entry = &function;
  if (!enter(function)) return false;
  // A request can skip segments. The slots of a skipped segment, which include memory sizes, must
  // be 0.
  std::fill_n(frame_.slots, frame_.function->decl->slot_count, 0);
  at_ = next_;
  next_ids_ = 0;
  for (uint32_t i = 0; i < context_.request->inputs.size(); ++i) {
    if (frame_.function->decl->inputs[i].kind != ValueKind::kTensor) {
      if (!bind_list(i)) return false;
      continue;
    }
    const Tensor& input = context_.request->inputs[i];
    // Assigned without set(), because the register is empty and an input has no storage whose
    // references are counted.
    reg({i}) = input_register(input);
    std::memcpy(dims({i}), input.dims().data(), input.dims().size_bytes());
  }
  return true;
}

// Whether the current function is a variant that failed at its first instruction. The call then
// falls back to main, so that error messages do not depend on the module's variants.
bool Interpreter::can_fall_back() const {
  return context_.frames.depth() == 1 && at_ == frame_.function->decl->code.data() &&
         frame_.function != &session_.module().main();
}

template <typename Op>
SCOPEVM_HOT bool Interpreter::step(const uint32_t*& at) {
  const uint32_t* const next = at + word_count<Op>(at);
  if constexpr (uses_next<Op>()) next_ = next;
  const bool goes_on = execute(isa::decode<Op>(at));
  at = uses_next<Op>() ? next_ : next;
  return goes_on;
}

void Interpreter::loop() {
  for (const uint32_t* at = next_;;) {
    at_ = at;
    if (is_watched_) [[unlikely]]
      if (!before_instruction()) return;
    switch (isa::opcode(*at)) {
#define OPCODE(name, code, effect, ...) \
  case isa::Opcode::name:               \
    if (!step<op::name>(at)) return;    \
    break;
#include "vm/isa/opcodes.def"
      default:
        __builtin_unreachable();  // the code is verified
    }
  }
}

// Control.

bool Interpreter::go_to(isa::Target target) {
  next_ = frame_.function->decl->code.data() + target.value;
  // Only backward jumps check for interrupts. Every loop has a backward jump, and code without
  // loops ends.
  return next_ > at_ || check_interrupts();
}

SCOPEVM_HOT bool Interpreter::execute(const op::jump& in) { return go_to(in.to); }

SCOPEVM_HOT bool Interpreter::execute(const op::branch& in) {
  return go_to(value(in.condition) != 0 ? in.then_to : in.else_to);
}

SCOPEVM_HOT bool Interpreter::execute(const op::branch_less& in) {
  return go_to(value(in.a) < value(in.b) ? in.then_to : in.else_to);
}

bool Interpreter::execute(const op::fail& in) {
  status_ = Status(StatusCode::kInvalidArgument, contents_.messages[in.text.value]);
  return false;
}

// Memory.

// Sets *storage to the caller's output buffer if this instruction allocates a result for which the
// caller gave a buffer. Returns false if the buffer does not have the shape of the result or the
// size of the storage.
bool Interpreter::bind_callers_buffer(const op::alloc_storage& in, int64_t bytes,
                                      Storage** storage) {
  // Only results of the entry function can be stored in output buffers of the caller.
  if (context_.frames.depth() != 1) return true;
  const uint32_t* code = frame_.function->decl->code.data();
  for (const ResultAllocation& result : frame_.function->result_allocations) {
    const OutputBuffer& given = context_.request->outputs[result.output];
    if (code + result.alloc_word != at_ || given.tensor.is_empty()) continue;
    // The dims of the result. A later instruction creates its tensor in this storage.
    const isa::IntList shape(code + result.dims_word + 1, code[result.dims_word]);
    int64_t dims[kMaxRank];
    for (uint32_t i = 0; i < shape.size(); ++i) dims[i] = value(shape[i]);
    int64_t result_bytes = 0;
    status_ =
        check_output(session_.module(), result.output, given, {dims, shape.size()}, &result_bytes);
    if (!status_.ok()) return false;
    if (bytes != result_bytes)
      return fail(StatusCode::kInvalidModel, "R" + std::to_string(in.dst.value) +
                                                 ": the result has " +
                                                 count_text(result_bytes, "byte") +
                                                 ", but its storage has " + std::to_string(bytes));
    *storage = context_.request->output_storages[result.output];
    return true;
  }
  return true;
}

SCOPEVM_HOT bool Interpreter::execute(const op::alloc_storage& in) {
  const int64_t bytes = value(in.size);
  if (bytes < 0)
    return fail(StatusCode::kInvalidModel,
                "size is " + std::to_string(bytes) + ", expected at least 0");
  if (is_stack(in.from)) {
    const LoadedFunction& function = *frame_.function;
    const auto word = static_cast<uint32_t>(at_ - function.decl->code.data());
    std::byte* data = frame_.stack + function.stacks.offset_at(word);
    if (channel_ != nullptr && is_of_other_rank(in.from.value))
      data = static_cast<std::byte*>(remote_address(session_.rank_of_pool()[in.from.value]));
    // The register gets no storage: the frame owns the bytes, so references are not counted.
    set(in.dst, {data, nullptr, bytes, DType::kU8, 0});
    return true;
  }
  Storage* storage = nullptr;
  if (!bind_callers_buffer(in, bytes, &storage)) return false;
  if (storage != nullptr) {
    // The context keeps its own reference to the storage, because later runs of the call use the
    // storage again. The pool -1 means no pool.
    storage->retain();
    context_.own(storage, -1);
  } else {
    if (!allocate(in.from.value, bytes, &storage)) return false;
  }
  set(in.dst, {static_cast<std::byte*>(storage->data), storage, bytes, DType::kU8, 0});
  return true;
}

bool Interpreter::allocate(uint32_t pool, int64_t bytes, Storage** storage) {
  if (!deferred_.empty() && !settle_if_deferred(pool)) return false;
  const Status status =
      on_thread([&] { return session_.allocate(context_, pool, bytes, storage); });
  if (!status.ok()) return fail(status.code(), std::string(status.message()));
  context_.own(*storage, static_cast<int32_t>(pool));
  if (is_traced_) trace_memory(static_cast<int32_t>(pool));
  return true;
}

SCOPEVM_HOT bool Interpreter::execute(const op::alloc_tensor& in) {
  const Register& storage = reg(in.storage);
  const int64_t offset = value(in.offset);
  const int64_t bytes = value(in.bytes);
  // The subtraction cannot overflow, because both operands are nonnegative.
  if (offset < 0 || bytes < 0 || bytes > storage.bytes || offset > storage.bytes - bytes)
    return fail(StatusCode::kInvalidModel,
                "bytes [" + std::to_string(offset) + ", " + std::to_string(offset) + "+" +
                    std::to_string(bytes) + ") are outside of a storage of " +
                    count_text(storage.bytes, "byte"));
  set(in.dst, {storage.data + offset, storage.storage, bytes, in.dtype,
               static_cast<uint8_t>(in.dims.size())});
  set_dims(in.dst, in.dims);
  return true;
}

SCOPEVM_HOT bool Interpreter::execute(const op::alloc_view& in) {
  Register made = reg(in.of);
  // made.bytes remains the size of the source. collect_results() compares it with the dims of a
  // result.
  made.dtype = in.dtype;
  made.rank = static_cast<uint8_t>(in.dims.size());
  set(in.dst, made);
  set_dims(in.dst, in.dims);
  return true;
}

SCOPEVM_HOT bool Interpreter::execute(const op::kill& in) {
  reset(reg(in.value));
  reg(in.value).data = nullptr;
  return true;
}

// The capacity doubles, so that n appends copy fewer than 2n elements.
bool Interpreter::execute(const op::grow_storage& in) {
  const Register held = reg(in.storage);
  const int64_t used = value(in.used);
  const int64_t needed = value(in.needed);
  if (used < 0 || needed < used || used > held.bytes)
    return fail(StatusCode::kInvalidModel,
                "used is " + std::to_string(used) + " and needed is " + std::to_string(needed) +
                    "; expected 0 <= used <= needed, and used at most the storage's size of " +
                    count_text(held.bytes, "byte"));
  // The old storage stays valid until set() below, because the register references it.
  if (needed <= held.bytes) return true;
  const int64_t bytes = held.bytes > needed / 2 ? 2 * held.bytes : needed;
  Storage* storage = nullptr;
  if (!allocate(in.from.value, bytes, &storage)) return false;
  if (used > 0 && !is_remote(held.data))
    std::memcpy(storage->data, held.data, static_cast<size_t>(used));
  set(in.storage, {static_cast<std::byte*>(storage->data), storage, bytes, DType::kU8, 0});
  return true;
}

// Compute.

// Sets the buffer addresses of a launch. Returns false if a buffer has fewer bytes than the kernel
// accesses.
SCOPEVM_HOT bool Interpreter::set_buffers(const op::launch& in, const format::LaunchDecl& launch) {
  // Copies, because the compiler must assume that a store to the buffers changes the frame's
  // members.
  const Frame frame = frame_;
  const isa::Int* bytes = launch.bytes.data();
  for (uint32_t i = 0; i < in.buffers.size(); ++i) {
    const Register& buffer = frame.registers[in.buffers[i].value];
    // Unsigned: negative bytes are more than any buffer has.
    if (static_cast<uint64_t>(buffer.bytes) < static_cast<uint64_t>(bytes[i].value(frame.slots)))
      return fail_for_buffer(launch, i, buffer.bytes);
    frame.buffers[i] = buffer.data;
  }
  return true;
}

SCOPEVM_HOT bool Interpreter::execute(const op::launch& in) {
  if (!check_interrupts()) return false;
  const format::LaunchDecl& launch = contents_.launches[in.entry.value];
  const int64_t grid = value(launch.grid);
  if (!set_buffers(in, launch)) return false;
  // An empty grid is not launched: some devices reject an empty range.
  if (grid <= 0) return true;
  const KernelFn kernel = kernels_[launch.kernel];
  // A single task runs on this thread, because a hand-over to another thread would take longer than
  // a small kernel.
  const bool is_single = grid == 1 || grid <= value(launch.grain);
  if (!is_single || !is_direct_ || kernel == nullptr)
    return launch_kernel(launch, in.buffers, grid);
  kernel(frame_.buffers, frame_.slots + launch.params.value, 0, grid, 0, 0);
  return check_kernel();
}

// Shapes.

bool Interpreter::execute(const op::shape_function& in) {
  const format::ShapeFunctionDecl& decl = contents_.shape_functions[in.function.value];
  uint32_t count = 0;
  for (uint32_t i = 0; i < in.inputs.size(); ++i) {
    const uint32_t rank = reg(in.inputs[i]).rank;
    if (count + rank > decl.dim_count)
      return fail(StatusCode::kInvalidModel,
                  "the inputs have more than " + count_text(decl.dim_count, "dim"));
    const int64_t* from = dims(in.inputs[i]);
    int64_t* to = frame_.shape_dims + count;
    int64_t signs = 0;
    for (uint32_t axis = 0; axis < rank; ++axis) signs |= to[axis] = from[axis];
    // Shape functions assume that no dim is negative.
    if (signs < 0)
      return fail(StatusCode::kInvalidModel, "input " + std::to_string(i) + " has a negative dim");
    count += rank;
  }
  if (count != decl.dim_count)
    return fail(StatusCode::kInvalidModel, "the inputs have " + count_text(count, "dim") +
                                               ", expected " + std::to_string(decl.dim_count));
  // The number of threads follows the dims of the inputs. The frame layout has space for it.
  frame_.shape_dims[count] = session_.threads();
  // `failed` is the index of the first failed check, or negative if all checks hold.
  const ShapeFn function = session_.kernels().shape_functions[in.function.value];
  const int64_t failed = on_thread([&] { return function(frame_.shape_dims, frame_.slots); });
  if (failed < 0) return true;
  if (can_fall_back()) {
    leave_frame();
    // start() binds the inputs again in the frame of main and reuses their string ids.
    return start(session_.module().main());
  }
  status_ = check_failure(decl, failed, frame_.slots);
  return false;
}

SCOPEVM_HOT bool Interpreter::execute(const op::load_dim& in) {
  const int64_t axis = value(in.axis);
  if (axis < 0 || axis >= reg(in.of).rank)
    return fail(StatusCode::kInvalidModel, "axis " + std::to_string(axis) +
                                               " is out of range [0, " +
                                               std::to_string(reg(in.of).rank) + ")");
  frame_.slots[in.dst.value] = dims(in.of)[axis];
  return true;
}

SCOPEVM_HOT bool Interpreter::execute(const op::load_element& in) {
  const Register& of = reg(in.of);
  const int64_t index = value(in.index);
  if (index < 0 || index >= of.bytes / byte_size(of.dtype))
    return fail(StatusCode::kInvalidModel,
                "element " + std::to_string(index) + " is out of range [0, " +
                    std::to_string(of.bytes / byte_size(of.dtype)) + ")");
  int64_t& slot = frame_.slots[in.dst.value];
  if (channel_ == nullptr) {
    slot = element(of, index);
    return true;
  }
  return share_element(of, index, slot);
}

SCOPEVM_HOT bool Interpreter::execute(const op::set_slot& in) {
  frame_.slots[in.dst.value] = value(in.value);
  return true;
}

// Unsigned arithmetic, because signed overflow is undefined. Overflow is not checked here: each use
// of a slot is checked.
SCOPEVM_HOT bool Interpreter::execute(const op::add_slot& in) {
  const auto sum =
      static_cast<uint64_t>(frame_.slots[in.dst.value]) + static_cast<uint64_t>(value(in.by));
  frame_.slots[in.dst.value] = static_cast<int64_t>(sum);
  return true;
}

// Values.

SCOPEVM_HOT bool Interpreter::execute(const op::move& in) {
  const Register& from = reg(in.from);
  const int64_t* from_dims = dims(in.from);
  int64_t* to_dims = dims(in.dst);
  // In blocks of constant size, without calls. memmove, because the registers can be the same.
  for (uint32_t i = 0; i < from.rank; i += kDimBlock)
    std::memmove(to_dims + i, from_dims + i, kDimBlock * sizeof(int64_t));
  set(in.dst, from);
  return true;
}

SCOPEVM_HOT bool Interpreter::execute(const op::load_const& in) {
  const format::ConstantDecl& constant = contents_.constants[in.constant.value];
  // The const_cast is safe, because kernels do not write constants.
  void* data = session_.devices().constant(in.constant.value);
  if (data == nullptr) data = const_cast<uint8_t*>(constant.bytes.data);
  set(in.dst, {static_cast<std::byte*>(data), nullptr, static_cast<int64_t>(constant.bytes.size),
               constant.dtype, static_cast<uint8_t>(constant.dims.size())});
  std::copy(constant.dims.begin(), constant.dims.end(), dims(in.dst));
  return true;
}

Status interpret(BoundSession& session, CallContext& context, const RunOptions& options) {
  return Interpreter(session, context, options).run();
}

}  // namespace scopevm::vm
