// The state of a run as an object of C++, and hooks of C++ as functions of the C API
// (scopevm/execution_hook.h, scopevm/c/execution.h).
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "scopevm/c/execution.h"
#include "scopevm/execution_hook.h"
#include "scopevm/layer/status.h"

namespace scopevm::layer {

class CExecutionState final : public ExecutionState {
 public:
  explicit CExecutionState(const scopevm_execution_state* state) : state_(state) {}

  int64_t position() const override { return scopevm_execution_position(state_); }
  InstructionPlace next() const override {
    InstructionPlace place;
    scopevm_status_free(scopevm_execution_next(state_, &place.function, &place.word));
    return place;
  }
  size_t depth() const override { return scopevm_execution_depth(state_); }
  InstructionPlace return_place(size_t level) const override {
    InstructionPlace place;
    scopevm_status_free(
        scopevm_execution_return_place(state_, level, &place.function, &place.word));
    return place;
  }
  RegisterValue register_value(uint32_t index) const override {
    scopevm_register_value c{};
    c.struct_size = sizeof c;
    scopevm_status_free(scopevm_execution_register(state_, index, &c));
    return {c.data, c.bytes, static_cast<DType>(c.dtype), {c.dims, c.rank}, c.pool, c.is_list != 0};
  }
  int64_t slot(uint32_t index) const override {
    int64_t value = 0;
    scopevm_status_free(scopevm_execution_slot(state_, index, &value));
    return value;
  }
  Status read(const RegisterValue& value, int64_t offset, std::span<std::byte> to) const override {
    const scopevm_register_value c = {
        sizeof c,          value.data,        value.bytes, static_cast<int>(value.dtype),
        value.dims.size(), value.dims.data(), value.pool,  value.is_list ? 1 : 0};
    return take(scopevm_execution_read(state_, &c, offset, to.data(), to.size()));
  }
  std::optional<std::string_view> string(int32_t element) const override {
    const char* text = nullptr;
    size_t size = 0;
    scopevm_status_free(scopevm_execution_string(state_, element, &text, &size));
    if (text == nullptr) return std::nullopt;
    return std::string_view(text, size);
  }

 private:
  const scopevm_execution_state* const state_;
};

// The function of the C API for an ExecutionHook, which is the context.
inline scopevm_status* call_hook(void* context, const scopevm_execution_state* state) noexcept {
  return give(guarded([&]() -> Status {
    if (static_cast<ExecutionHook*>(context)->at(CExecutionState(state))) return {};
    return {StatusCode::kCancelled, "the execution hook has stopped the call"};
  }));
}

}  // namespace scopevm::layer
