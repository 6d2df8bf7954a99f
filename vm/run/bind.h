// The beginning of a call: are these tensors inputs that the module takes?
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "scopevm/status.h"
#include "scopevm/tensor.h"
#include "vm/load/loaded_module.h"
#include "vm/run/call_context.h"

namespace scopevm::vm {

// Element type, rank and exact dims of one input.
Status check_input(const LoadedModule& module, size_t index, const Tensor& given);

// Whether the input takes a sequence, or no value, and then each element likewise.
Status check_list(const LoadedModule& module, size_t index, const ListValue& given);

// All inputs are there, agree on every dimension, and keep its bounds; no caller's output overlaps
// an input or another output. Leaves what the dimensions are in the context. REQUIRES: each set
// input passed check_input.
Status bind_inputs(const LoadedModule& module, CallContext& context);

// A dimension's value within its bounds. `where` says where the value is from.
Status check_dimension(const DimensionSignature& dimension, int64_t value,
                       const std::string& where);

}  // namespace scopevm::vm
