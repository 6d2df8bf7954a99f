#include "plugins/triton/request.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <deque>
#include <string>
#include <utility>

#include "plugins/triton/status.h"
#include "plugins/triton/strings.h"

namespace scopevm::triton {
namespace {

// The bytes of a tensor; none if they exceed 64 bits or a dim is negative.
std::optional<uint64_t> bytes_of(DType dtype, std::span<const int64_t> dims) {
  uint64_t bytes = static_cast<uint64_t>(byte_size(dtype));
  for (const int64_t dim : dims)
    if (dim < 0 || __builtin_mul_overflow(bytes, static_cast<uint64_t>(dim), &bytes))
      return std::nullopt;
  return bytes <= INT64_MAX ? std::optional(bytes) : std::nullopt;
}

bool is_aligned(const void* data, DType dtype) {
  return reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(byte_size(dtype)) == 0;
}

uint64_t nanoseconds(Time time) {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count());
}

Status check_host(TRITONSERVER_MemoryType type) {
  if (type != TRITONSERVER_MEMORY_GPU) return {};
  return {StatusCode::kUnsupported, "the buffer is in the memory of a GPU, expected host memory"};
}

// One buffer of an input.
Result<std::string_view> buffer_of(const InputView& input, uint32_t index) {
  const void* data = nullptr;
  uint64_t bytes = 0;
  TRITONSERVER_MemoryType type = TRITONSERVER_MEMORY_CPU;
  int64_t type_id = 0;
  SCOPEVM_TRITON_CALL(TRITONBACKEND_InputBuffer, input.handle, index, &data, &bytes, &type,
                      &type_id);
  SCOPEVM_RETURN_IF_ERROR(check_host(type));
  return std::string_view(static_cast<const char*>(data), bytes);
}

// The dims of the joined input: the sum of the first ones, and the others of the first request.
std::vector<int64_t> joined_dims(std::span<Request* const> requests, size_t index) {
  const std::span<const int64_t> first = requests[0]->inputs()[index].dims;
  std::vector<int64_t> dims(first.begin(), first.end());
  for (const Request* request : requests.subspan(1)) dims[0] += request->inputs()[index].dims[0];
  return dims;
}

Result<Tensor> strings_of(std::span<Request* const> requests, size_t index,
                          std::span<const int64_t> dims) {
  std::vector<std::string_view> strings;
  std::deque<std::string> gathered;  // inputs of several buffers; the addresses are stable
  for (const Request* request : requests) {
    const InputView& input = request->inputs()[index];
    std::string_view bytes;
    if (input.buffers == 1) {
      SCOPEVM_ASSIGN_OR_RETURN(bytes, buffer_of(input, 0));
    } else {
      std::string& all = gathered.emplace_back();
      for (uint32_t i = 0; i < input.buffers; ++i) {
        SCOPEVM_ASSIGN_OR_RETURN(const std::string_view part, buffer_of(input, i));
        all.append(part);
      }
      bytes = all;
    }
    SCOPEVM_RETURN_IF_ERROR(append_strings(bytes, strings));
  }
  return Tensor::from_strings(strings, dims);
}

Status check_bytes(const InputView& input) {
  const std::optional<uint64_t> expected = bytes_of(input.dtype, input.dims);
  if (!expected)
    return {StatusCode::kInvalidArgument, "the size of the shape is negative or exceeds 64 bits"};
  if (*expected == input.bytes) return {};
  return {StatusCode::kInvalidArgument, "the request has " + std::to_string(input.bytes) +
                                            " bytes, the shape has " + std::to_string(*expected)};
}

Result<Tensor> numbers_of(std::span<Request* const> requests, size_t index,
                          std::span<const int64_t> dims) {
  const InputView& first = requests[0]->inputs()[index];
  for (const Request* request : requests)
    SCOPEVM_RETURN_IF_ERROR(check_bytes(request->inputs()[index]));
  if (requests.size() == 1 && first.buffers == 1) {
    SCOPEVM_ASSIGN_OR_RETURN(const std::string_view bytes, buffer_of(first, 0));
    if (bytes.size() == first.bytes && is_aligned(bytes.data(), first.dtype))
      return Tensor::borrow(static_cast<const void*>(bytes.data()), first.dtype, dims);
  }
  SCOPEVM_ASSIGN_OR_RETURN(Tensor tensor, Tensor::allocate(first.dtype, dims));
  uint64_t written = 0;
  const auto size = static_cast<uint64_t>(tensor.bytes());
  for (const Request* request : requests) {
    const InputView& input = request->inputs()[index];
    for (uint32_t i = 0; i < input.buffers; ++i) {
      SCOPEVM_ASSIGN_OR_RETURN(const std::string_view part, buffer_of(input, i));
      if (part.size() > size - written)
        return Status(StatusCode::kInternal, "the buffers have more bytes than their input");
      if (!part.empty())
        std::memcpy(static_cast<char*>(tensor.data()) + written, part.data(), part.size());
      written += part.size();
    }
  }
  if (written != size)
    return Status(StatusCode::kInternal, "the buffers have fewer bytes than their input");
  return tensor;
}

// The dims of a result for these dims of the module; none if one is an expression.
std::optional<std::vector<int64_t>> result_dims(const Signature& signature,
                                                const TensorSignature& tensor,
                                                std::span<const int64_t> dims) {
  std::vector<int64_t> result;
  for (const std::string& name : tensor.dims) {
    int64_t value = -1;
    const char* const end = name.data() + name.size();
    if (const auto [stop, error] = std::from_chars(name.data(), end, value);
        error != std::errc() || stop != end)
      value = -1;
    for (size_t i = 0; i < dims.size(); ++i)
      if (signature.dimensions[i].name == name) value = dims[i];
    if (value < 0) return std::nullopt;
    result.push_back(value);
  }
  return result;
}

// Some rows of a result: their dims and bytes. `text` stores the bytes of strings.
struct Rows {
  std::vector<int64_t> dims;
  std::string text;
  std::string_view bytes;
};

Status read_rows(const Tensor& all, int64_t row, int64_t count, int64_t rows, Rows& result) {
  result.dims.assign(all.dims().begin(), all.dims().end());
  int64_t first = 0;
  int64_t elements = all.element_count();
  if (rows > 0) {
    if (result.dims.empty() || result.dims[0] != rows)
      return {StatusCode::kInternal, "a result does not have the rows of the joined requests"};
    result.dims[0] = count;
    first = elements / rows * row;
    elements = elements / rows * count;
  }
  if (all.dtype() == DType::kStr) {
    SCOPEVM_ASSIGN_OR_RETURN(result.text, written_strings(all, first, elements));
    result.bytes = result.text;
  } else {
    const auto size = static_cast<size_t>(byte_size(all.dtype()));
    result.bytes = {static_cast<const char*>(all.data()) + static_cast<size_t>(first) * size,
                    static_cast<size_t>(elements) * size};
  }
  return {};
}

}  // namespace

