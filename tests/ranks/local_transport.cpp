// See local_transport.h.
#include "tests/ranks/local_transport.h"

#include <cstdlib>
#include <cstring>

namespace scopevm {

LocalJob::LocalJob(int ranks, int64_t eager_bytes) : eager_bytes_(eager_bytes) {
  for (int i = 0; i < ranks; ++i) {
    Rank& rank = ranks_.emplace_back();
    rank.job = this;
    rank.c = {.struct_size = sizeof rank.c,
              .abi_version = SCOPEVM_TRANSPORT_ABI_VERSION,
              .context = &rank,
              .rank = i,
              .ranks = ranks,
              .send =
                  [](void* context, int to, int tag, const void* data, int64_t bytes) {
                    auto& self = *static_cast<Rank*>(context);
                    return self.job->send(self.c.rank, to, tag, data, bytes);
                  },
              .receive =
                  [](void* context, int from, int tag, void* data, int64_t bytes) {
                    auto& self = *static_cast<Rank*>(context);
                    return self.job->receive(self.c.rank, from, tag, data, bytes);
                  },
              .test =
                  [](void* context, void* operation) {
                    auto& self = *static_cast<Rank*>(context);
                    return self.job->test(self.c.rank, static_cast<Operation*>(operation));
                  },
              .cancel =
                  [](void* context, void* operation) {
                    static_cast<Rank*>(context)->job->cancel(static_cast<Operation*>(operation));
                  },
              .probe =
                  [](void* context, int from, int tag) {
                    auto& self = *static_cast<Rank*>(context);
                    return self.job->probe(self.c.rank, from, tag);
                  },
              .error = [](void* context) { return static_cast<Rank*>(context)->error.c_str(); },
              .allocate =
                  [](void* context, int64_t bytes, int64_t alignment) {
                    LocalJob& self = *static_cast<Rank*>(context)->job;
                    ++self.blocks_taken_;
                    ++self.blocks_;
                    return std::aligned_alloc(
                        static_cast<size_t>(alignment),
                        static_cast<size_t>((bytes + alignment - 1) / alignment * alignment));
                  },
              .deallocate =
                  [](void* context, void* block, int64_t) {
                    --static_cast<Rank*>(context)->job->blocks_;
                    std::free(block);
                  }};
  }
}

void LocalJob::kill(int rank) {
  for (Rank& other : ranks_) other.error = "rank " + std::to_string(rank) + " has ended";
  killed_ = rank;
}

int64_t LocalJob::left() const {
  std::lock_guard lock(mutex_);
  int64_t count = 0;
  for (const auto& [key, channel] : channels_)
    count += static_cast<int64_t>(channel.messages.size());
  return count;
}

void LocalJob::match(Channel& channel) {
  while (!channel.messages.empty() && !channel.receives.empty()) {
    Message& message = *channel.messages.front();
    Receive& receive = *channel.receives.front();
    if (message.bytes != receive.bytes) std::abort();  // the protocol is wrong
    std::memcpy(receive.data, message.source != nullptr ? message.source : message.copy.data(),
                static_cast<size_t>(message.bytes));
    message.is_taken = true;
    receive.is_done = true;
    channel.messages.pop_front();
    channel.receives.pop_front();
  }
}

void* LocalJob::send(int from, int to, int tag, const void* data, int64_t bytes) {
  if (killed_ >= 0) return nullptr;
  auto message = std::make_shared<Message>();
  message->bytes = bytes;
  if (bytes > eager_bytes_) {
    message->source = data;
  } else {
    const auto* first = static_cast<const std::byte*>(data);
    message->copy.assign(first, first + bytes);
    message->is_taken = true;
  }
  ++sent_;
  std::lock_guard lock(mutex_);
  Channel& channel = channels_[{from, to, tag}];
  channel.messages.push_back(message);
  match(channel);
  return new Operation{message, nullptr, {from, to, tag}};
}

void* LocalJob::receive(int at, int from, int tag, void* data, int64_t bytes) {
  if (killed_ >= 0) return nullptr;
  auto receive = std::make_shared<Receive>(data, bytes);
  std::lock_guard lock(mutex_);
  Channel& channel = channels_[{from, at, tag}];
  channel.receives.push_back(receive);
  match(channel);
  return new Operation{nullptr, receive, {from, at, tag}};
}

int LocalJob::test(int, Operation* operation) {
  const bool is_done =
      operation->message != nullptr ? operation->message->is_taken : operation->receive->is_done;
  if (is_done || killed_ >= 0) {
    if (!is_done)
      cancel(operation);
    else
      delete operation;
    return is_done ? SCOPEVM_TRANSPORT_DONE : SCOPEVM_TRANSPORT_FAILED;
  }
  return SCOPEVM_TRANSPORT_PENDING;
}

void LocalJob::cancel(Operation* operation) {
  {
    std::lock_guard lock(mutex_);
    Channel& channel = channels_[operation->channel];
    std::erase(channel.receives, operation->receive);
    std::erase(channel.messages, operation->message);
  }
  delete operation;
}

int64_t LocalJob::probe(int at, int from, int tag) {
  if (killed_ >= 0) return -2;
  std::lock_guard lock(mutex_);
  const auto found = channels_.find({from, at, tag});
  if (found == channels_.end() || found->second.messages.empty()) return -1;
  return found->second.messages.front()->bytes;
}

}  // namespace scopevm
