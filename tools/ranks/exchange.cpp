// See exchange.h.
#include "tools/ranks/exchange.h"

#include <chrono>
#include <thread>

namespace scopevm::tool {
namespace {

// Sessions use other tags.
constexpr int kTag = 0;

}  // namespace

void Exchange::fail() {
  status_ = Status(StatusCode::kDevice, transport_.error(transport_.context));
}

template <typename Start>
void Exchange::wait(const Start& start) {
  if (!status_.ok()) return;
  void* const operation = start();
  int state = operation == nullptr ? SCOPEVM_TRANSPORT_FAILED : SCOPEVM_TRANSPORT_PENDING;
  while (state == SCOPEVM_TRANSPORT_PENDING) state = transport_.test(transport_.context, operation);
  if (state == SCOPEVM_TRANSPORT_FAILED) fail();
}

void Exchange::send(int to, const std::vector<char>& bytes) {
  wait([&] {
    return transport_.send(transport_.context, to, kTag, bytes.data(),
                           static_cast<int64_t>(bytes.size()));
  });
}

void Exchange::receive(int from, std::vector<char>& bytes) {
  wait([&] {
    return transport_.receive(transport_.context, from, kTag, bytes.data(),
                              static_cast<int64_t>(bytes.size()));
  });
}

void Exchange::send_text(int to, const std::string& text) {
  std::vector<char> bytes(text.begin(), text.end());
  bytes.push_back(0);  // a message is not empty
  send(to, bytes);
}

int64_t Exchange::wait_for_message(int from,
                                   std::optional<std::chrono::steady_clock::time_point> last) {
  constexpr int64_t kNone = -1;
  while (status_.ok()) {
    const int64_t bytes = transport_.probe(transport_.context, from, kTag);
    if (bytes >= 0) return bytes;
    if (bytes < kNone)
      fail();
    else if (last && std::chrono::steady_clock::now() > *last)
      break;
    else
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return kNone;
}

bool Exchange::has_message_before(int from, std::chrono::steady_clock::time_point last) {
  return wait_for_message(from, last) >= 0;
}

std::string Exchange::receive_text(int from) {
  const int64_t bytes = wait_for_message(from, std::nullopt);
  if (bytes < 0) return {};
  std::vector<char> text(static_cast<size_t>(bytes));
  receive(from, text);
  if (!status_.ok()) return {};
  return {text.begin(), text.end() - 1};
}

}  // namespace scopevm::tool
