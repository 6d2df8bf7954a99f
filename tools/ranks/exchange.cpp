// See exchange.h.
#include "tools/ranks/exchange.h"

#include <chrono>
#include <thread>

namespace scopevm::tool {
namespace {

// Sessions use other tags.
constexpr int kTag = 3;

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

std::string Exchange::receive_text(int from) {
  constexpr int kNone = -1;
  int64_t size = kNone;
  while (status_.ok() && size < 0) {
    size = transport_.probe(transport_.context, from, kTag);
    if (size == kNone) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (size < kNone) fail();
  }
  if (!status_.ok()) return {};
  std::vector<char> bytes(static_cast<size_t>(size));
  receive(from, bytes);
  if (!status_.ok()) return {};
  return {bytes.begin(), bytes.end() - 1};
}

}  // namespace scopevm::tool
