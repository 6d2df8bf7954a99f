// Events of the trace: see TraceEvent in scopevm/session.h.
#include "runtime/without_exceptions.h"
#include "vm/run/interpreter/interpreter_class.h"

namespace scopevm::vm {

TraceEvent Interpreter::traced_op(TraceEvent::Kind kind) const {
  const format::FunctionDecl& function = *frame_.function->decl;
  TraceEvent event;
  event.kind = kind;
  event.name =
      session_.module().source_name(function, static_cast<uint32_t>(at_ - function.code.data()));
  return event;
}

TraceEvent Interpreter::traced_launch(const format::LaunchDecl& launch) const {
  const format::KernelDecl& decl = contents_.kernels[launch.kernel];
  TraceEvent event = traced_op(TraceEvent::Kind::kLaunch);
  event.kernel = decl.symbol;
  if (!decl.external)
    for (const isa::Int bytes : launch.bytes) event.bytes += value(bytes);
  event.device = contents_.devices[decl.device].name;
  return event;
}

TraceEvent Interpreter::traced_copy(const isa::op::device_copy& in) const {
  const format::PoolDecl& from = contents_.pools[in.from_pool.value];
  const format::PoolDecl& to = contents_.pools[in.to_pool.value];
  TraceEvent event = traced_op(TraceEvent::Kind::kCopy);
  event.from_device = contents_.devices[from.device].name;
  event.from_scope = from.scope;
  event.to_device = contents_.devices[to.device].name;
  event.to_scope = to.scope;
  event.device = session_.devices().of_pool(in.from_pool.value) != nullptr ? event.from_device
                                                                           : event.to_device;
  event.bytes = frame_.registers[in.from.value].bytes;
  return event;
}

void Interpreter::trace_memory(int32_t pool) {
  if (pool < 0) return;  // a buffer of the caller
  const ScopeMemory& memory = session_.pool(static_cast<uint32_t>(pool));
  TraceEvent event;
  event.kind = TraceEvent::Kind::kMemory;
  event.device = memory.device();
  event.scope = memory.scope();
  event.bytes = memory.live_bytes();
  context_.tracer.record_now(event);
}

void Interpreter::trace_call() {
  TraceEvent event;
  event.name = context_.entry->decl->name;
  event.status = status_.code();
  for (const PoolAccount& pool : context_.pools()) event.bytes += pool.peak_bytes;
  std::vector<TraceDim> dims;
  Status traced = runtime::without_exceptions([&]() -> Status {
    const std::vector<DimensionSignature>& declared = session_.module().signature().dimensions;
    for (size_t i = 0; i < declared.size(); ++i)
      dims.push_back({declared[i].name, context_.request->dimensions[i]});
    return {};
  });
  event.dims = dims;
  if (traced.ok()) traced = context_.tracer.end(event);
  if (status_.ok()) status_ = std::move(traced);
}

void Interpreter::run_parallel(int64_t total, int64_t grain, Executor::Body body, void* context) {
  if (is_traced_)
    context_.tracer.parallel_for(session_.executor(), total, grain, body, context);
  else
    session_.executor().parallel_for(total, grain, body, context);
}

}  // namespace scopevm::vm
