// See rank_group.h.
#include "vm/run/ranks/rank_group.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "runtime/c_api/c_arguments.h"
#include "runtime/process/available_cpus.h"
#include "vm/run/ranks/message_memory.h"
#include "vm/run/ranks/pause.h"

namespace scopevm::vm {

namespace {

// While each part of a pipeline works on a request, as many others pass from one part to the next,
// or end.
constexpr int kChannelsPerRank = 2;
constexpr int kMostChannels = 64;

}  // namespace

RankGroup::RankGroup(const scopevm_transport& transport)
    : transport_(transport), cpus_(runtime::available_cpus()) {
  for (int i = 0; i < std::min(kChannelsPerRank * size(), kMostChannels); ++i)
    channels_.push_back(std::make_unique<RankChannel>(*this, transport_, i));
  for (const std::unique_ptr<RankChannel>& channel : channels_) free_.push_back(channel.get());
  std::ranges::reverse(free_);
}

Result<std::unique_ptr<RankGroup>> RankGroup::create(const scopevm_transport* transport, int ranks,
                                                     uint64_t digest) {
  if (transport->struct_size < SCOPEVM_SIZE_UP_TO(scopevm_transport, error) ||
      transport->abi_version != SCOPEVM_TRANSPORT_ABI_VERSION)
    return Status(StatusCode::kInvalidArgument,
                  "the transport has ABI version " + std::to_string(transport->abi_version) +
                      ", expected " + std::to_string(SCOPEVM_TRANSPORT_ABI_VERSION));
  if (transport->ranks != ranks || transport->rank < 0 || transport->rank >= ranks)
    return Status(StatusCode::kInvalidArgument,
                  "the module is for " + std::to_string(ranks) + (ranks == 1 ? " rank" : " ranks") +
                      ", but this process is rank " + std::to_string(transport->rank) + " of " +
                      std::to_string(transport->ranks));
  std::unique_ptr<RankGroup> group(new RankGroup(*transport));
  SCOPEVM_RETURN_IF_ERROR(group->channel(0).greet(digest));
  for (const std::unique_ptr<RankChannel>& channel : group->channels_) channel->open();
  return group;
}

RankGroup::~RankGroup() {
  for (const std::unique_ptr<RankChannel>& channel : channels_) channel->stop();
  // A rank that does not follow takes no message.
  const auto last = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  const auto has_messages = [](const auto& channel) { return channel->has_messages(); };
  for (Pause pause;
       std::ranges::any_of(channels_, has_messages) && std::chrono::steady_clock::now() < last;)
    pause();
}

std::shared_ptr<BlockSource> RankGroup::message_memory() const {
  const scopevm_transport& c = transport_.c();
  const bool has_memory =
      c.struct_size >= SCOPEVM_SIZE_UP_TO(scopevm_transport, deallocate) && c.allocate != nullptr;
  return has_memory ? std::make_shared<MessageMemory>(c) : nullptr;
}

Status RankGroup::health() const {
  std::lock_guard lock(health_mutex_);
  return health_;
}

Status RankGroup::fail() {
  return fail(Status(StatusCode::kDevice, "ranks: " + transport_.failure()));
}

Status RankGroup::fail(Status status) {
  std::lock_guard lock(health_mutex_);
  if (health_.ok()) health_ = std::move(status);
  has_failed_.store(true, std::memory_order_relaxed);
  return health_;
}

RankChannel* RankGroup::try_take_channel() {
  std::lock_guard lock(free_mutex_);
  if (free_.empty()) return nullptr;
  RankChannel* const channel = free_.back();
  free_.pop_back();
  return channel;
}

Result<RankChannel*> RankGroup::take_channel(const std::function<Status()>& check_interrupts) {
  while (true) {
    if (RankChannel* const channel = try_take_channel()) return channel;
    SCOPEVM_RETURN_IF_ERROR(check_interrupts());
    std::unique_lock lock(free_mutex_);
    is_free_.wait_for(lock, std::chrono::milliseconds(1), [this] { return !free_.empty(); });
  }
}

void RankGroup::return_channel(RankChannel& channel) {
  {
    std::lock_guard lock(free_mutex_);
    free_.push_back(&channel);  // has capacity for all
  }
  is_free_.notify_one();
}

void RankGroup::reserve_release() {
  std::lock_guard lock(released_mutex_);
  released_.reserve(released_.size() + to_release_ + 1);
  ++to_release_;
}

void RankGroup::release(int64_t address) {
  std::lock_guard lock(released_mutex_);
  released_.push_back(address);
  --to_release_;
}

std::vector<int64_t> RankGroup::with_released(std::span<const int64_t> numbers) {
  std::lock_guard lock(released_mutex_);
  std::vector<int64_t> all = {static_cast<int64_t>(released_.size())};
  all.reserve(1 + released_.size() + numbers.size());
  all.insert(all.end(), released_.begin(), released_.end());
  all.insert(all.end(), numbers.begin(), numbers.end());
  released_.clear();  // keeps its capacity
  return all;
}

}  // namespace scopevm::vm