Result<Tensor> input_of(std::span<Request* const> requests, size_t index,
                        const TensorSignature& tensor) {
  const std::vector<int64_t> dims = joined_dims(requests, index);
  Result<Tensor> made = requests[0]->inputs()[index].dtype == DType::kStr
                            ? strings_of(requests, index, dims)
                            : numbers_of(requests, index, dims);
  if (made.ok()) return made;
  return std::move(made).status().with_context("input \"" + tensor.name + "\"");
}

void Request::read(const Model& model, Time start) noexcept {
  times_ = {start, start, start};
  fail(contained([&] { return read_properties(model, start); }));
}

Status Request::read_properties(const Model& model, Time start) {
  outputs_.resize(model.signature().outputs.size());
  uint64_t timeout_us = 0;
  SCOPEVM_TRITON_CALL(TRITONBACKEND_InferenceRequestTimeoutMicroseconds, handle_, &timeout_us);
  // A timeout of more than a year is none: the sum could overflow.
  constexpr uint64_t kYear = 366ULL * 24 * 3600 * 1000000;
  if (timeout_us > 0 && timeout_us < kYear)
    deadline_ = start + std::chrono::microseconds(timeout_us);
  SCOPEVM_ASSIGN_OR_RETURN(inputs_, model.inputs_of(handle_));
  batch_ = model.batch_of(inputs_);
  uint32_t count = 0;
  SCOPEVM_TRITON_CALL(TRITONBACKEND_RequestOutputCount, handle_, &count);
  for (uint32_t i = 0; i < count; ++i) {
    const char* name = nullptr;
    SCOPEVM_TRITON_CALL(TRITONBACKEND_RequestOutputName, handle_, i, &name);
    const std::vector<TensorSignature>& outputs = model.signature().outputs;
    const auto found = std::find_if(outputs.begin(), outputs.end(),
                                    [&](const auto& tensor) { return tensor.name == name; });
    if (found == outputs.end())
      return {StatusCode::kInvalidArgument,
              "output \"" + std::string(name) + "\" does not exist in the module"};
    outputs_[static_cast<size_t>(found - outputs.begin())].is_requested = true;
  }
  return {};
}

