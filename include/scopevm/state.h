/// @file
/// State: values that a module carries from one call to the next, such as the hidden state of an
/// LSTM. A state ties inputs of the module to outputs:
///
///     auto state = State::create(*session, {.pairs = {{"h", "hn"}, {"c", "cn"}}});
///     call->set_state(*state);
///     call->set_input("x", chunk);
///     call->run();  // reads h and c of the state, and replaces them
///
/// A pair whose input and output have the same dims has two buffers. A call reads one and writes
/// the other, and they are swapped if the call succeeds. The buffers are allocated once, so that a
/// call allocates no memory for them.
///
/// The value of any other pair changes its size, such as a cache of keys:
///
///     auto state = State::create(*session, {.pairs = {{"past_key", "present_key"}}});
///
/// If a call succeeds, its result becomes the value, and the former value is released. Results that
/// are an input, a constant or another result are copied. Forks share such a value.
///
/// A module that was compiled with states (CompileOptions::states) has a third kind of pairs, with
/// one buffer each: a call writes the new elements into the buffer. Forks copy it.
///
/// A call that fails, is cancelled or passes its deadline changes no pair.
///
/// In a job of several ranks (docs/ranks.md), such a buffer can be in memory of another rank. The
/// functions of State then also return the errors of that rank.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scopevm/c/state.h"
#include "scopevm/session.h"
#include "scopevm/status.h"
#include "scopevm/tensor.h"

namespace scopevm {

/// An input and an output of a module that a state ties: the output of a call is the input of the
/// next one. Both are tensors with the same element type and rank. Where their dims in the
/// signature differ, that of the input is a named dimension.
struct StatePair {
  std::string input;   ///< name of the input
  std::string output;  ///< name of the output
  /// The value before the first call, which is copied; an empty tensor: the default of the input,
  /// or zeros.
  Tensor initial = {};
};

/// The options of State::create().
struct StateOptions {
  /// Names are unique. The pairs that the module declares (TensorSignature::state_output) are added
  /// if there are none, or if one of them is given. At least one in total.
  std::vector<StatePair> pairs;
  /// Values of the dimensions in the dims of the inputs, such as the batch size. Initial values
  /// determine their dims, too. A dim whose size calls change is 0 by default, if the signature
  /// permits it. A call with other values of the other dims fails.
  std::map<std::string, int64_t> dims;
};

/// A handle with shared ownership; copies refer to the same state. A state keeps its session alive.
/// Its memory counts in Session::memory_stats(), in the memory limits of the session and as held
/// memory in the scheduler. Thread-safety: one call or function at a time; others fail with
/// kInvalidArgument. A submitted call uses the state until it has ended.
class State {
 public:
  /// Allocates a state with the initial values. Errors:
  /// - kNotFound: the module has no such input or output
  /// - kInvalidArgument: no pairs, a name occurs twice, an input or output is not a tensor of
  ///   numbers, their element types or ranks differ, their dims differ where that of the input is
  ///   not a named dimension, calls change a dimension that has one size in another pair, a dim has
  ///   no value, or an initial value has another type
  /// - kResourceLimit: a limit of the session, or the capacity of a pool of the scheduler
  /// - kOutOfMemory, kDevice: as for a call
  static Result<State> create(const Session& session, const StateOptions& options);

  /// A copy of the current value of an input. Errors: kNotFound (the state has no such input),
  /// kInvalidArgument (in use), kOutOfMemory.
  Result<Tensor> value(std::string_view input) const;
  /// Replaces the current value of an input by a copy of `tensor`. Errors: those of value(), and
  /// kInvalidArgument if the type differs in more than the dims that calls change. A value whose
  /// size calls change is allocated before the former one is released: also the errors of create()
  /// for memory.
  Status set_value(std::string_view input, const Tensor& tensor);
  /// Replaces all values by the initial ones, and steps() by 0. Errors: kInvalidArgument (in use).
  Status reset();
  /// A new state of the same session with the same values. Calls change them independently. Errors:
  /// kInvalidArgument (in use), and those of create() for memory.
  Result<State> fork() const;
  /// The values as the bytes of a file, in the format of docs/state.md. Errors: kInvalidArgument
  /// (in use), kOutOfMemory.
  Result<std::vector<uint8_t>> snapshot() const;
  /// Replaces the values by those of a snapshot. If it fails, the state is unchanged. Errors:
  /// - kInvalidArgument: the bytes are not a snapshot or are damaged, or the state is in use; the
  ///   snapshot is of another module, of other pairs or of other dims
  /// - kUnsupported: the snapshot has another version
  /// - those of create() for memory, if calls change the size of a value
  Status restore(std::span<const uint8_t> snapshot);
  /// The number of calls that have changed the state since its creation or reset(). A snapshot and
  /// a fork contain it.
  int64_t steps() const;

  /// The state of a handle of the C API, of which it takes ownership. Throws std::bad_alloc, and
  /// then releases the handle.
  static State adopt(scopevm_state* handle) {
    return State(std::shared_ptr<scopevm_state>(handle, scopevm_state_free));
  }
  /// The handle in the C API. Valid as long as a copy of this object.
  const scopevm_state* c_state() const { return handle_.get(); }

 private:
  explicit State(std::shared_ptr<scopevm_state> handle) : handle_(std::move(handle)) {}
  std::shared_ptr<scopevm_state> handle_;
};

}  // namespace scopevm

#include "scopevm/layer/state.h"  // IWYU pragma: export
