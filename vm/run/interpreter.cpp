// The dispatch loop. Bytecode is trusted here: verification bounded every index. What depends on
// the request is checked: sizes and offsets from slots, ranks, and what allocators answer.
//
// One method per opcode; `w` points at the instruction. Operand layouts are those of
// vm/isa/opcodes.def, one word a field in order. A method returns false after setting status_.
#include "vm/run/interpreter.h"

#include <chrono>
#include <cstring>
#include <string>
#include <utility>

#include "runtime/tensor/shape.h"
#include "vm/load/words.h"
#include "vm/run/results.h"

namespace scopevm::vm {
namespace {

using runtime::ScopeMemory;
using runtime::Storage;

// Deep enough for any recursion over a model's own structure, and small beside memory: a frame is
// some tens of KiB at most.
constexpr size_t kMaxCallDepth = 1024;

int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Where the dims of an instruction that gives a tensor its shape start: their count.
uint32_t dims_field(isa::Opcode opcode) { return opcode == isa::Opcode::alloc_view ? 4 : 6; }

// What the body of a parallel loop needs.
struct Launch {
  KernelFn kernel;
  void* const* buffers;
  const int64_t* params;
};

void run_range(void* context, int64_t begin, int64_t end, int64_t worker) {
  const auto* launch = static_cast<const Launch*>(context);
  launch->kernel(launch->buffers, launch->params, begin, end, worker);
}

class Interpreter {
 public:
  Interpreter(BoundSession& session, CallContext& context, const CallOptions& options)
      : session_(session),
        context_(context),
        options_(options),
        contents_(session.module().contents()),
        kernels_(session.kernels().kernels.data()),
        is_interruptible_(options.deadline || options.cancel != nullptr) {}

  Status run();

 private:
  int64_t value(uint32_t word) const {
    return (word & isa::kSlotBit) != 0 ? frame_.slots[word & ~isa::kSlotBit]
                                       : static_cast<int64_t>(word);
  }
  Register& reg(uint32_t index) { return frame_.registers[index]; }

  void enter(const LoadedFunction& function);
  bool loop();
  bool launch(const uint32_t* w);
  bool alloc_storage(const uint32_t* w);
  bool alloc_tensor(const uint32_t* w);
  void alloc_view(const uint32_t* w);
  bool device_copy(const uint32_t* w);
  bool shape_function(const uint32_t* w);
  bool load_dim(const uint32_t* w);
  void move(uint32_t dst, uint32_t from);
  void load_const(const uint32_t* w);
  bool call(const uint32_t* w);
  // True when `main` returned; else pc_ is where its caller goes on.
  bool ret(const uint32_t* w);
  bool check_interrupts();

  void set_dims(uint32_t index, const uint32_t* count_and_dims);
  // The register gives up what it holds.
  void clear(Register& target) {
    if (Storage* storage = std::exchange(target.storage, nullptr))
      if (--storage->call_references == 0) context_.disown(storage);
  }
  void leave_frame();
  Storage* callers_buffer(const uint32_t* w, int64_t bytes, bool* is_mismatch);

  [[gnu::cold]] bool fail(const uint32_t* w, StatusCode code, const std::string& what);
  [[gnu::cold]] bool fail_allocation(const uint32_t* w, ScopeMemory::Outcome outcome, int64_t bytes,
                                     const ScopeMemory& memory);

