// Random messages between the ranks of a job, through the functions of the plug-in: of any size,
// from memory of the transport and from other memory, received before or after they are sent, found
// by a probe, and receives that no message matches.
//   mpirun -n 3 mpi_messages ROUNDS SEED
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "scopevm/c/transport.h"
#include "scopevm/session.h"

namespace scopevm {
namespace {

constexpr int kTags = 2;

struct Message {
  int from, to, tag;
  int64_t bytes;
  bool is_in_memory;  // of the transport
  bool is_probed;
};

// The same on all ranks.
std::vector<Message> random_messages(std::mt19937& random, int ranks) {
  constexpr std::array<int64_t, 9> kSizes = {0,     1,       16384,   16385,  4 << 10,
                                             65536, 1 << 20, 3 << 20, 2097151};
  std::vector<Message> messages(random() % 12);
  // Messages with a tag from one rank to another are all received in one way: a probe finds the
  // first one of those that no receive has matched.
  std::vector<bool> is_probed(static_cast<size_t>(ranks * ranks * kTags));
  for (size_t i = 0; i < is_probed.size(); ++i) is_probed[i] = random() % 3 == 0;
  for (Message& message : messages) {
    message.from = static_cast<int>(random() % static_cast<unsigned>(ranks));
    message.to =
        (message.from + 1 + static_cast<int>(random() % static_cast<unsigned>(ranks - 1))) % ranks;
    message.tag = 1 + static_cast<int>(random() % kTags);
    message.bytes = kSizes[random() % kSizes.size()];
    message.is_in_memory = random() % 2 == 0;
    message.is_probed = is_probed[static_cast<size_t>((message.from * ranks + message.to) * kTags +
                                                      message.tag - 1)];
  }
  return messages;
}

std::byte content(size_t message, int64_t at) {
  return static_cast<std::byte>(message * 31 + static_cast<uint64_t>(at) * 7 + 1);
}

class Ranks {
 public:
  Ranks(const scopevm_transport& transport, unsigned seed)
      : transport_(transport),
        random_(seed),
        own_random_(seed + 1 + static_cast<unsigned>(transport.rank)) {}

  bool round() {
    const std::vector<Message> messages = random_messages(random_, transport_.ranks);
    for (size_t i = 0; i < messages.size(); ++i) {
      if (messages[i].from == transport_.rank) send(messages[i], i);
      if (messages[i].to == transport_.rank && !messages[i].is_probed)
        receive(messages[i].from, messages[i].tag, i, messages[i].bytes);
      if (own_random_() % 3 == 0 && !test()) return false;
    }
    for (const Message& message : messages)
      if (message.to == transport_.rank && message.is_probed && !find(message)) return false;
    while (!open_.empty())
      if (!test()) return false;
    return check(messages) && barrier(kTags + 2) && receive_nothing();
  }
  // Blocks of the transport's memory that messages used.
  int64_t in_memory() const { return in_memory_; }

 private:
  struct Open {
    void* operation;
    size_t block;
  };
  struct Block {
    std::byte* data;
    int64_t bytes;
    int message;  // that was received; -1: sent
    bool is_in_memory;
  };

  bool fail(const char* text) {
    std::fprintf(stderr, "rank %d: %s: %s\n", transport_.rank, text,
                 transport_.error(transport_.context));
    return false;
  }

  std::byte* block(int64_t bytes, int message, bool is_in_memory) {
    is_in_memory = is_in_memory && transport_.allocate != nullptr;
    in_memory_ += is_in_memory ? 1 : 0;
    void* const data = is_in_memory ? transport_.allocate(transport_.context, bytes, 64)
                                    : std::malloc(static_cast<size_t>(bytes) + 1);
    blocks_.push_back({static_cast<std::byte*>(data), bytes, message, is_in_memory});
    return blocks_.back().data;
  }

  void start(void* operation) { open_.push_back({operation, blocks_.size() - 1}); }

  void send(const Message& message, size_t number) {
    std::byte* const data = block(message.bytes, -1, message.is_in_memory);
    for (int64_t i = 0; i < message.bytes; ++i) data[i] = content(number, i);
    start(transport_.send(transport_.context, message.to, message.tag, data, message.bytes));
  }

  void receive(int from, int tag, size_t number, int64_t bytes) {
    std::byte* const data = block(bytes, static_cast<int>(number), own_random_() % 2 == 0);
    start(transport_.receive(transport_.context, from, tag, data, bytes));
  }

  // Messages of one tag can be found in another order than they were sent if one of them is large.
  bool find(const Message& message) {
    while (true) {
      const int64_t bytes = transport_.probe(transport_.context, message.from, message.tag);
      if (bytes < -1) return fail("probe");
      if (bytes >= 0) {
        receive(message.from, message.tag, kAnyMessage, bytes);
        return true;
      }
      if (!test()) return false;
    }
  }

