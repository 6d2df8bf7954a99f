// CallState: the implementation of State. It ties inputs of a module to outputs. A pair with equal
// dims has two buffers, which a successful call swaps. If the dims can differ, as those of caches
// that grow, the result of a successful call becomes the value.
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

  // Begins the use by a request: sets its tied inputs to the values, and the outputs of pairs with
  // two buffers to the other ones. Does not allocate. Errors: kInvalidArgument (the state is in
  // use, or the request sets a tied input or output).
  Status attach(Request& request);
  // Ends the use: unsets these inputs and outputs. If the call succeeded, its results become the
  // values.
  void detach(Request& request, bool has_succeeded);

  // The bytes of a pool of the session that the scheduler holds for the state. REQUIRES: a request
  // uses the state.
  int64_t held_bytes(uint32_t pool) const;

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
    bool has_one_size = true;  // else, results replace the value, buffers[0]
    // Read-only tensors, because results share them, and forks share values that are replaced.
    std::array<Tensor, 2> buffers;
    Tensor initial;  // empty: zeros
  };
  // The use of the state by a function, until its destruction.
  class Use;

  explicit CallState(std::shared_ptr<BoundSession> session) : session_(std::move(session)) {}
  Status add(const StatePair& given, const std::map<std::string, int64_t>& dims);
  // Checks that calls do not change a dimension that has one size in another pair.
  Status check_changed_dims() const;
  // Checks that the pair can be tied, and sets has_one_size.
  Status check_pair(const StatePair& given, Pair& pair) const;
  // A tensor for a value of this type, read-only: a new one, or the current one of a pair with one
  // size. Errors: kInvalidArgument (the pair cannot have such a value), and those of allocate().
  Result<Tensor> room_for(const Pair& pair, DType dtype, std::span<const int64_t> dims) const;
  // Allocates a tensor in the pool of an input.
  Result<Tensor> allocate(size_t input, std::span<const int64_t> dims) const;
  Result<Pair*> find(std::string_view input);
  size_t current_index(const Pair& pair) const { return pair.has_one_size ? current_ : 0; }
  const Tensor& current(const Pair& pair) const { return pair.buffers[current_index(pair)]; }
  // Whether the axis of the pair has the same value in the input and the output.
  bool is_equal_axis(const Pair& pair, size_t axis) const;
  // "h=hn".
  std::string name_of(const Pair& pair) const;

  const std::shared_ptr<BoundSession> session_;
  std::atomic<bool> is_used_{false};
  std::vector<Pair> pairs_;  // constant after the creation, except for the elements of buffers
  // The members below are written during a use only.
  size_t current_ = 0;  // index in the buffers of pairs with one size
  std::atomic<int64_t> steps_{0};
};

}  // namespace scopevm::vm
