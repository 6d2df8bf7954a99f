// Implements kernel_runner.h. Launches can permit a result to overwrite an operand. The runner does
// not use this permission: results always have their own memory.
#include "tests/kernels/kernel_runner.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <map>
#include <random>

#include "compiler/codegen/cpu/image.h"
#include "compiler/codegen/cpu/stop_checks/passes.h"
#include "compiler/codegen/opencl/emit.h"
#include "compiler/fusion/fuse.h"
#include "compiler/graph/rewrite/passes.h"
#include "compiler/kernels/lower_program.h"
#include "compiler/layouts/layouts.h"
#include "compiler/passes/context.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "scopevm/kernel_abi.h"
#include "tests/kernels/opencl_kernels.h"

namespace scopevm::compiler::testing {
namespace {

constexpr size_t kGuardBytes = OpenClKernels::kGuardBytes;
constexpr uint8_t kGuard = 0xA5;
// In results and temporaries before the launch. As a float it is positive, because relu hides
// others.
constexpr uint8_t kGarbage = 0x4D;

// 64-byte aligned memory between two guards. A kernel that changes a guard has a defect.
class Buffer {
 public:
  explicit Buffer(size_t bytes, const uint8_t* from = nullptr) : bytes_(bytes) {
    size_t total = bytes + 3 * kGuardBytes;
    memory_.assign(total, kGuard);
    auto address = reinterpret_cast<uintptr_t>(memory_.data()) + kGuardBytes;
    offset_ = ((address + 63) / 64 * 64) - reinterpret_cast<uintptr_t>(memory_.data());
    std::fill_n(data(), bytes, kGarbage);
    if (from && bytes) std::memcpy(data(), from, bytes);
  }
  void erase() { std::fill_n(data(), bytes_, kGarbage); }
  uint8_t* data() { return memory_.data() + offset_; }
  // The buffer including the guards before and after it.
  std::span<uint8_t> guarded() { return {data() - kGuardBytes, bytes_ + 2 * kGuardBytes}; }
  size_t size() const { return bytes_; }
  bool guards_are_intact() const {
    for (size_t i = 0; i < memory_.size(); ++i)
      if ((i < offset_ || i >= offset_ + bytes_) && memory_[i] != kGuard) return false;
    return true;
  }

