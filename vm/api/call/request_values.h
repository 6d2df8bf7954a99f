// The inputs, buffers and results of a request, by index, after checks: the functions of the C API
// for calls use them. Each fails with kInvalidArgument if the request is in flight. The other
// errors are those of the methods of Call (scopevm/call.h).
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "scopevm/tensor.h"
#include "vm/run/call/request.h"

namespace scopevm::vm {

Result<size_t> find_input(const Request& request, std::string_view name);
Result<size_t> find_output(const Request& request, std::string_view name);

// Sets an input to a tensor or, if `tensor` is empty, to its default or to no tensor.
Status set_tensor(Request& request, size_t index, const Tensor& tensor);
Status set_list(Request& request, size_t index, ListValue value);
// Sets the caller's buffer for an output, or no buffer if `tensor` is empty.
Status set_buffer(Request& request, size_t index, Tensor tensor);
// Sets a buffer of `capacity` bytes for a result of any dims; null `data`: no buffer.
Status set_buffer(Request& request, size_t index, void* data, int64_t capacity);
// Sets all inputs: their defaults, or zeros, empty strings, empty sequences and no values. `dims`:
// the values of the named dimensions.
Status set_zeros(Request& request, const std::map<std::string, int64_t>& dims);

// Errors: kNotFound (the request has no such result).
Status check_result(const Request& request, size_t output);
Result<std::span<const Tensor>> elements_of(const Request& request, size_t output);

// Runs the request on this thread, or with a scheduler on one of its workers, and waits.
Status run_and_wait(Request& request, const CallOptions& options);

}  // namespace scopevm::vm