void Request::check_end() noexcept {
  fail(contained([&]() -> Status {
    bool is_cancelled = false;
    SCOPEVM_TRITON_CALL(TRITONBACKEND_RequestIsCancelled, handle_, &is_cancelled);
    if (is_cancelled) return {StatusCode::kCancelled, "the client has cancelled the request"};
    if (deadline_ && std::chrono::steady_clock::now() >= *deadline_)
      return {StatusCode::kDeadlineExceeded, "the timeout of the request has passed"};
    return {};
  }));
}

bool Request::can_join(const Request& other) const {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const InputView& a = inputs_[i];
    const InputView& b = other.inputs_[i];
    if ((a.handle == nullptr) != (b.handle == nullptr)) return false;
    if (a.handle == nullptr) continue;
    if (a.dtype != b.dtype || a.dims.empty() || a.dims.size() != b.dims.size() ||
        a.dims[0] != batch_ || b.dims[0] != other.batch_ || a.dims[0] < 1 || b.dims[0] < 1 ||
        !std::equal(a.dims.begin() + 1, a.dims.end(), b.dims.begin() + 1))
      return false;
  }
  return true;
}

Status Request::make_response() {
  if (response_ == nullptr) SCOPEVM_TRITON_CALL(TRITONBACKEND_ResponseNew, &response_, handle_);
  return {};
}

Result<void*> Request::make_output(const TensorSignature& tensor, std::span<const int64_t> dims,
                                   uint64_t bytes) {
  SCOPEVM_RETURN_IF_ERROR(make_response());
  TRITONBACKEND_Output* output = nullptr;
  SCOPEVM_TRITON_CALL(TRITONBACKEND_ResponseOutput, response_, &output, tensor.name.c_str(),
                      *type_of(tensor.dtype), dims.data(), static_cast<uint32_t>(dims.size()));
  void* data = nullptr;
  TRITONSERVER_MemoryType type = TRITONSERVER_MEMORY_CPU;
  int64_t type_id = 0;
  SCOPEVM_TRITON_CALL(TRITONBACKEND_OutputBuffer, output, &data, bytes, &type, &type_id);
  SCOPEVM_RETURN_IF_ERROR(check_host(type).with_context("output \"" + tensor.name + "\""));
  if (data == nullptr && bytes > 0)
    return Status(StatusCode::kInternal,
                  "output \"" + tensor.name + "\": the server returned no buffer");
  return data;
}