  // The messages with the tag of the receives are sent later.
  bool receive_nothing() {
    for (int from = 0; from < transport_.ranks; ++from)
      for (const int64_t bytes : kBarrierBytes)
        if (from != transport_.rank)
          transport_.cancel(
              transport_.context,
              transport_.receive(transport_.context, from, kTags + 1, received_.data(), bytes));
    return barrier(kTags + 2) && barrier(kTags + 1);
  }

  bool test() {
    bool is_ok = true;
    std::erase_if(open_, [&](const Open& each) {
      if (!is_ok || each.operation == nullptr) {
        is_ok = false;
        return false;
      }
      const int state = transport_.test(transport_.context, each.operation);
      is_ok = state != SCOPEVM_TRANSPORT_FAILED;
      return state != SCOPEVM_TRANSPORT_PENDING;
    });
    return is_ok || fail("test");
  }

  // The bytes of a block are those of a message to this rank; of one that a probe has found, any of
  // its size that was not received yet.
  bool check(const std::vector<Message>& messages) {
    std::vector<bool> is_received(messages.size());
    const auto equals = [](const Block& block, size_t number) {
      for (int64_t i = 0; i < block.bytes; ++i)
        if (block.data[i] != content(number, i)) return false;
      return true;
    };
    for (const Block& block : blocks_) {
      if (block.message < 0) continue;
      const auto is_match = [&](size_t i) {
        return messages[i].to == transport_.rank && messages[i].bytes == block.bytes &&
               !is_received[i] && equals(block, i);
      };
      size_t i = 0;
      if (block.message != kAnyMessage) i = static_cast<size_t>(block.message);
      while (block.message == kAnyMessage && i < messages.size() &&
             !(messages[i].is_probed && is_match(i)))
        ++i;
      if (i == messages.size() || !is_match(i)) return fail("unequal bytes");
      is_received[i] = true;
    }
    for (const Block& block : blocks_)
      if (block.is_in_memory)
        transport_.deallocate(transport_.context, block.data, block.bytes);
      else
        std::free(block.data);
    blocks_.clear();
    return true;
  }

  // The next round begins after this one, so that its messages are not found by probes of this one.
  bool barrier(int tag) {
    std::array<std::byte, kBarrierBytes.back()> bytes = {};
    std::vector<void*> started;
    for (int other = 0; other < transport_.ranks; ++other)
      for (const int64_t size : kBarrierBytes)
        if (other != transport_.rank)
          started.push_back(transport_.send(transport_.context, other, tag, bytes.data(), size));
    for (int other = 0; other < transport_.ranks; ++other)
      for (const int64_t size : kBarrierBytes)
        if (other != transport_.rank)
          started.push_back(
              transport_.receive(transport_.context, other, tag, received_.data(), size));
    bool is_ok = !std::ranges::count(started, nullptr);
    while (is_ok && !started.empty())
      std::erase_if(started, [&](void* operation) {
        if (!is_ok) return false;
        const int state = transport_.test(transport_.context, operation);
        is_ok = state != SCOPEVM_TRANSPORT_FAILED;
        return state != SCOPEVM_TRANSPORT_PENDING;
      });
    return is_ok || fail("barrier");
  }

  static constexpr std::array<int64_t, 2> kBarrierBytes = {8, 20000};
  static constexpr int kAnyMessage = 1 << 20;
  const scopevm_transport& transport_;
  std::mt19937 random_, own_random_;
  std::vector<Open> open_;
  std::vector<Block> blocks_;
  std::array<std::byte, kBarrierBytes.back()> received_;
  int64_t in_memory_ = 0;
};

int run(int rounds, unsigned seed) {
  const Result<Transport> transport = Transport::load("mpi");
  if (!transport.ok()) {
    std::fprintf(stderr, "%s\n", std::string(transport.status().message()).c_str());
    return 1;
  }
  Ranks ranks(*transport->get(), seed);
  for (int i = 0; i < rounds; ++i)
    if (!ranks.round()) std::_Exit(1);  // the others notice
  if (transport->get()->rank == 0)
    std::printf("%d rounds, %lld blocks of the transport\n", rounds,
                static_cast<long long>(ranks.in_memory()));
  return 0;
}

}  // namespace
}  // namespace scopevm

int main(int count, char** arguments) {
  if (count != 3) {
    std::fprintf(stderr, "usage: mpirun -n 3 mpi_messages ROUNDS SEED\n");
    return 1;
  }
  return scopevm::run(std::atoi(arguments[1]), static_cast<unsigned>(std::atoi(arguments[2])));
}
