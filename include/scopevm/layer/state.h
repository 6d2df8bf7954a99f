// The functions of State (scopevm/state.h), by those of scopevm/c/state.h.
#pragma once

#include <string>
#include <vector>

#include "scopevm/layer/module.h"
#include "scopevm/layer/status.h"
#include "scopevm/state.h"

namespace scopevm {

inline Result<State> State::create(const Session& session, const StateOptions& options) {
  return layer::guarded([&]() -> Result<State> {
    const layer::DimArrays dims(options.dims);
    std::vector<scopevm_state_pair> pairs;
    for (const StatePair& pair : options.pairs)
      pairs.push_back({pair.input.c_str(), pair.output.c_str(), nullptr, pair.initial.c_tensor()});
    scopevm_state_options c{};
    c.struct_size = sizeof c;
    c.pairs = pairs.data();
    c.pair_count = pairs.size();
    c.pair_size = sizeof(scopevm_state_pair);
    c.dim_names = dims.names.data();
    c.dim_values = dims.values.data();
    c.dim_count = dims.names.size();
    scopevm_state* handle = nullptr;
    SCOPEVM_RETURN_IF_ERROR(layer::take(scopevm_state_create(session.c_session(), &c, &handle)));
    return adopt(handle);
  });
}

inline Result<Tensor> State::value(std::string_view input) const {
  return layer::guarded([&]() -> Result<Tensor> {
    scopevm_tensor tensor{};
    SCOPEVM_RETURN_IF_ERROR(
        layer::take(scopevm_state_read(c_state(), std::string(input).c_str(), &tensor)));
    return Tensor::take(tensor);
  });
}

inline Status State::set_value(std::string_view input, const Tensor& tensor) {
  return layer::guarded([&] {
    return layer::take(
        scopevm_state_write(handle_.get(), std::string(input).c_str(), tensor.c_tensor()));
  });
}

inline Status State::reset() { return layer::take(scopevm_state_reset(handle_.get())); }

inline Result<State> State::fork() const {
  return layer::guarded([&]() -> Result<State> {
    scopevm_state* handle = nullptr;
    SCOPEVM_RETURN_IF_ERROR(layer::take(scopevm_state_fork(c_state(), &handle)));
    return adopt(handle);
  });
}

inline Result<std::vector<uint8_t>> State::snapshot() const {
  return layer::guarded([&]() -> Result<std::vector<uint8_t>> {
    size_t size = 0;
    SCOPEVM_RETURN_IF_ERROR(layer::take(scopevm_state_snapshot(c_state(), nullptr, 0, &size)));
    std::vector<uint8_t> bytes(size);
    SCOPEVM_RETURN_IF_ERROR(
        layer::take(scopevm_state_snapshot(c_state(), bytes.data(), bytes.size(), &size)));
    return bytes;
  });
}

inline Status State::restore(std::span<const uint8_t> snapshot) {
  static constexpr uint8_t kNothing = 0;
  const void* const data = snapshot.empty() ? &kNothing : snapshot.data();
  return layer::take(scopevm_state_restore(handle_.get(), data, snapshot.size()));
}

inline int64_t State::steps() const { return scopevm_state_steps(c_state()); }

inline Status Call::set_state(const State& state) {
  return layer::take(scopevm_call_set_state(handle_, state.c_state()));
}

}  // namespace scopevm
