// Launches and copies on non-CPU devices and on devices of other ranks.
#include "vm/run/interpreter/interpreter_class.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/count_text.h"
#include "runtime/without_exceptions.h"
#include "vm/run/ranks/rank_group.h"

namespace scopevm::vm {

using runtime::ScopeMemory;
using runtime::Storage;
namespace op = isa::op;
using isa::RegisterIndex;
using runtime::count_text;

bool Interpreter::operands_access_host_bytes(const op::launch& in) {
  // Only CPU kernels have an address in the table. Kernels of other devices access only device
  // memory.
  const format::LaunchDecl& launch = contents_.launches[in.entry.value];
  if (kernels_[launch.kernel] == nullptr) return false;
  if (!is_on_other_rank(pending_index_)) return true;
  // Transfers continue while a kernel accesses other bytes.
  for (uint32_t i = 0; i < in.buffers.size(); ++i) {
    const Register& buffer = frame_.registers[in.buffers[i].value];
    if (is_in_transfer(buffer.data, buffer.bytes, i >= launch.read_only)) return true;
  }
  return false;
}

// The work of one device executes in order. A copy must wait only if it does not involve the device
// of the pending work. RankChannel itself orders messages that access the same bytes, so that those
// of several ranks are under way at the same time.
bool Interpreter::operands_access_host_bytes(const op::device_copy& in) {
  const BoundDevices& devices = session_.devices();
  const runtime::Device* const from = devices.of_pool(in.from_pool.value);
  const runtime::Device* const to = devices.of_pool(in.to_pool.value);
  if (is_on_other_rank(pending_index_) &&
      (is_of_other_rank(in.from_pool.value) || is_of_other_rank(in.to_pool.value)))
    return false;
  return from != pending_device_ && to != pending_device_;
}

template <typename Op>
bool Interpreter::accesses_host_bytes(const Op& in) {
  if constexpr (Op::has(isa::Trait::host_bytes_by_operands))
    return operands_access_host_bytes(in);
  else
    return !Op::has(isa::Trait::no_host_bytes);
}

// Waits for pending work on host memory before an instruction that accesses host bytes.
bool Interpreter::settle_before(isa::Opcode opcode) {
  switch (opcode) {
#define OPCODE(name, code, effect, ...) \
  case isa::Opcode::name:               \
    return !accesses_host_bytes(isa::decode<op::name>(at_)) || settle();
#include "vm/isa/opcodes.def"
  }
  return settle();
}

bool Interpreter::settle() {
  if (pending_device_ == nullptr) return true;
  wait_for(pending_index_, runtime::StreamWork::kHostUses);
  const Status settled = on_thread([&] {
    // No work of a device is pending after the wait, even if it fails.
    pending_device_ = nullptr;
    is_watched_ = options_.hook != nullptr;
    Status status = context_.streams[pending_index_]->settle();
    // After a failure, messages can still be under way. The call then releases its storages at its
    // end.
    if (status.ok())
      for (Storage* storage : deferred_) context_.release(storage);
    deferred_.clear();
    return status;
  });
  return check_device(pending_index_, settled);
}

// Before an allocation: the memory bound counts a storage only until its last use, so that a pool
// must not hold both a deferred storage and a new one.
bool Interpreter::settle_if_deferred(uint32_t pool) {
  const bool is_deferred = std::ranges::any_of(deferred_, [&](const Storage* storage) {
    return storage->is_list || storage->pool == static_cast<int32_t>(pool);
  });
  return !is_deferred || settle();
}

bool Interpreter::is_in_host_memory(const Storage& storage) const {
  return storage.pool < 0 ||
         session_.devices().of_pool(static_cast<uint32_t>(storage.pool)) == nullptr;
}

// Pending work on host memory may still read or write a host storage. Its release then waits until
// this work has ended, so that no other call allocates the block before.
void Interpreter::release_storage(Storage* storage) {
  if (pending_device_ != nullptr && is_in_host_memory(*storage) &&
      (storage->is_list || !is_on_other_rank(pending_index_) ||
       is_in_transfer(storage->data, storage->bytes, true))) {
    deferred_.push_back(storage);
    return;
  }
  const int32_t pool = storage->pool;
  on_thread([&] { context_.release(storage); });
  if (is_traced_) trace_memory(pool);
}

// Waits for all device work of the call. Runs at the end of every call, successful or not.
void Interpreter::finish_streams() {
  pending_device_ = nullptr;
  deferred_.clear();
  for (size_t i = 0; i < context_.streams.size(); ++i) {
    if (context_.streams[i] == nullptr) continue;
    // An exception must not prevent the wait for the other streams.
    const Status finished = runtime::without_exceptions([&]() -> Status {
      wait_for(static_cast<uint32_t>(i), runtime::StreamWork::kAll);
      Status status = on_thread([&] { return context_.streams[i]->finish(); });
      if (status.ok()) return {};
      return std::move(status).with_context("device \"" + contents_.devices[i].name + "\"");
    });
    if (status_.ok()) status_ = finished;
  }
}

bool Interpreter::execute(const op::device_copy& in) {
  const Register& to = reg(in.to);
  const Register& from = reg(in.from);
  if (to.bytes != from.bytes)
    return fail(StatusCode::kInvalidModel, "copy of " + count_text(from.bytes, "byte") +
                                               " into a tensor of " + count_text(to.bytes, "byte"));
  // An input and a result can have the same memory: TensorDecl::is_in_place.
  if (to.data == from.data) return true;
  context_.count_copy(in.from_pool.value, in.to_pool.value, from.bytes);
  const Clock::time_point start = is_timed_ ? Clock::now() : Clock::time_point();
  return copy_bytes(in) && (!is_timed_ || finish_copy(in, start));
}

bool Interpreter::copy_bytes(const op::device_copy& in) {
  const Register &to = reg(in.to), &from = reg(in.from);
  runtime::Device* source = session_.devices().of_pool(in.from_pool.value);
  runtime::Device* target = session_.devices().of_pool(in.to_pool.value);
  if (source == nullptr && target == nullptr) {
    // Views of one storage may overlap.
    std::memmove(to.data, from.data, static_cast<size_t>(from.bytes));
    return true;
  }
  const uint32_t device =
      contents_.pools[source == nullptr ? in.to_pool.value : in.from_pool.value].device;
  runtime::DeviceStream& stream = *context_.streams[device];
  if (is_traced_) context_.tracer.observe(stream, traced_copy(in));
  // Within the device, or between other ranks.
  const bool is_within = source != nullptr && target != nullptr;
  if (!is_within && !begin_host_access(device)) return false;
  wait_for(device, runtime::StreamWork::kRoom, is_within ? 0 : from.bytes);
  return check_device(device, on_thread([&] {
                        if (is_within) return stream.copy_within(to.data, from.data, from.bytes);
                        return source == nullptr ? stream.copy_in(to.data, from.data, from.bytes)
                                                 : stream.copy_out(to.data, from.data, from.bytes);
                      }));
}

// Whether a buffer of a launch on a non-CPU device is in a pool that the device shares with the
// host. Constants are exempt: the host never writes them.
bool Interpreter::uses_host_memory(isa::RegisterList buffers) const {
  for (uint32_t i = 0; i < buffers.size(); ++i) {
    const Storage* storage = frame_.registers[buffers[i].value].storage;
    if (storage != nullptr && is_in_host_memory(*storage)) return true;
  }
  return false;
}

// Whether the device belongs to another rank. The transfers from and to all of them end together:
// RankChannel::settle().
bool Interpreter::is_on_other_rank(uint32_t device) const {
  const RankGroup* const ranks = session_.ranks();
  return ranks != nullptr && static_cast<int>(contents_.devices[device].rank) != ranks->rank();
}

// RankChannel::accesses()
bool Interpreter::is_in_transfer(const void* data, int64_t bytes, bool is_write) {
  return on_thread([&] { return channel_->accesses(data, bytes, is_write); });
}

// Records that the device's pending work accesses host memory. First waits for such work of another
// device, so that at most one device has any, or those of other ranks have.
bool Interpreter::begin_host_access(uint32_t device) {
  runtime::Device* const accessing = session_.devices().device(device).get();
  const bool ends_together =
      pending_device_ != nullptr && is_on_other_rank(pending_index_) && is_on_other_rank(device);
  if (pending_device_ != accessing && !ends_together && !settle()) return false;
  pending_device_ = accessing;
  is_watched_ = true;
  pending_index_ = device;
  return true;
}

bool Interpreter::launch_on_device(const format::LaunchDecl& launch, isa::RegisterList buffers,
                                   int64_t grid, int64_t grain) {
  const format::KernelDecl& decl = contents_.kernels[launch.kernel];
  const BoundDevices::Kernel& kernel = session_.devices().kernel(launch.kernel);
  runtime::DeviceStream& stream = *context_.streams[decl.device];
  if (uses_host_memory(buffers) && !begin_host_access(decl.device)) return false;
  if (is_traced_) context_.tracer.observe(stream, traced_launch(launch));
  const runtime::DeviceLaunch launched = {
      .kernel = kernel.function,
      .buffers = {frame_.buffers, decl.buffer_count},
      .params = {frame_.slots + launch.params.value, decl.param_count},
      .grid = grid,
      .grain = grain,
      .workers = contents_.devices[decl.device].workers};
  wait_for(decl.device, runtime::StreamWork::kRoom);
  return check_device(decl.device, on_thread([&] { return stream.launch(launched); }));
}

bool Interpreter::check_device(uint32_t device, const Status& status) {
  if (status.ok()) return true;
  if (status.code() == StatusCode::kCancelled || status.code() == StatusCode::kDeadlineExceeded) {
    status_ = status;  // of the call: a transfer between ranks was interrupted
    return false;
  }
  return fail(status.code(), "device \"" + contents_.devices[device].name +
                                 "\": " + std::string(status.message()));
}

}  // namespace scopevm::vm
