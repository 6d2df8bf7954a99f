// The functions of the C API for execution hooks (scopevm/c/execution.h).
#include <cstddef>
#include <span>
#include <string_view>

#include "scopevm/execution_hook.h"
#include "scopevm/scopevm.h"
#include "vm/api/c_support.h"

namespace scopevm {
namespace {

// A state of the C API is an ExecutionState.
const ExecutionState& of(const scopevm_execution_state* state) {
  return *reinterpret_cast<const ExecutionState*>(state);
}

Status give_place(InstructionPlace place, uint32_t* out_function, uint32_t* out_word) {
  *out_function = place.function;
  *out_word = place.word;
  return {};
}

}  // namespace
}  // namespace scopevm

using scopevm::checked;
using scopevm::Status;

int64_t scopevm_execution_position(const scopevm_execution_state* state) {
  return state == nullptr ? -1 : scopevm::of(state).position();
}

size_t scopevm_execution_depth(const scopevm_execution_state* state) {
  return state == nullptr ? 0 : scopevm::of(state).depth();
}

scopevm_status* scopevm_execution_next(const scopevm_execution_state* state, uint32_t* out_function,
                                       uint32_t* out_word) {
  return checked({{state, "state"}, {out_function, "out_function"}, {out_word, "out_word"}}, [&] {
    return scopevm::give_place(scopevm::of(state).next(), out_function, out_word);
  });
}

scopevm_status* scopevm_execution_return_place(const scopevm_execution_state* state, size_t level,
                                               uint32_t* out_function, uint32_t* out_word) {
  return checked({{state, "state"}, {out_function, "out_function"}, {out_word, "out_word"}}, [&] {
    return scopevm::give_place(scopevm::of(state).return_place(level), out_function, out_word);
  });
}

scopevm_status* scopevm_execution_slot(const scopevm_execution_state* state, uint32_t index,
                                       int64_t* out) {
  return checked({{state, "state"}, {out, "out"}}, [&]() -> Status {
    *out = scopevm::of(state).slot(index);
    return {};
  });
}

scopevm_status* scopevm_execution_register(const scopevm_execution_state* state, uint32_t index,
                                           scopevm_register_value* out) {
  return checked({{state, "state"}, {out, "out"}}, [&]() -> Status {
    SCOPEVM_RETURN_IF_ERROR(scopevm::check_size(out->struct_size,
                                                SCOPEVM_SIZE_UP_TO(scopevm_register_value, is_list),
                                                "struct_size of *out"));
    const scopevm::RegisterValue value = scopevm::of(state).register_value(index);
    scopevm::fill_struct({0, value.data, value.bytes, static_cast<int>(value.dtype),
                          value.dims.size(), value.dims.data(), value.pool, value.is_list ? 1 : 0},
                         out);
    return {};
  });
}

scopevm_status* scopevm_execution_read(const scopevm_execution_state* state,
                                       const scopevm_register_value* value, int64_t offset,
                                       void* to, size_t size) {
  return checked({{state, "state"}, {value, "value"}}, [&]() -> Status {
    SCOPEVM_RETURN_IF_ERROR(scopevm::check_array(to, size, "to"));
    SCOPEVM_RETURN_IF_ERROR(scopevm::check_size(value->struct_size,
                                                SCOPEVM_SIZE_UP_TO(scopevm_register_value, is_list),
                                                "struct_size of *value"));
    const scopevm::RegisterValue from = {value->data,
                                         value->bytes,
                                         static_cast<scopevm::DType>(value->dtype),
                                         {value->dims, value->rank},
                                         value->pool,
                                         value->is_list != 0};
    return scopevm::of(state).read(from, offset, {static_cast<std::byte*>(to), size});
  });
}

scopevm_status* scopevm_execution_string(const scopevm_execution_state* state, int32_t element,
                                         const char** out_text, size_t* out_size) {
  return checked({{state, "state"}, {out_text, "out_text"}, {out_size, "out_size"}},
                 [&]() -> Status {
                   const std::optional<std::string_view> text = scopevm::of(state).string(element);
                   // A view of an empty string can have null data.
                   *out_text = !text ? nullptr : text->empty() ? "" : text->data();
                   *out_size = text ? text->size() : 0;
                   return {};
                 });
}
