// Calls of external functions.
#include <algorithm>
#include <cstdint>
#include <string>

#include "runtime/count_text.h"
#include "runtime/tensor/dlpack_type.h"
#include "runtime/tensor/shape.h"
#include "runtime/without_exceptions.h"
#include "vm/run/call/interrupts.h"
#include "vm/run/external/bound_externals.h"
#include "vm/run/interpreter/interpreter_class.h"

namespace scopevm::vm {
namespace {

using runtime::count_text;

constexpr uintptr_t kWorkspaceAlignment = 64;  // scopevm_external_run::workspace

bool is_aligned(const std::byte* data, uintptr_t alignment) {
  return reinterpret_cast<uintptr_t>(data) % alignment == 0;
}

// What scopevm_external_run::executor points to.
struct ExternalExecutor {
  Executor& executor;
  Tracer* tracer;  // null if the call is not traced
  int threads;
  const RunOptions& options;
};

void parallel_for(void* context, int64_t total, int64_t grain, Executor::Body body,
                  void* body_context) {
  auto& external = *static_cast<ExternalExecutor*>(context);
  if (total <= 0) return;
  grain = std::max<int64_t>(grain, 1);
  if (external.threads == 1 || total <= grain)
    body(body_context, 0, total, 0);
  else if (external.tracer != nullptr)
    external.tracer->parallel_for(external.executor, total, grain, body, body_context);
  else
    external.executor.parallel_for(total, grain, body, body_context);
}

int is_stopped(void* context) {
  const auto& external = *static_cast<const ExternalExecutor*>(context);
  return interrupt(external.options) == StatusCode::kOk ? 0 : 1;
}

}  // namespace

bool Interpreter::fail_for_external(const format::LaunchDecl& launch, const std::string& what) {
  return fail(StatusCode::kInvalidModel,
              external_text(contents_.kernels[launch.kernel]) + ": " + what);
}

// Sets the tensor of an operand or result. `dims` are those of the launch's params. Returns false
// if the buffer has fewer bytes than the dims require.
bool Interpreter::set_external_tensor(const format::LaunchDecl& launch, uint32_t index,
                                      const Register& buffer, int64_t* dims) {
  const format::ExternalTensor& type = contents_.kernels[launch.kernel].external->tensor(index);
  const std::span<const int64_t> shape(dims, type.rank);
  const Result<int64_t> bytes = runtime::shape_bytes(type.dtype, shape);
  if (!bytes.ok())
    return fail_for_external(
        launch, "buffer " + std::to_string(index) + ": " + std::string(bytes.status().message()));
  if (*bytes > buffer.bytes)
    return fail_for_external(launch, "buffer " + std::to_string(index) + " has " +
                                         count_text(buffer.bytes, "byte") + ", but " +
                                         runtime::type_text(type.dtype, shape) + " has " +
                                         std::to_string(*bytes));
  if (!is_aligned(buffer.data, static_cast<uintptr_t>(byte_size(type.dtype))))
    return fail_for_external(launch,
                             "buffer " + std::to_string(index) + " is not aligned to its elements");
  context_.external_tensors[index] = {.data = buffer.data,
                                      .device = {kDLCPU, 0},
                                      .ndim = static_cast<int32_t>(type.rank),
                                      .dtype = runtime::to_dlpack_type(type.dtype),
                                      .shape = dims,
                                      .strides = nullptr,
                                      .byte_offset = 0};
  return true;
}

// Sets the tensors of all operands and results. Returns false if a buffer has fewer bytes than the
// launch declares or its dims require.
bool Interpreter::set_external_tensors(const isa::op::call_extern& in,
                                       const format::LaunchDecl& launch) {
  const format::ExternalDecl& external = *contents_.kernels[launch.kernel].external;
  int64_t* dims = frame_.slots + launch.params.value;
  for (uint32_t i = 0; i < in.buffers.size(); ++i) {
    const Register& buffer = reg(in.buffers[i]);
    const int64_t declared = value(launch.bytes[i]);
    if (declared < 0 || buffer.bytes < declared) return fail_for_buffer(launch, i, buffer.bytes);
    if (i >= external.tensor_count()) {
      if (is_aligned(buffer.data, kWorkspaceAlignment)) continue;
      return fail_for_external(launch, "the workspace is not aligned to 64 bytes");
    }
    if (!set_external_tensor(launch, i, buffer, dims)) return false;
    dims += external.tensor(i).rank;
  }
  return true;
}

Status Interpreter::run_external(const isa::op::call_extern& in, const format::LaunchDecl& launch) {
  const format::ExternalDecl& decl = *contents_.kernels[launch.kernel].external;
  const BoundExternals::Function& function = session_.externals().function(launch.kernel);
  ExternalExecutor executor{session_.executor(), is_traced_ ? &context_.tracer : nullptr,
                            session_.threads(), options_};
  ExternalMessage message;
  const bool has_workspace = in.buffers.size() > decl.tensor_count();
  const scopevm_external_run run{
      .struct_size = sizeof run,
      .operands = context_.external_tensors.data(),
      .operand_count = decl.operands.size(),
      .results = context_.external_tensors.data() + decl.operands.size(),
      .result_count = decl.results.size(),
      .workspace = has_workspace ? reg(in.buffers[in.buffers.size() - 1]).data : nullptr,
      .workspace_bytes = has_workspace ? value(launch.bytes.back()) : 0,
      .threads = session_.threads(),
      .parallel_for = parallel_for,
      .executor = &executor,
      .is_stopped = is_stopped,
      .message = message.text(),
      .message_size = ExternalMessage::size()};
  return runtime::without_exceptions([&] {
    const scopevm_external_library& library = *function.library;
    return message.status(library.run(library.context, function.function, &run));
  });
}

bool Interpreter::execute(const isa::op::call_extern& in) {
  if (!check_interrupts()) return false;
  const format::LaunchDecl& launch = contents_.launches[in.entry.value];
  if (session_.devices().device(contents_.kernels[launch.kernel].device) != nullptr)
    return true;  // another rank runs it
  if (!set_external_tensors(in, launch)) return false;
  if (value(launch.grid) <= 0) return true;  // as for a launch
  const Clock::time_point start = is_timed_ ? Clock::now() : Clock::time_point();
  const Status status = on_thread([&] { return run_external(in, launch); });
  // A run that was stopped can return any error.
  if (!check_interrupts()) return false;
  if (!status.ok())
    return fail(status.code(), external_text(contents_.kernels[launch.kernel]) + ": " +
                                   std::string(status.message()));
  return !is_timed_ || finish_launch(launch, in.buffers, start);
}

}  // namespace scopevm::vm
