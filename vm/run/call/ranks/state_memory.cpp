// See state_memory.h.
#include "vm/run/call/ranks/state_memory.h"

#include <array>
#include <cstring>
#include <utility>

#include "runtime/memory/storage.h"
#include "runtime/tensor/tensor_access.h"
#include "runtime/without_exceptions.h"
#include "vm/run/call/bound_session.h"
#include "vm/run/call/ranks/take_channel.h"
#include "vm/run/ranks/rank_group.h"
#include "vm/run/ranks/remote_memory.h"

namespace scopevm::vm {
namespace {

using runtime::Storage;

// Of each task: the rank, the pool or source, the target, the bytes.
constexpr size_t kNumbers = 4;
// Instead of an address: the value is on rank 0.
constexpr int64_t kNone = 0;

int64_t number_of(const void* address) {
  return is_remote(address) ? static_cast<int64_t>(reinterpret_cast<uint64_t>(address)) : kNone;
}

Status no_interrupts() { return {}; }
Status no_transfer(RankChannel&) { return {}; }

// `transfer` runs on rank 0 while the other rank runs the task.
template <typename Transfer>
Status run_on_rank(BoundSession& session, RankTask task, int rank, int64_t source, int64_t target,
                   int64_t bytes, Transfer transfer) {
  const std::array<int64_t, 1 + kNumbers> numbers = {static_cast<int64_t>(task), rank, source,
                                                     target, bytes};
  SCOPEVM_ASSIGN_OR_RETURN(RankChannel* const channel, take_channel(session, no_interrupts));
  SCOPEVM_RETURN_IF_ERROR(channel->begin(numbers, no_interrupts));
  return channel->end(runtime::without_exceptions([&] { return transfer(*channel); }), {}, {});
}

}  // namespace

Status invalid_task() { return {StatusCode::kDevice, "rank 0 sent an invalid task"}; }

Result<Storage*> allocate_state(const std::shared_ptr<BoundSession>& session, uint32_t pool,
                                int64_t bytes) {
  Storage* storage = nullptr;
  SCOPEVM_RETURN_IF_ERROR(session->allocate_held(pool, bytes, &storage));
  storage->pool = -1;  // like a buffer of the caller: no call owns it
  if (!is_remote(storage->data)) return storage;
  const StorageOwner address(storage);
  const int64_t number = number_of(storage->data);
  session->ranks()->reserve_release();
  StorageOwner value(Storage::adopt(storage->data, bytes, [session, storage, number] {
    session->ranks()->release(number);
    storage->release();
  }));
  storage->retain();
  value->is_held = storage->is_held;
  SCOPEVM_RETURN_IF_ERROR(run_on_rank(*session, RankTask::kAllocate, rank_of(storage->data), pool,
                                      number, bytes, no_transfer));
  return value.release();
}

Status copy_state(BoundSession& session, const Tensor& from, const Tensor& to) {
  const bool is_from_remote = is_remote(from.data()), is_to_remote = is_remote(to.data());
  const auto bytes = to.bytes();
  if (bytes == 0 || from.data() == to.data()) return {};
  if (!is_from_remote && !is_to_remote) {
    if (from.is_empty())
      std::memset(to.data(), 0, static_cast<size_t>(bytes));
    else
      std::memmove(to.data(), from.data(), static_cast<size_t>(bytes));
    return {};
  }
  const int rank = rank_of(is_to_remote ? to.data() : from.data());
  if (from.is_empty())
    return run_on_rank(session, RankTask::kClear, rank, kNone, number_of(to.data()), bytes,
                       no_transfer);
  return run_on_rank(session, RankTask::kCopy, rank, number_of(from.data()), number_of(to.data()),
                     bytes, [&](RankChannel& channel) -> Status {
                       if (!is_to_remote) return channel.receive(rank, to.data(), bytes);
                       return is_from_remote ? Status() : channel.send(rank, from.data(), bytes);
                     });
}

void StorageRelease::operator()(Storage* storage) const { storage->release(); }

void StateBlocks::release(std::span<const int64_t> addresses) {
  std::lock_guard lock(mutex_);
  for (const int64_t address : addresses) blocks_.erase(address);
}

Storage* StateBlocks::find(int64_t address) const {
  std::lock_guard lock(mutex_);
  const auto found = blocks_.find(address);
  return found == blocks_.end() ? nullptr : found->second.get();
}

Status StateBlocks::run(RankTask task, std::span<const int64_t> numbers, RankChannel& channel) {
  if (numbers.size() != kNumbers) return invalid_task();
  if (numbers[0] != session_.ranks()->rank()) return {};
  const int64_t source = numbers[1], target = numbers[2], bytes = numbers[3];
  if (task == RankTask::kAllocate) {
    if (source < 0 || source >= static_cast<int64_t>(session_.pool_count()) || bytes < 0)
      return invalid_task();
    Storage* storage = nullptr;
    SCOPEVM_RETURN_IF_ERROR(session_.allocate_held(static_cast<uint32_t>(source), bytes, &storage));
    StorageOwner block(storage);
    storage->pool = -1;  // no call owns it
    if (bytes > 0) std::memset(storage->data, 0, static_cast<size_t>(bytes));
    std::lock_guard lock(mutex_);
    blocks_[target] = std::move(block);
    return {};
  }
  const Storage *const from = find(source), *const to = find(target);
  for (const auto& [address, block] : {std::pair(source, from), std::pair(target, to)})
    if (address != kNone && (block == nullptr || block->bytes < bytes)) return invalid_task();
  if (task == RankTask::kClear && to != nullptr) {
    std::memset(to->data, 0, static_cast<size_t>(bytes));
    return {};
  }
  if (task != RankTask::kCopy || (from == nullptr && to == nullptr)) return invalid_task();
  if (from == nullptr) return channel.receive(0, to->data, bytes);
  if (to == nullptr) return channel.send(0, from->data, bytes);
  std::memcpy(to->data, from->data, static_cast<size_t>(bytes));
  return {};
}

}  // namespace scopevm::vm