 private:
  size_t bytes_;
  size_t offset_;
  std::vector<uint8_t> memory_;
};

Status error(StatusCode code, const std::string& message) { return Status(code, message); }

// The symbol of the number of instructions that kernels have executed, as i64.
constexpr char kExecuted[] = "executed_instructions";

// Every basic block adds its length to kExecuted.
void count_work(llvm::Module& module) {
  llvm::IRBuilder<> builder(module.getContext());
  auto* executed =
      new llvm::GlobalVariable(module, builder.getInt64Ty(), /*isConstant=*/false,
                               llvm::GlobalValue::CommonLinkage, builder.getInt64(0), kExecuted);
  for (llvm::Function& function : module)
    for (llvm::BasicBlock& block : function) {
      if (function.getName() == codegen::kIsStopped) continue;
      builder.SetInsertPoint(block.getTerminator());
      llvm::Value* before = builder.CreateLoad(builder.getInt64Ty(), executed);
      builder.CreateStore(builder.CreateAdd(before, builder.getInt64(block.size())), executed);
    }
}

// The counts of the current run.
Counts* g_counts = nullptr;
const volatile int64_t* g_executed = nullptr;
int64_t g_at_last_check = 0;

// Ends an interval without a check.
void end_interval() {
  if (g_counts == nullptr) return;
  const int64_t length = *g_executed - std::exchange(g_at_last_check, *g_executed);
  if (g_counts->stop_at > 0 && g_counts->checks >= g_counts->stop_at)
    g_counts->after_stop += length;
  g_counts->all += length;
  g_counts->most_without_check = std::max(g_counts->most_without_check, length);
}

bool check_and_count() {
  if (g_counts == nullptr) return false;
  end_interval();
  return ++g_counts->checks >= g_counts->stop_at && g_counts->stop_at > 0;
}

}  // namespace

Array random_f32(std::vector<int64_t> dims, uint32_t seed) {
  int64_t count = 1;
  for (int64_t dim : dims) count *= dim;
  std::mt19937 generator(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<int32_t>(generator()) * 0x1p-31f;
  return Array::of(DType::kF32, std::move(dims), values);
}

struct KernelRunner::State {
  std::unique_ptr<mlir::MLIRContext> context;
  Program program;
  std::vector<uint8_t> image;
  // The image's file. It stays open until the image is unloaded: dlopen identifies libraries by
  // path, and would return this library for another file with the same descriptor.
  int file = -1;
  void* handle = nullptr;
  IndexedVector<KernelIndex, KernelFn> entries;
  std::unique_ptr<OpenClKernels> opencl;  // null unless the target is OpenCL; replaces the image
  std::map<std::string, int64_t, std::less<>> symbols;

  ~State() {
    if (handle) dlclose(handle);
    if (file >= 0) close(file);
  }

  Status load();
  Status bind(const std::vector<Array>& inputs);
  int64_t value_of(DimExpr dim) {
    auto value = dim.evaluate([&](std::string_view name) -> std::optional<int64_t> {
      auto found = symbols.find(name);
      return found == symbols.end() ? std::nullopt : std::optional(found->second);
    });
    return value.value_or(-1);
  }
  Status compile(kernels::KernelModule& kernels, bool counts_work);
  Status run_step(const Step& step, const IndexedVector<ValueId, Buffer*>& values,
                  const Division& division);
};

KernelRunner::KernelRunner() : state_(std::make_unique<State>()) {}
KernelRunner::~KernelRunner() = default;

Status KernelRunner::State::load() {
  file = memfd_create("image", 0);
  if (file < 0 || write(file, image.data(), image.size()) != static_cast<ssize_t>(image.size()))
    return error(StatusCode::kInternal, "cannot write the image");
  handle = dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) return error(StatusCode::kInternal, dlerror());
  for (const Kernel& kernel : program.kernels) {
    entries.push_back(reinterpret_cast<KernelFn>(dlsym(handle, kernel.symbol.c_str())));
    if (!entries.back()) return error(StatusCode::kInternal, "no symbol " + kernel.symbol);
  }
  return {};
}

Result<std::unique_ptr<KernelRunner>> KernelRunner::create(const std::string& text,
                                                           const std::string& target_cpu, bool fuse,
                                                           ImageLayout layout, bool counts_work) {
  const char* instead = std::getenv("SCOPEVM_TEST_HOST_KERNELS_ON");
  const std::string cpu = instead != nullptr && target_cpu == "host" ? instead : target_cpu;
  std::unique_ptr<KernelRunner> runner(new KernelRunner());
  State& state = *runner->state_;
  state.context = make_context();
  std::string diagnostics;
  mlir::ScopedDiagnosticHandler handler(state.context.get(), [&](mlir::Diagnostic& diagnostic) {
    diagnostics += diagnostic.str() + "\n";
    return mlir::success();
  });
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, state.context.get());
  if (!module) return error(StatusCode::kInvalidModel, diagnostics);
  // Kernels must also support empty dims. A symbol without facts can be 0.
  auto may_be_zero = [](std::string_view name) { return std::optional(DimExpr::symbol(name)); };
  if (failed(graph::specialise(*module->getOps<mlir::func::FuncOp>().begin(), may_be_zero)))
    return error(StatusCode::kInvalidModel, diagnostics);
  if (fuse) layouts::choose_layouts(*module, Machine::host(), {.layout = layout});
  if (fuse && failed(fusion::fuse(*module))) return error(StatusCode::kInternal, diagnostics);
  schedule::Target target = codegen::opencl_target();
  if (cpu != target.name) {
    SCOPEVM_ASSIGN_OR_RETURN(target, codegen::make_target(cpu));
  }
  kernels::KernelModule kernels(state.context.get(), target, schedule::core_of(target));
  SCOPEVM_ASSIGN_OR_RETURN(
      state.program, kernels::lower_program({{*module, "main", {}}}, Machine::host(), {&kernels}));
  SCOPEVM_RETURN_IF_ERROR(state.compile(kernels, counts_work));
  return runner;
}

