// The abstract state of one register at one program point, for the verifier's data-flow analysis.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "scopevm/dtype.h"

namespace scopevm::format {

struct RegisterState {
  enum class Kind : uint8_t { kEmpty, kStorage, kTensor, kList, kClosure, kConflict };
  static constexpr uint32_t kUnknownPool = UINT32_MAX;

  Kind kind = Kind::kEmpty;
  DType dtype = DType::kU8;   // of a tensor, or of the tensors in a list
  bool is_read_only = false;  // true for a constant, a value of declared_state(), or a view of one
  uint32_t rank = 0;          // of a tensor
  uint32_t pool = kUnknownPool;  // unknown for a value of declared_state()
  uint32_t reach = 0;  // the devices that access it, as an entry of reaches_of(); always known
  int64_t bytes = -1;  // -1: depends on the request
  uint32_t depth = 0;  // of a list: 1 if the elements are tensors, 2 if they are lists of tensors
  bool is_on_stack = false;  // may be stored in a frame, of this function or of a caller

  friend bool operator==(const RegisterState&, const RegisterState&) = default;
};

// The state of a value of which only the declaration is known: a parameter, the result of a call, a
// list or an element of a list.
inline RegisterState declared_state(DType dtype, uint32_t rank, uint32_t depth, uint32_t reach) {
  RegisterState state;
  state.kind = depth == 0 ? RegisterState::Kind::kTensor : RegisterState::Kind::kList;
  state.dtype = dtype;
  state.is_read_only = true;
  state.rank = depth == 0 ? rank : 0;  // elements can have any rank
  state.depth = depth;
  state.reach = reach;
  return state;
}

inline RegisterState closure_state() {
  RegisterState state;
  state.kind = RegisterState::Kind::kClosure;
  state.is_read_only = true;
  return state;
}

inline std::string describe(RegisterState::Kind kind) {
  switch (kind) {
    case RegisterState::Kind::kEmpty:
      return "is empty";
    case RegisterState::Kind::kStorage:
      return "holds a storage";
    case RegisterState::Kind::kTensor:
      return "holds a tensor";
    case RegisterState::Kind::kList:
      return "holds a list";
    case RegisterState::Kind::kClosure:
      return "holds a closure";
    case RegisterState::Kind::kConflict:
      return "holds incompatible values on different paths";
  }
  return "";
}

// Joins the states of two paths. A join leaves each part of a state unchanged or makes it less
// known (known -> unknown -> conflict). A state can therefore change only a few times, and the
// data-flow iteration terminates.
inline RegisterState merge(const RegisterState& a, const RegisterState& b) {
  using Kind = RegisterState::Kind;
  RegisterState conflict;
  conflict.kind = Kind::kConflict;
  if (a.kind != b.kind || a.kind == Kind::kConflict) return conflict;
  bool places_differ = a.pool != b.pool && a.pool != RegisterState::kUnknownPool &&
                       b.pool != RegisterState::kUnknownPool;
  if (a.dtype != b.dtype || a.rank != b.rank || a.depth != b.depth || a.reach != b.reach ||
      places_differ)
    return conflict;
  RegisterState both = a;
  both.is_read_only = a.is_read_only || b.is_read_only;
  both.is_on_stack = a.is_on_stack || b.is_on_stack;
  if (a.pool != b.pool) both.pool = RegisterState::kUnknownPool;
  if (a.bytes != b.bytes) both.bytes = -1;
  return both;
}

}  // namespace scopevm::format
