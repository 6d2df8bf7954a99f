// See emulated_links.h.
#include "tools/ranks/emulated_links.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "runtime/quoted.h"

namespace scopevm::tool {
namespace {

// Added to the tag of a message: that of the message with its start.
constexpr int kStart = 1 << 14;

bool parse_positive(std::string_view text, double& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number >= 0;
}

}  // namespace

Result<EmulatedLink> parse_link(const std::string& text) {
  EmulatedLink link;
  const size_t colon = text.find(':');
  const std::string_view all = text;
  if (colon != std::string::npos && parse_positive(all.substr(0, colon), link.bytes_per_second) &&
      link.bytes_per_second >= 1000 &&
      parse_positive(all.substr(colon + 1), link.latency_seconds) && link.latency_seconds <= 1)
    return link;
  return Status(StatusCode::kInvalidArgument,
                "--emulate-links " + runtime::quoted(text) +
                    ": expected BYTES_PER_SECOND:SECONDS, such as 1e9:5e-6, with at least 1000 "
                    "bytes per second and at most 1 second");
}

EmulatedLinks::EmulatedLinks(const scopevm_transport& inner, EmulatedLink link)
    : inner_(inner), link_(link), c_(), free_(static_cast<size_t>(inner.ranks)) {
  static constexpr auto self = [](void* context) -> EmulatedLinks& {
    return *static_cast<EmulatedLinks*>(context);
  };
  c_.struct_size = sizeof c_;  // without memory of its own
  c_.abi_version = inner.abi_version;
  c_.context = this;
  c_.rank = inner.rank;
  c_.ranks = inner.ranks;
  c_.send = [](void* context, int to, int tag, const void* data, int64_t bytes) {
    return self(context).begin(to, tag, const_cast<void*>(data), bytes, false);
  };
  c_.receive = [](void* context, int from, int tag, void* data, int64_t bytes) {
    return self(context).begin(from, tag, data, bytes, true);
  };
  c_.test = [](void* context, void* operation) {
    auto* const tested = static_cast<Operation*>(operation);
    const int state = self(context).test(*tested);
    if (state != SCOPEVM_TRANSPORT_PENDING) delete tested;
    return state;
  };
  c_.cancel = [](void* context, void* operation) {
    const std::unique_ptr<Operation> cancelled(static_cast<Operation*>(operation));
    self(context).cancel(*cancelled);
  };
  c_.probe = [](void* context, int from, int tag) {
    const scopevm_transport& inner = self(context).inner_;
    return inner.probe(inner.context, from, tag);
  };
  c_.error = [](void* context) {
    const scopevm_transport& inner = self(context).inner_;
    return inner.error(inner.context);
  };
}

void* EmulatedLinks::begin(int peer, int tag, void* data, int64_t bytes, bool is_receive) {
  auto operation = std::make_unique<Operation>();
  operation->bytes = bytes;
  const int64_t size = sizeof operation->started_ns;
  if (is_receive) {
    operation->from = peer;
    operation->start =
        inner_.receive(inner_.context, peer, tag + kStart, &operation->started_ns, size);
    operation->message = inner_.receive(inner_.context, peer, tag, data, bytes);
  } else {
    operation->started_ns = std::chrono::nanoseconds(Clock::now().time_since_epoch()).count();
    operation->start =
        inner_.send(inner_.context, peer, tag + kStart, &operation->started_ns, size);
    operation->message = inner_.send(inner_.context, peer, tag, data, bytes);
  }
  if (operation->start != nullptr && operation->message != nullptr) return operation.release();
  cancel(*operation);
  return nullptr;
}

int EmulatedLinks::end(void*& part) {
  if (part == nullptr) return SCOPEVM_TRANSPORT_DONE;
  const int state = inner_.test(inner_.context, part);
  if (state != SCOPEVM_TRANSPORT_PENDING) part = nullptr;
  return state;
}

int EmulatedLinks::test(Operation& operation) {
  const bool has_arrived = operation.start == nullptr && operation.message == nullptr;
  for (void** const part : {&operation.start, &operation.message})
    if (const int state = end(*part); state != SCOPEVM_TRANSPORT_DONE) {
      if (state == SCOPEVM_TRANSPORT_FAILED) cancel(operation);
      return state;
    }
  if (operation.from < 0) return SCOPEVM_TRANSPORT_DONE;
  if (!has_arrived) operation.arrival = arrival_of(operation);
  return Clock::now() < operation.arrival ? SCOPEVM_TRANSPORT_PENDING : SCOPEVM_TRANSPORT_DONE;
}

EmulatedLinks::Clock::time_point EmulatedLinks::arrival_of(const Operation& received) {
  const auto time_of = [](double seconds) {
    return std::chrono::ceil<Clock::duration>(std::chrono::duration<double>(seconds));
  };
  Clock::time_point& free = free_[static_cast<size_t>(received.from)];
  const Clock::time_point started{std::chrono::nanoseconds(received.started_ns)};
  free = std::max(free, started) +
         time_of(static_cast<double>(received.bytes) / link_.bytes_per_second);
  return free + time_of(link_.latency_seconds);
}

void EmulatedLinks::cancel(const Operation& operation) {
  for (void* const part : {operation.start, operation.message})
    if (part != nullptr) inner_.cancel(inner_.context, part);
}

}  // namespace scopevm::tool
