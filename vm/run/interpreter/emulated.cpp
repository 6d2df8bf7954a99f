// Emulated waits of launches and copies.
#include <thread>

#include "vm/run/devices/emulation.h"
#include "vm/run/interpreter/interpreter_class.h"

namespace scopevm::vm {

namespace op = isa::op;

// The pool that contains the bytes of a launch buffer. Inputs, the caller's output buffers and
// constants count as stored in their declared pools. Elements of list inputs count as stored in the
// module's first heap pool in host memory. Returns no value for bytes in a frame, or if the module
// has no such heap pool.
std::optional<uint32_t> Interpreter::pool_of(const Register& buffer) const {
  const format::FunctionDecl& main = *context_.entry->decl;
  // A storage that was allocated from a pool records that pool. The caller's output buffers are
  // found by their storage, and all other bytes by their address.
  if (buffer.storage != nullptr && buffer.storage->pool >= 0)
    return static_cast<uint32_t>(buffer.storage->pool);
  if (buffer.storage != nullptr)
    for (size_t i = 0; i < context_.request->output_storages.size(); ++i)
      if (context_.request->output_storages[i] == buffer.storage) return main.outputs[i].pool;
  if (const auto pool = session_.emulation()->pool_of_constant(buffer.data)) return pool;
  for (size_t i = 0; i < context_.request->inputs.size(); ++i) {
    const auto* begin = static_cast<const std::byte*>(context_.request->inputs[i].data());
    if (begin != nullptr && buffer.data >= begin &&
        buffer.data < begin + context_.request->inputs[i].bytes())
      return main.inputs[i].pool;
  }
  if (context_.frames.holds(buffer.data)) return std::nullopt;
  return session_.module().heap_pool();
}

// Waits until `seconds` after `start`, and adds `seconds` to the call's emulated time. Returns
// false if the call was cancelled or passed its deadline.
bool Interpreter::wait_at_least(double seconds, Clock::time_point start) {
  context_.emulated_seconds += seconds;
  if (seconds <= 0) return true;
  return wait_until(
      wait_end(start, seconds), options_.deadline ? *options_.deadline : Clock::time_point::max(),
      [this] { return check_interrupts(); },
      [this](Clock::time_point end) {
        if (options_.fiber != nullptr)
          options_.fiber->sleep_until(end);
        else
          std::this_thread::sleep_until(end);
      });
}

bool Interpreter::finish_copy(const op::device_copy& in, Clock::time_point start) {
  const bool is_from_here = !is_on_other_rank(contents_.pools[in.from_pool.value].device);
  const bool is_to_here = !is_on_other_rank(contents_.pools[in.to_pool.value].device);
  // A message takes the time of the transport, and other ranks emulate their own copies.
  if (const Emulation* emulation = session_.emulation();
      emulation != nullptr && is_from_here && is_to_here) {
    const double seconds =
        emulation->copy_seconds(in.from_pool.value, in.to_pool.value, reg(in.from).bytes);
    if (!wait_at_least(seconds, start)) return false;
  }
  // Other ranks trace their own copies and launches.
  if (is_traced_ && (is_from_here || is_to_here)) context_.tracer.record(traced_copy(in), start);
  return true;
}

// Only launches on CPUs are emulated. Launches on other devices take their actual time.
bool Interpreter::finish_launch(const format::LaunchDecl& launch, isa::RegisterList buffers,
                                Clock::time_point start) {
  const uint32_t device = contents_.kernels[launch.kernel].device;
  if (is_on_other_rank(device)) return true;
  const bool is_on_cpu = session_.devices().device(device) == nullptr;
  if (session_.emulation() != nullptr && is_on_cpu) {
    double seconds = 0;
    for (uint32_t i = 0; i < buffers.size(); ++i) {
      const Register& buffer = reg(buffers[i]);
      if (const std::optional<uint32_t> pool = pool_of(buffer))
        seconds += session_.emulation()->access_seconds(*pool, buffer.bytes, i < launch.read_only);
    }
    if (!wait_at_least(seconds, start)) return false;
  }
  if (is_traced_) context_.tracer.record(traced_launch(launch), start);
  return true;
}

}  // namespace scopevm::vm