Status KernelRunner::State::compile(kernels::KernelModule& kernels, bool counts_work) {
  if (kernels.target().name == codegen::opencl_target().name) {
    SCOPEVM_ASSIGN_OR_RETURN(const std::string text,
                             codegen::emit_opencl(kernels.module(), kernels.kernels()));
    SCOPEVM_ASSIGN_OR_RETURN(opencl, OpenClKernels::load(text, program.kernels));
    return {};
  }
  codegen::ImageOptions options;
  options.threads = 2;
  if (counts_work) options.instrument = count_work;
  SCOPEVM_ASSIGN_OR_RETURN(image, codegen::compile_image(kernels.module(), kernels.kernels(),
                                                         kernels.target(), options));
  return load();
}

Status KernelRunner::State::bind(const std::vector<Array>& inputs) {
  const Function& function = program.functions.front();
  symbols.clear();
  if (inputs.size() != function.inputs.size())
    return error(StatusCode::kInvalidArgument, "wrong number of inputs");
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value& value = function.values[function.inputs[i]];
    if (value.shape.size() != inputs[i].dims.size() || value.dtype != inputs[i].dtype)
      return error(StatusCode::kInvalidArgument, "input " + value.name + " has another type");
    for (size_t axis = 0; axis < value.shape.size(); ++axis)
      if (value.shape[axis].kind() == DimExpr::Kind::kSymbol)
        symbols.emplace(value.shape[axis].symbol_name(), inputs[i].dims[axis]);
  }
  return {};
}

Status KernelRunner::State::run_step(const Step& step,
                                     const IndexedVector<ValueId, Buffer*>& values,
                                     const Division& division) {
  const int pieces = division.pieces;
  const step::Launch& launch = *step.as<step::Launch>();
  symbols[kThreadsSymbol] = pieces;
  std::vector<Buffer*> buffers;
  for (ValueId id : step.operands) buffers.push_back(values[id]);
  for (ValueId id : step.results) buffers.push_back(values[id]);
  std::deque<Buffer> temporaries;
  for (const Temporary& temporary : launch.temporaries) {
    int64_t bytes = value_of(temporary.bytes);
    if (bytes < 0) return error(StatusCode::kInternal, step.name + ": bad temporary size");
    if (temporary.per_worker) bytes = (bytes + 63) / 64 * 64 * pieces;
    buffers.push_back(&temporaries.emplace_back(static_cast<size_t>(bytes)));
  }
  std::vector<int64_t> params;
  for (DimExpr param : launch.params) params.push_back(value_of(param));
  int64_t grid = value_of(launch.grid);
  if (grid < 0 || value_of(launch.grain) < 1)
    return error(StatusCode::kInternal, step.name + ": bad grid or grain");
  if (opencl) {
    std::vector<std::span<uint8_t>> memory;
    for (Buffer* buffer : buffers) memory.push_back(buffer->guarded());
    SCOPEVM_RETURN_IF_ERROR(opencl->run(launch.kernel, memory, params, grid, pieces));
  } else {
    std::vector<void*> addresses;
    for (Buffer* buffer : buffers) addresses.push_back(buffer->data());
    for (int64_t piece = 0; piece < pieces; ++piece) {
      const int64_t first = grid * piece / pieces, end = grid * (piece + 1) / pieces;
      const int64_t items = division.call_items > 0 ? division.call_items : (end - first + 1) / 2;
      for (int64_t begin = first; begin < end; begin += items) {
        entries[launch.kernel](addresses.data(), params.data(), begin, std::min(begin + items, end),
                               piece, first);
        end_interval();
        if (g_counts != nullptr && g_counts->stop_at > 0 && g_counts->checks >= g_counts->stop_at)
          return error(StatusCode::kCancelled, step.name + ": stopped");
        if (division.erases_inputs)
          for (ValueId id : program.functions.front().inputs) values[id]->erase();
      }
    }
  }
  for (Buffer& temporary : temporaries)
    if (!temporary.guards_are_intact())
      return error(StatusCode::kInternal, step.name + ": wrote outside a temporary");
  return {};
}

