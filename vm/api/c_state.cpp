// The functions of the C API for states (scopevm/c/state.h).
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/tensor/dlpack_type.h"
#include "runtime/tensor/tensor_access.h"
#include "scopevm/scopevm.h"
#include "vm/api/c_support.h"
#include "vm/api/call/call_handle.h"
#include "vm/run/call/state/call_state.h"

namespace scopevm {
namespace {

// A tensor that borrows the caller's bytes, or has a copy of elements with strides.
Result<Tensor> read_value(const DLTensor& given) {
  int64_t copied = 0;
  return runtime::read_dlpack(given, &copied);
}

Result<StateOptions> to_cpp(const scopevm_state_options* given) {
  SCOPEVM_ASSIGN_OR_RETURN(const scopevm_state_options c,
                           read_options(given, SCOPEVM_SIZE_UP_TO(scopevm_state_options, dim_count),
                                        "scopevm_state_options"));
  StateOptions out;
  SCOPEVM_ASSIGN_OR_RETURN(
      const auto pairs,
      read_array(c.pairs, c.pair_count, c.pair_size,
                 SCOPEVM_SIZE_UP_TO(scopevm_state_pair, initial), "pair_size", "pairs"));
  for (const scopevm_state_pair& pair : pairs) {
    SCOPEVM_ASSIGN_OR_RETURN(const std::string_view input,
                             to_text(pair.input, "the input of a pair"));
    SCOPEVM_ASSIGN_OR_RETURN(const std::string_view output,
                             to_text(pair.output, "the output of a pair"));
    if (pair.initial != nullptr && pair.initial_tensor != nullptr)
      return Status(StatusCode::kInvalidArgument,
                    "a pair has two initial values: initial and initial_tensor");
    Tensor initial;
    if (pair.initial != nullptr) {
      SCOPEVM_ASSIGN_OR_RETURN(initial, read_value(*pair.initial));
    } else if (pair.initial_tensor != nullptr) {
      initial = TensorAccess::of(*pair.initial_tensor);
    }
    out.pairs.push_back({std::string(input), std::string(output), std::move(initial)});
  }
  SCOPEVM_RETURN_IF_ERROR(check_array(c.dim_names, c.dim_count, "dim_names"));
  SCOPEVM_RETURN_IF_ERROR(check_array(c.dim_values, c.dim_count, "dim_values"));
  SCOPEVM_ASSIGN_OR_RETURN(out.dims, to_dims(c.dim_names, c.dim_values, c.dim_count));
  return out;
}

}  // namespace
}  // namespace scopevm

using scopevm::checked;
using scopevm::Status;

scopevm_status* scopevm_state_create(const scopevm_session* session,
                                     const scopevm_state_options* options, scopevm_state** out) {
  return checked({{session, "session"}, {options, "options"}, {out, "out"}}, [&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(scopevm::StateOptions converted, scopevm::to_cpp(options));
    auto handle = std::make_unique<scopevm_state>();
    SCOPEVM_ASSIGN_OR_RETURN(handle->state,
                             scopevm::vm::CallState::create(session->bound, std::move(converted)));
    *out = handle.release();
    return {};
  });
}

void scopevm_state_free(scopevm_state* state) { delete state; }

scopevm_status* scopevm_call_set_state(scopevm_call* call, const scopevm_state* state) {
  return checked({{call, "call"}}, [&]() -> Status {
    SCOPEVM_RETURN_IF_ERROR(call->request->check_idle());
    if (state != nullptr && state->state->session() != call->request->session)
      return {scopevm::StatusCode::kInvalidArgument,
              "the state is of another session than the call"};
    call->request->state = state == nullptr ? nullptr : state->state;
    return {};
  });
}

scopevm_status* scopevm_state_value(const scopevm_state* state, const char* input,
                                    DLManagedTensorVersioned** out) {
  return checked({{state, "state"}, {input, "input"}, {out, "out"}}, [&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(const scopevm::Tensor value, state->state->value(input));
    SCOPEVM_ASSIGN_OR_RETURN(*out, value.to_dlpack_versioned());
    return {};
  });
}

scopevm_status* scopevm_state_set_value(scopevm_state* state, const char* input,
                                        const DLTensor* tensor) {
  return checked({{state, "state"}, {input, "input"}, {tensor, "tensor"}}, [&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(const scopevm::Tensor value, scopevm::read_value(*tensor));
    return state->state->set_value(input, value);
  });
}

scopevm_status* scopevm_state_read(const scopevm_state* state, const char* input,
                                   scopevm_tensor* out) {
  return checked({{state, "state"}, {input, "input"}, {out, "out"}}, [&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(scopevm::Tensor value, state->state->value(input));
    *out = scopevm::TensorAccess::release(std::move(value));
    return {};
  });
}

scopevm_status* scopevm_state_write(scopevm_state* state, const char* input,
                                    const scopevm_tensor* tensor) {
  return checked({{state, "state"}, {input, "input"}, {tensor, "tensor"}}, [&] {
    return state->state->set_value(input, scopevm::TensorAccess::of(*tensor));
  });
}

scopevm_status* scopevm_state_reset(scopevm_state* state) {
  return checked({{state, "state"}}, [&] { return state->state->reset(); });
}

scopevm_status* scopevm_state_fork(const scopevm_state* state, scopevm_state** out) {
  return checked({{state, "state"}, {out, "out"}}, [&]() -> Status {
    auto handle = std::make_unique<scopevm_state>();
    SCOPEVM_ASSIGN_OR_RETURN(handle->state, state->state->fork());
    *out = handle.release();
    return {};
  });
}

scopevm_status* scopevm_state_snapshot(const scopevm_state* state, void* data, size_t capacity,
                                       size_t* out_size) {
  return checked({{state, "state"}, {out_size, "out_size"}}, [&]() -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(const std::vector<uint8_t> bytes, state->state->snapshot());
    if (data != nullptr && capacity < bytes.size())
      return {scopevm::StatusCode::kInvalidArgument, "capacity is " + std::to_string(capacity) +
                                                         ", expected at least " +
                                                         std::to_string(bytes.size())};
    if (data != nullptr) std::memcpy(data, bytes.data(), bytes.size());
    *out_size = bytes.size();
    return {};
  });
}

scopevm_status* scopevm_state_restore(scopevm_state* state, const void* data, size_t size) {
  return checked({{state, "state"}, {data, "data"}},
                 [&] { return state->state->restore({static_cast<const uint8_t*>(data), size}); });
}

int64_t scopevm_state_steps(const scopevm_state* state) {
  return state == nullptr ? 0 : state->state->steps();
}
