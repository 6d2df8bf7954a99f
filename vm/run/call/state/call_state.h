// CallState: the implementation of State. It ties inputs of a module to outputs, with two buffers
// for each pair, which a successful call swaps.
//   call_state.cpp   creation, values, and the use by calls
//   snapshot.cpp     values <-> the bytes of a file
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scopevm/state.h"
#include "scopevm/status.h"
#include "scopevm/tensor.h"

namespace scopevm::vm {

class BoundSession;
class Request;

class CallState {
 public:
  // State::create().
  static Result<std::shared_ptr<CallState>> create(std::shared_ptr<BoundSession> session,
                                                   StateOptions options);
  CallState(const CallState&) = delete;
  CallState& operator=(const CallState&) = delete;

  const std::shared_ptr<BoundSession>& session() const { return session_; }

  // Begins the use by a request: sets its tied inputs to the values, and its tied outputs to the
  // other buffers. Does not allocate. Errors: kInvalidArgument (the state is in use, or the request
  // sets a tied input or output).
  Status attach(Request& request);
  // Ends the use: unsets these inputs and outputs, and swaps the buffers if `is_swapped`.
  void detach(Request& request, bool is_swapped);

  // The functions of State.
  Result<Tensor> value(std::string_view input);
  Status set_value(std::string_view input, const Tensor& tensor);
  Status reset();
  Result<std::shared_ptr<CallState>> fork();
  Result<std::vector<uint8_t>> snapshot();
  Status restore(std::span<const uint8_t> snapshot);
  int64_t steps() const { return steps_.load(std::memory_order_relaxed); }

 private:
  struct Pair {
    size_t input = 0;  // index in the signature
    size_t output = 0;
    std::array<Tensor, 2> buffers;  // read-only tensors, because results share them
    Tensor initial;                 // empty: zeros
  };
  // The use of the state by a function, until its destruction.
  class Use;

  explicit CallState(std::shared_ptr<BoundSession> session) : session_(std::move(session)) {}
  Status add(const StatePair& given, const std::map<std::string, int64_t>& dims);
  Status check_pair(const StatePair& given, const Pair& pair) const;
  // Checks that the pair can have a value of this type. Errors: kInvalidArgument.
  Status check_value(const Pair& pair, DType dtype, std::span<const int64_t> dims) const;
  // Allocates a tensor in the pool of an input.
  Result<Tensor> allocate(size_t input, std::span<const int64_t> dims) const;
  Result<Pair*> find(std::string_view input);
  const Tensor& current(const Pair& pair) const { return pair.buffers[current_]; }
  // "h=hn".
  std::string name_of(const Pair& pair) const;

  const std::shared_ptr<BoundSession> session_;
  std::atomic<bool> is_used_{false};
  std::vector<Pair> pairs_;  // constant after the creation, except for the elements of buffers
  // The members below are written during a use only.
  size_t current_ = 0;  // index in Pair::buffers
  std::atomic<int64_t> steps_{0};
};

}  // namespace scopevm::vm
