// Compiles one op with the compiler's own stages, loads the image with dlopen and binds filled
// buffers.
#include "bench/kernels/compiled_kernel.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "compiler/codegen/cpu/image.h"
#include "compiler/kernels/lower_program.h"
#include "compiler/passes/context.h"
#include "compiler/schedule/core.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "scopevm/kernel_abi.h"

namespace scopevm::compiler::bench {

struct CompiledKernel::State {
  std::unique_ptr<mlir::MLIRContext> context = make_context();
  Program program;
  KernelFn entry = nullptr;
  std::vector<std::vector<void*>> buffers;  // one set per copy of the constants
  std::vector<std::shared_ptr<void>> memory;
  std::vector<int64_t> params;
  int64_t grid = 0;
  size_t next = 0;
  int file = -1;
  void* handle = nullptr;

  ~State() {
    if (handle) dlclose(handle);
    if (file >= 0) close(file);
  }

  void* allocate(int64_t bytes, const void* from) {
    void* memory_block = std::aligned_alloc(64, (bytes + 127) / 64 * 64);
    memory.emplace_back(memory_block, std::free);
    auto* floats = static_cast<float*>(memory_block);
    for (int64_t i = 0; i < bytes / 4; ++i) floats[i] = static_cast<float>(i % 13) * 0.1f - 0.6f;
    if (from) std::memcpy(memory_block, from, bytes);
    return memory_block;
  }
};

CompiledKernel::CompiledKernel() : state_(std::make_unique<State>()) {}
CompiledKernel::~CompiledKernel() = default;

Result<std::unique_ptr<CompiledKernel>> CompiledKernel::create(const std::string& text) {
  std::unique_ptr<CompiledKernel> kernel(new CompiledKernel());
  State& state = *kernel->state_;
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, state.context.get());
  if (!module) return Status(StatusCode::kInvalidModel, "cannot parse the graph");
  SCOPEVM_ASSIGN_OR_RETURN(schedule::Target target, codegen::make_target("host"));
  kernels::KernelModule kernels(state.context.get(), target, schedule::core_of(target));
  SCOPEVM_ASSIGN_OR_RETURN(
      state.program, kernels::lower_program({{*module, "main", {}}}, Machine::host(), {&kernels}));
  SCOPEVM_ASSIGN_OR_RETURN(std::vector<uint8_t> image,
                           codegen::compile_image(kernels.module(), kernels.kernels(), target, {}));
  int file = memfd_create("image", 0);
  if (write(file, image.data(), image.size()) != static_cast<ssize_t>(image.size()))
    return Status(StatusCode::kInternal, "cannot write the image");
  void* handle = dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(), RTLD_NOW);
  // Closed only after dlclose(): the number of a closed descriptor is reused, and dlopen() of an
  // equal path returns the image that is already loaded.
  state.file = file;
  state.handle = handle;
  if (!handle) return Status(StatusCode::kInternal, "cannot load the image");
  const std::vector<Step>& steps = state.program.functions.front().steps;
  if (steps.size() != 1 || !steps.front().is<step::Launch>())
    return Status(StatusCode::kInternal, "the graph is not lowered to exactly one launch");
  state.entry =
      reinterpret_cast<KernelFn>(dlsym(handle, state.program.kernels.front().symbol.c_str()));
  return kernel;
}

void CompiledKernel::bind(const std::map<std::string, int64_t>& dims, int copies) {
  State& state = *state_;
  auto value_of = [&](DimExpr dim) {
    return dim
        .evaluate([&](std::string_view name) -> std::optional<int64_t> {
          auto found = dims.find(std::string(name));
          return found == dims.end() ? std::optional<int64_t>(1) : std::optional(found->second);
        })
        .value();
  };
  const Function& function = state.program.functions.front();
  const Step& step = function.steps[0];
  const step::Launch& launch = *step.as<step::Launch>();
  state.next = 0;
  state.memory.clear();
  state.buffers.assign(copies, {});
  for (std::vector<void*>& set : state.buffers) {
    bool is_first = &set == &state.buffers.front();
    for (const auto& ids : {step.operands, step.results})
      for (ValueId id : ids) {
        const Value& value = function.values[id];
        bool is_constant = value.origin == ValueOrigin::kConstant;
        if (!is_first && !is_constant)
          set.push_back(state.buffers.front()[set.size()]);
        else
          set.push_back(state.allocate(
              value_of(value.bytes()),
              is_constant ? state.program.constants[*value.constant].data : nullptr));
      }
    for (const Temporary& temporary : launch.temporaries)
      set.push_back(is_first ? state.allocate(value_of(temporary.bytes), nullptr)
                             : state.buffers.front()[set.size()]);
  }
  state.params.clear();
  for (DimExpr param : launch.params) state.params.push_back(value_of(param));
  state.grid = value_of(launch.grid);
}

void CompiledKernel::run() {
  State& state = *state_;
  state.entry(state.buffers[state.next].data(), state.params.data(), 0, state.grid, 0, 0);
  state.next = (state.next + 1) % state.buffers.size();
}

std::unique_ptr<CompiledKernel> compile(const std::string& text) {
  auto kernel = CompiledKernel::create(text);
  if (kernel.ok()) return *std::move(kernel);
  std::fprintf(stderr, "%s\n", std::string(kernel.status().message()).c_str());
  std::exit(1);
}

}  // namespace scopevm::compiler::bench
