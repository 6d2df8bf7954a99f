// Events of the trace: see TraceEvent in scopevm/session.h.
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

TraceEvent Interpreter::traced_launch(uint32_t kernel) const {
  const format::KernelDecl& decl = contents_.kernels[kernel];
  TraceEvent event = traced_op(TraceEvent::Kind::kLaunch);
  event.kernel = decl.symbol;
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

void Interpreter::run_parallel(int64_t total, int64_t grain, Executor::Body body, void* context) {
  if (is_traced_)
    context_.tracer.parallel_for(session_.executor(), total, grain, body, context);
  else
    session_.executor().parallel_for(total, grain, body, context);
}

}  // namespace scopevm::vm