Status Request::set_outputs(const Model& model, std::span<const int64_t> dims, Call& call) {
  const Signature& signature = model.signature();
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const TensorSignature& tensor = signature.outputs[i];
    if (!outputs_[i].is_requested || tensor.dtype == DType::kStr) continue;
    const auto shape = result_dims(signature, tensor, dims);
    const auto bytes = shape ? bytes_of(tensor.dtype, *shape) : std::nullopt;
    if (!bytes || *bytes == 0) continue;
    SCOPEVM_ASSIGN_OR_RETURN(outputs_[i].data, make_output(tensor, *shape, *bytes));
    if (!is_aligned(outputs_[i].data, tensor.dtype)) continue;
    SCOPEVM_ASSIGN_OR_RETURN(const Tensor buffer,
                             Tensor::borrow(outputs_[i].data, tensor.dtype, *shape));
    SCOPEVM_RETURN_IF_ERROR(call.set_output(i, buffer));
    outputs_[i].is_written = true;
  }
  return {};
}

Status Request::write_results(const Model& model, const Call& call, int64_t row, int64_t rows) {
  const Signature& signature = model.signature();
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const TensorSignature& tensor = signature.outputs[i];
    const std::vector<StateConfig>& states = model.config().states;
    const bool is_state = std::any_of(states.begin(), states.end(), [&](const StateConfig& state) {
      return state.output == tensor.name;
    });
    const bool is_missing = outputs_[i].is_requested && !outputs_[i].is_written;
    if (!is_state && !is_missing) continue;
    Rows result;
    SCOPEVM_RETURN_IF_ERROR(read_rows(call.outputs()[i], row, batch_, rows, result));
    if (is_missing) {
      if (outputs_[i].data == nullptr) {
        SCOPEVM_ASSIGN_OR_RETURN(outputs_[i].data,
                                 make_output(tensor, result.dims, result.bytes.size()));
      }
      if (!result.bytes.empty())
        std::memcpy(outputs_[i].data, result.bytes.data(), result.bytes.size());
    }
    if (is_state) SCOPEVM_RETURN_IF_ERROR(write_state(tensor, result.dims, result.bytes));
  }
  return {};
}

Status Request::write_state(const TensorSignature& tensor, std::span<const int64_t> dims,
                            std::string_view bytes) {
  TRITONBACKEND_State* state = nullptr;
  SCOPEVM_TRITON_CALL(TRITONBACKEND_StateNew, &state, handle_, tensor.name.c_str(),
                      *type_of(tensor.dtype), dims.data(), static_cast<uint32_t>(dims.size()));
  void* data = nullptr;
  TRITONSERVER_MemoryType type = TRITONSERVER_MEMORY_CPU;
  int64_t type_id = 0;
  SCOPEVM_TRITON_CALL(TRITONBACKEND_StateBuffer, state, &data, bytes.size(), &type, &type_id);
  SCOPEVM_RETURN_IF_ERROR(check_host(type).with_context("state \"" + tensor.name + "\""));
  if (!bytes.empty()) std::memcpy(data, bytes.data(), bytes.size());
  SCOPEVM_TRITON_CALL(TRITONBACKEND_StateUpdate, state);
  return {};
}

void Request::finish(TRITONBACKEND_ModelInstance* instance) noexcept {
  if (std::exchange(is_finished_, true)) return;
  fail(contained([&] { return make_response(); }));
  if (response_ != nullptr) {
    TRITONSERVER_Error* const error = to_triton(status_);
    log_if(TRITONBACKEND_ResponseSend(response_, TRITONSERVER_RESPONSE_COMPLETE_FINAL, error),
           "TRITONBACKEND_ResponseSend");
    if (error != nullptr) TRITONSERVER_ErrorDelete(error);
  } else {
    log(TRITONSERVER_LOG_ERROR, message_of(status_));
  }
  log_if(TRITONBACKEND_ModelInstanceReportStatistics(
             instance, handle_, status_.ok(), nanoseconds(times_.start),
             nanoseconds(times_.compute_start), nanoseconds(times_.compute_end),
             nanoseconds(std::chrono::steady_clock::now())),
         "TRITONBACKEND_ModelInstanceReportStatistics");
  log_if(TRITONBACKEND_RequestRelease(handle_, TRITONSERVER_REQUEST_RELEASE_ALL),
         "TRITONBACKEND_RequestRelease");
}

}  // namespace scopevm::triton
