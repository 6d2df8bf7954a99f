// CallState: the implementation of State. It ties inputs of a module to outputs. A pair with equal
// dims has two buffers, which a successful call swaps, or one buffer if the module can change it in
// place. If the dims can differ, as those of caches that grow, the result of a successful call
// becomes the value.
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
class LoadedModule;
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
    uint32_t changed_axes = 0;  // bit i: calls can change the size of axis i
    bool changes(size_t axis) const { return (changed_axes >> axis & 1) != 0; }
    // Otherwise, results replace the value, buffers[0].
    bool has_one_size() const { return changed_axes == 0; }
    // The input and the output are buffers[0].
    bool is_in_place = false;
    // Read-only tensors, because results share them, and forks share values that are replaced.
    std::array<Tensor, 2> buffers;
    Tensor initial;  // empty: zeros
  };
  // The use of the state by a function, until its destruction.
  class Use;

  explicit CallState(std::shared_ptr<BoundSession> session) : session_(std::move(session)) {}
  // Adds a pair without values.
  Status tie(const StatePair& given);
  // The given pairs, and those that the module declares: see StateOptions::pairs.
  static std::vector<StatePair> with_declared(const LoadedModule& module,
                                              std::vector<StatePair> given);
  // Checks that the pair can be tied, and sets changed_axes.
  Status check_pair(const StatePair& given, Pair& pair) const;
  // Checks that calls do not change a dimension that has one size in another pair.
  Status check_changed_dims() const;
  // Sets the dimensions that calls change, and that have no value, to 0 where that is permitted.
  void start_at_zero(std::map<std::string, int64_t>& dims) const;
  // Allocates the values of a pair for these dims.
  Status set_first_value(Pair& pair, const Tensor& initial,
                         const std::map<std::string, int64_t>& dims) const;
  // The tensor to store a value of this type in: the current one of a pair with one size, otherwise
  // a new one. Errors: kInvalidArgument (the pair cannot have such a value), those of allocate().
  Result<Tensor> tensor_for(const Pair& pair, DType dtype, std::span<const int64_t> dims) const;
  // Allocates a tensor in the pool of an input.
  Result<Tensor> allocate(size_t input, std::span<const int64_t> dims) const;
  Result<Pair*> find(std::string_view input);
  size_t current_index(const Pair& pair) const { return has_two_buffers(pair) ? current_ : 0; }
  size_t next_index(const Pair& pair) const { return has_two_buffers(pair) ? 1 - current_ : 0; }
  static bool has_two_buffers(const Pair& pair) { return pair.has_one_size() && !pair.is_in_place; }
  const Tensor& current(const Pair& pair) const { return pair.buffers[current_index(pair)]; }
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