Result<std::vector<Array>> KernelRunner::run(const std::vector<Array>& inputs,
                                             const Division& division, Counts& counts) {
  counts = {.stop_at = counts.stop_at};
  auto* const check = static_cast<StopCheck*>(dlsym(state_->handle, kStopCheckSymbol));
  if (check != nullptr) *check = check_and_count;
  g_executed = static_cast<const int64_t*>(dlsym(state_->handle, kExecuted));
  if (g_executed == nullptr) return error(StatusCode::kInternal, "the kernels do not count");
  g_at_last_check = *g_executed;
  g_counts = &counts;
  auto outputs = run(inputs, division);
  g_counts = nullptr;
  return outputs;
}

Result<std::vector<Array>> KernelRunner::run(const std::vector<Array>& inputs,
                                             const Division& division) {
  State& state = *state_;
  SCOPEVM_RETURN_IF_ERROR(state.bind(inputs));
  const Function& function = state.program.functions.front();
  std::deque<Buffer> buffers;
  IndexedVector<ValueId, Buffer*> values;
  auto dims_of = [&](const Value& value) {
    std::vector<int64_t> dims;
    for (DimExpr dim : value.shape) dims.push_back(state.value_of(dim));
    return dims;
  };
  for (ValueId id : function.values.indices()) {
    const Value& value = function.values[id];
    int64_t count = 1;
    for (int64_t dim : dims_of(value)) {
      if (dim < 0) return error(StatusCode::kInternal, "value " + value.name + ": negative dim");
      count *= dim;
    }
    const int64_t bytes = byte_size(value.dtype, count);
    if (value.origin == ValueOrigin::kView) {
      values.push_back(values[*value.view_of]);
      continue;
    }
    const uint8_t* from = nullptr;
    if (value.origin == ValueOrigin::kConstant)
      from = state.program.constants[*value.constant].data;
    auto input = std::ranges::find(function.inputs, id);
    if (input != function.inputs.end()) {
      const Array& array = inputs[input - function.inputs.begin()];
      if (static_cast<int64_t>(array.bytes.size()) != bytes)
        return error(StatusCode::kInvalidArgument, "input " + value.name + " has another shape");
      from = array.bytes.data();
    }
    values.push_back(&buffers.emplace_back(static_cast<size_t>(bytes), from));
  }
  for (const Step& step : function.steps) {
    Status status = state.run_step(step, values, division);
    for (Buffer& buffer : buffers)
      if (!buffer.guards_are_intact())
        return error(StatusCode::kInternal, step.name + ": wrote outside a buffer");
    SCOPEVM_RETURN_IF_ERROR(std::move(status));
  }
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!division.erases_inputs && !inputs[i].bytes.empty() &&
        std::memcmp(values[function.inputs[i]]->data(), inputs[i].bytes.data(),
                    inputs[i].bytes.size()) != 0)
      return error(StatusCode::kInternal, "an input was changed");
  std::vector<Array> outputs;
  for (ValueId id : function.outputs) {
    const Value& value = function.values[id];
    Array array{value.dtype, dims_of(value), {}};
    int64_t count = 1;
    for (int64_t dim : array.dims) count *= dim;
    array.bytes.assign(values[id]->data(), values[id]->data() + byte_size(value.dtype, count));
    outputs.push_back(std::move(array));
  }
  return outputs;
}

std::vector<std::string> KernelRunner::steps() const {
  std::vector<std::string> names;
  for (const Step& step : state_->program.functions.front().steps)
    names.push_back(step.name + " " +
                    state_->program.kernels[step.as<step::Launch>()->kernel].symbol);
  return names;
}

size_t KernelRunner::kernel_count() const { return state_->program.kernels.size(); }

const std::vector<uint8_t>& KernelRunner::image() const { return state_->image; }

}  // namespace scopevm::compiler::testing
