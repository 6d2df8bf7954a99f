// Validates the inputs of a call against the module's signature and binds its dimensions.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "scopevm/status.h"
#include "scopevm/tensor.h"
#include "vm/load/loaded_module.h"
#include "vm/run/call/request.h"

namespace scopevm::vm {

// "f32[n, 4]", "sequence of f32[n, 4]": what the signature declares.
std::string declared_text(const TensorSignature& signature);

// Checks that `given` is not an empty tensor, and checks its element type, rank and fixed dims.
// `given` is an input, or an element of an input that is a sequence or an optional.
Status check_input(const LoadedModule& module, size_t index, const Tensor& given);

// Checks that the input accepts `given`, which is a sequence or no value. Checks each element like
// check_input().
Status check_list(const LoadedModule& module, size_t index, const ListValue& given);

// Checks the element type, the rank and the fixed dims of a buffer for an output. The run checks
// the other dims.
Status check_buffer(const TensorSignature& signature, const Tensor& given);

// Checks that all inputs are set and agree on every dimension, and that the dimensions are within
// their bounds. Checks that no output buffer overlaps an input or another output. Stores the values
// of the dimensions in the request. REQUIRES: check_input() succeeded for every set input.
Status bind_inputs(const LoadedModule& module, Request& request);

}  // namespace scopevm::vm