  BoundSession& session_;
  CallContext& context_;
  const CallOptions& options_;
  const format::ModuleContents& contents_;
  const KernelFn* kernels_;
  const bool is_interruptible_;
  Frame frame_;  // a copy of the top of context_.frames
  const uint32_t* pc_ = nullptr;
  Status status_;
};

Status Interpreter::run() {
  enter(session_.module().main());
  for (uint32_t i = 0; i < context_.inputs.size(); ++i) {
    const Tensor& input = context_.inputs[i];
    reg(i) = {static_cast<std::byte*>(input.data()), nullptr, input.bytes(), input.dtype(),
              static_cast<uint8_t>(input.rank())};
    std::memcpy(frame_.dims_of(i), input.dims().data(), input.dims().size_bytes());
  }
  (void)loop();
  return std::move(status_);
}

void Interpreter::enter(const LoadedFunction& function) {
  frame_ = context_.frames.push(function);
  pc_ = function.decl->code.data();
}

bool Interpreter::loop() {
  using isa::Opcode;
  for (;;) {
    const uint32_t* w = pc_;
    pc_ = w + isa::word_count(*w);
    switch (isa::opcode(*w)) {
      case Opcode::launch:
        if (!launch(w)) return false;
        break;
      case Opcode::alloc_tensor:
        if (!alloc_tensor(w)) return false;
        break;
      case Opcode::alloc_storage:
        if (!alloc_storage(w)) return false;
        break;
      case Opcode::alloc_view:
        alloc_view(w);
        break;
      case Opcode::kill:
        clear(reg(w[1]));
        reg(w[1]).data = nullptr;
        break;
      case Opcode::device_copy:
        if (!device_copy(w)) return false;
        break;
      case Opcode::shape_function:
        if (!shape_function(w)) return false;
        break;
      case Opcode::load_dim:
        if (!load_dim(w)) return false;
        break;
      case Opcode::move:
        move(w[1], w[2]);
        break;
      case Opcode::load_const:
        load_const(w);
        break;
      case Opcode::jump:
      case Opcode::branch: {
        const uint32_t to = isa::opcode(*w) == Opcode::jump ? w[1] : value(w[1]) != 0 ? w[2] : w[3];
        pc_ = frame_.function->decl->code.data() + to;
        if (pc_ <= w && is_interruptible_ && !check_interrupts()) return false;
        break;
      }
      case Opcode::call:
        if (!call(w)) return false;
        break;
      case Opcode::ret:
        if (ret(w)) return status_.is_ok();
        break;
      case Opcode::fail:
        return fail(w, StatusCode::kInvalidArgument, contents_.messages[w[1]]);
    }
  }
}

bool Interpreter::launch(const uint32_t* w) {
  if (is_interruptible_ && !check_interrupts()) return false;
  const int64_t grid = value(w[3]);
  const int64_t grain = value(w[4]);
  const uint32_t count = w[5];
  for (uint32_t i = 0; i < count; ++i) frame_.buffers[i] = reg(w[6 + i]).data;
  if (grid <= 0) return true;
  Launch what{kernels_[w[1]], frame_.buffers, frame_.slots + w[2]};
  const int64_t start_ns = options_.trace != nullptr ? now_ns() : 0;
  if (grid <= grain || session_.threads() == 1)
    what.kernel(what.buffers, what.params, 0, grid, 0);
  else
    session_.executor().parallel_for(grid, grain, run_range, &what);
  if (options_.trace != nullptr) {
    const format::FunctionDecl& function = *frame_.function->decl;
    const auto word = static_cast<uint32_t>(w - function.code.data());
    options_.trace->launched({session_.module().source_name(function, word),
                              contents_.kernels[w[1]].symbol, start_ns, now_ns() - start_ns});
  }
  return true;
}

// The caller's own buffer when this storage becomes a result that has one, else null.
Storage* Interpreter::callers_buffer(const uint32_t* w, int64_t bytes, bool* is_mismatch) {
  if (context_.frames.depth() != 1) return nullptr;
  const uint32_t* code = frame_.function->decl->code.data();
  for (const ResultSite& site : session_.module().result_sites()) {
    const Tensor& given = context_.outputs[site.output];
    if (code + site.alloc_word != w || given.is_empty()) continue;
    const uint32_t* shape =
        code + site.tensor_word + dims_field(isa::opcode(code[site.tensor_word]));
    int64_t dims[kMaxRank];
    for (uint32_t i = 0; i < shape[0]; ++i) dims[i] = value(shape[1 + i]);
    status_ = check_output(session_.module(), site.output, given, {dims, shape[0]});
    *is_mismatch = !status_.is_ok() || bytes != given.bytes();
    if (status_.is_ok() && *is_mismatch)
      (void)fail(w, StatusCode::kInvalidModel, "a result's size is not that of its shape");
    return *is_mismatch ? nullptr : context_.output_storages[site.output];
  }
  return nullptr;
}

bool Interpreter::alloc_storage(const uint32_t* w) {
  const uint32_t pool = w[2];
  const int64_t bytes = value(w[3]);
  if (bytes < 0) return fail(w, StatusCode::kInvalidModel, "negative size");
  bool is_mismatch = false;
  Storage* storage = callers_buffer(w, bytes, &is_mismatch);
  if (is_mismatch) return false;
  if (storage != nullptr) {
    storage->retain();
    context_.own(storage, -1);
  } else {
    ScopeMemory& memory = session_.pool(pool);
    const ScopeMemory::Outcome outcome = memory.allocate(bytes, &storage);
    if (outcome != ScopeMemory::Outcome::kOk) return fail_allocation(w, outcome, bytes, memory);
    context_.own(storage, static_cast<int32_t>(pool));
  }
  storage->call_references = 1;
  Register& dst = reg(w[1]);
  clear(dst);
  dst = {static_cast<std::byte*>(storage->data), storage, bytes, DType::kU8, 0};
  return true;
}

void Interpreter::set_dims(uint32_t index, const uint32_t* count_and_dims) {
  int64_t* dims = frame_.dims_of(index);
  for (uint32_t i = 0; i < count_and_dims[0]; ++i) dims[i] = value(count_and_dims[1 + i]);
}

bool Interpreter::alloc_tensor(const uint32_t* w) {
  const Register& storage = reg(w[2]);
  const int64_t offset = value(w[3]);
  const int64_t bytes = value(w[4]);
  // Subtraction cannot overflow once both are known not to be negative.
  if (offset < 0 || bytes < 0 || bytes > storage.bytes || offset > storage.bytes - bytes)
    return fail(w, StatusCode::kInvalidModel,
                "bytes " + std::to_string(offset) + " + " + std::to_string(bytes) +
                    " lie outside a storage of " + std::to_string(storage.bytes));
  const Register made{storage.data + offset, storage.storage, bytes, static_cast<DType>(w[5]),
                      static_cast<uint8_t>(w[6])};
  if (made.storage != nullptr) ++made.storage->call_references;
  Register& dst = reg(w[1]);
  clear(dst);
  dst = made;
  set_dims(w[1], w + 6);
  return true;
}

void Interpreter::alloc_view(const uint32_t* w) {
  Register made = reg(w[2]);
  made.dtype = static_cast<DType>(w[3]);
  made.rank = static_cast<uint8_t>(w[4]);
  if (made.storage != nullptr) ++made.storage->call_references;
  Register& dst = reg(w[1]);
  clear(dst);
  dst = made;
  set_dims(w[1], w + 4);
}

bool Interpreter::device_copy(const uint32_t* w) {
  const Register& to = reg(w[1]);
  const Register& from = reg(w[2]);
  if (to.storage == nullptr)
    return fail(w, StatusCode::kInvalidModel, "the destination is an input or a constant");
  if (to.bytes != from.bytes)
    return fail(w, StatusCode::kInvalidModel,
                std::to_string(from.bytes) + " bytes into " + std::to_string(to.bytes));
  std::memmove(to.data, from.data, static_cast<size_t>(from.bytes));
  return true;
}

bool Interpreter::shape_function(const uint32_t* w) {
  const format::ShapeFunctionDecl& decl = contents_.shape_functions[w[1]];
  uint32_t count = 0;
  for (uint32_t i = 0; i < w[2]; ++i) {
    const Register& input = reg(w[3 + i]);
    if (count + input.rank > decl.dim_count) break;
    std::memcpy(frame_.shape_dims + count, frame_.dims_of(w[3 + i]), input.rank * sizeof(int64_t));
    count += input.rank;
  }
  if (count != decl.dim_count)
    return fail(w, StatusCode::kInvalidModel, "the inputs' ranks are not those it was made for");
  frame_.shape_dims[count] = session_.threads();
  const int64_t failed = session_.kernels().shape_functions[w[1]](frame_.shape_dims, frame_.slots);
  if (failed < 0) return true;
  status_ = check_failure(decl, failed, frame_.slots);
  return false;
}

bool Interpreter::load_dim(const uint32_t* w) {
  const int64_t axis = value(w[3]);
  if (axis < 0 || axis >= reg(w[2]).rank)
    return fail(w, StatusCode::kInvalidModel, "no axis " + std::to_string(axis));
  frame_.slots[w[1]] = frame_.dims_of(w[2])[axis];
  return true;
}

void Interpreter::move(uint32_t dst, uint32_t from) {
  if (dst == from) return;
  const Register source = reg(from);
  if (source.storage != nullptr) ++source.storage->call_references;
  clear(reg(dst));
  reg(dst) = source;
  std::memcpy(frame_.dims_of(dst), frame_.dims_of(from), source.rank * sizeof(int64_t));
}

void Interpreter::load_const(const uint32_t* w) {
  const format::ConstantDecl& constant = contents_.constants[w[2]];
  Register& dst = reg(w[1]);
  clear(dst);
  // Kernels only read constants; the pages are mapped read-only.
  dst = {reinterpret_cast<std::byte*>(const_cast<uint8_t*>(constant.bytes.data)), nullptr,
         static_cast<int64_t>(constant.bytes.size), constant.dtype,
         static_cast<uint8_t>(constant.dims.size())};
  std::memcpy(frame_.dims_of(w[1]), constant.dims.data(), constant.dims.size() * sizeof(int64_t));
}

bool Interpreter::call(const uint32_t* w) {
  if (context_.frames.depth() >= kMaxCallDepth)
    return fail(w, StatusCode::kResourceLimit,
                "more than " + std::to_string(kMaxCallDepth) + " nested calls");
  if (is_interruptible_ && !check_interrupts()) return false;
  const Frame caller = frame_;
  const uint32_t* resume = pc_;
  enter(session_.module().function(w[1]));
  frame_.resume = resume;
  frame_.results = w + 3 + w[2];
  context_.frames.top() = frame_;
  for (uint32_t i = 0; i < w[2]; ++i) {
    const Register& argument = caller.registers[w[3 + i]];
    if (argument.rank > frame_.function->layout.max_rank)
      return fail(w, StatusCode::kInvalidModel, "an argument's rank is not its parameter's");
    if (argument.storage != nullptr) ++argument.storage->call_references;
    reg(i) = argument;
    std::memcpy(frame_.dims_of(i), caller.dims_of(w[3 + i]), argument.rank * sizeof(int64_t));
  }
  return true;
}

void Interpreter::leave_frame() {
  for (uint32_t i = 0; i < frame_.function->decl->register_count; ++i) clear(reg(i));
  context_.frames.pop();
}

bool Interpreter::ret(const uint32_t* w) {
  if (context_.frames.depth() == 1) {
    status_ = collect_results(session_, context_, frame_, {w + 2, w[1]});
    if (status_.is_ok()) record_bounds(*frame_.function->decl, frame_.slots, context_.pools());
    leave_frame();
    return true;
  }
  const Frame callee = frame_;
  // The caller is right below; frames are few words, so the copy is cheap.
  const Frame caller = context_.frames.below_top();
  for (uint32_t i = 0; i < w[1]; ++i) {
    const Register& value = callee.registers[w[2 + i]];
    const uint32_t dst = callee.results[1 + i];
    if (value.rank > caller.function->layout.max_rank) {
      (void)fail(w, StatusCode::kInvalidModel, "a result's rank is not its declaration's");
      return true;
    }
    if (value.storage != nullptr) ++value.storage->call_references;
    clear(caller.registers[dst]);
    caller.registers[dst] = value;
    std::memcpy(caller.dims_of(dst), callee.dims_of(w[2 + i]), value.rank * sizeof(int64_t));
  }
  leave_frame();
  frame_ = caller;
  pc_ = callee.resume;
  return false;
}

bool Interpreter::check_interrupts() {
  if (options_.cancel != nullptr && options_.cancel->load(std::memory_order_relaxed)) {
    status_ = Status(StatusCode::kCancelled, "the call was cancelled");
    return false;
  }
  if (options_.deadline && std::chrono::steady_clock::now() >= *options_.deadline) {
    status_ = Status(StatusCode::kDeadlineExceeded, "the call's deadline passed");
    return false;
  }
  return true;
}

bool Interpreter::fail(const uint32_t* w, StatusCode code, const std::string& what) {
  const format::FunctionDecl& function = *frame_.function->decl;
  status_ = Status(code, function.name + ": pc " + std::to_string(w - function.code.data()) + ": " +
                             std::string(isa::name(isa::opcode(*w))) + ": " + what);
  return false;
}

bool Interpreter::fail_allocation(const uint32_t* w, ScopeMemory::Outcome outcome, int64_t bytes,
                                  const ScopeMemory& memory) {
  std::string what =
      memory.device() + " " + memory.scope() + ": " + runtime::bytes_text(bytes) + " requested, ";
  if (outcome == ScopeMemory::Outcome::kNoRoom)
    return fail(w, StatusCode::kOutOfMemory, what + "the allocator has no room");
  const int64_t free_bytes = std::max<int64_t>(0, memory.limit() - memory.stats().live_bytes);
  return fail(w, StatusCode::kResourceLimit,
              what + runtime::bytes_text(free_bytes) + " free of a limit of " +
                  runtime::bytes_text(memory.limit()));
}

}  // namespace

Status interpret(BoundSession& session, CallContext& context, const CallOptions& options) {
  return Interpreter(session, context, options).run();
}

}  // namespace scopevm::vm
