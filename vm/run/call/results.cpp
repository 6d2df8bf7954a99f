// Creates result tensors and the memory account of a call; see results.h.
#include "vm/run/call/results.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

#include "runtime/count_text.h"
#include "runtime/tensor/shape.h"
#include "runtime/tensor/tensor_access.h"
#include "vm/run/call/string_ops.h"
#include "vm/run/frame/list.h"
#include "vm/run/ranks/remote_memory.h"

namespace scopevm::vm {
namespace {

using runtime::Storage;

// The pool of result `name` in the function's memory declarations, else the module's first heap
// pool in host memory.
std::optional<uint32_t> result_pool(const format::FunctionDecl& function,
                                    const LoadedModule& module, const std::string& name) {
  for (const format::MemoryDecl& line : function.memory)
    if (line.is_result && line.what == name) return line.pool;
  return module.heap_pool();
}

class ResultMaker {
 public:
  ResultMaker(BoundSession& session, CallContext& context)
      : session_(session), context_(context), request_(*context.request) {}

  Status make(uint32_t output, const Register& from, std::span<const int64_t> dims) {
    const LoadedModule& module = session_.module();
    const std::string& name = module.output_names()[output];
    SCOPEVM_RETURN_IF_ERROR(check_bytes(name, from, dims));
    if (is_remote(from.data)) {  // a state of another rank
      request_.results.emplace_back();
      return {};
    }
    const OutputBuffer& given = request_.outputs[output];
    if (!given.tensor.is_empty()) {
      int64_t bytes = 0;
      SCOPEVM_RETURN_IF_ERROR(check_output(module, output, given, dims, &bytes));
      // If bind_callers_buffer() substituted the buffer for the allocation, the bytes are already
      // in the buffer.
      if (from.storage != request_.output_storages[output])
        std::memcpy(given.tensor.data(), from.data, static_cast<size_t>(from.bytes));
      request_.results.push_back(given.has_dims ? given.tensor
                                                : TensorAccess::make(given.tensor.data(), nullptr,
                                                                     from.dtype, dims, bytes));
      return {};
    }
    return take(name, from, dims, request_.results);
  }

  // Converts the elements of a list; for an optional sequence, the elements of the sequence that it
  // contains.
  Status make_list(uint32_t output, const Register& from) {
    const LoadedModule& module = session_.module();
    const ValueKind kind = module.signature().outputs[output].kind;
    ListValue& result = request_.list_results[output];
    List list(from.storage);
    result.is_set = true;
    result.has_value = !is_optional(kind) || list.size() > 0;
    request_.results.emplace_back();
    if (!result.has_value) return {};
    if (kind == ValueKind::kOptionalSequence) list = List(list.element(0).storage);
    result.elements.reserve(static_cast<size_t>(list.size()));
    for (int64_t i = 0; i < list.size(); ++i) {
      const Register& element = list.element(i);
      const std::span<const int64_t> dims(list.dims_of(i), element.rank);
      SCOPEVM_RETURN_IF_ERROR(check_bytes(module.output_names()[output], element, dims));
      SCOPEVM_RETURN_IF_ERROR(take(module.output_names()[output], element, dims, result.elements));
    }
    return {};
  }

 private:
  static Status check_bytes(const std::string& name, const Register& from,
                            std::span<const int64_t> dims) {
    const Result<int64_t> bytes = runtime::shape_bytes(from.dtype, dims);
    if (bytes.ok() && *bytes == from.bytes) return {};
    return {StatusCode::kInvalidModel,
            "output \"" + name + "\" has " + runtime::count_text(from.bytes, "byte") +
                ", expected the size of " + runtime::type_text(from.dtype, dims)};
  }

  // Appends the register's tensor, or a copy if the call cannot transfer ownership of its bytes.
  Status take(const std::string& name, const Register& from, std::span<const int64_t> dims,
              std::vector<Tensor>& to) {
    if (from.dtype == DType::kStr) return take_strings(name, from, dims, to);
    // Copy if the caller or the module owns the bytes, or if an earlier result shares them.
    if (from.storage == nullptr || from.storage->pool < 0 || from.storage->is_result)
      return copy(name, from, dims, to);
    // A later result with the same storage is copied, because results must not share bytes.
    from.storage->is_result = true;
    from.storage->retain();
    to.push_back(TensorAccess::make(from.data, from.storage, from.dtype, dims, from.bytes));
    return {};
  }

  Status take_strings(const std::string& name, const Register& ids, std::span<const int64_t> dims,
                      std::vector<Tensor>& to) {
    Result<Storage*> packed = strings_of_result(context_.strings, ids);
    if (!packed.ok()) return std::move(packed).status().with_context("output \"" + name + "\"");
    // The call releases its reference at its end. This second reference belongs to the tensor.
    (*packed)->retain();
    to.push_back(TensorAccess::make_strings((*packed)->data, *packed, dims, (*packed)->bytes));
    return {};
  }

  Status copy(const std::string& name, const Register& from, std::span<const int64_t> dims,
              std::vector<Tensor>& to) {
    const std::optional<uint32_t> pool =
        result_pool(*context_.entry->decl, session_.module(), name);
    if (!pool)
      return {StatusCode::kInvalidModel,
              "output \"" + name + "\": the module has no heap pool for a copy"};
    Storage* storage = nullptr;
    // Nothing between allocate() and own() may throw, so the context is formatted on failure only.
    if (Status status = session_.allocate(context_, *pool, from.bytes, &storage); !status.ok())
      return std::move(status).with_context("copy of output \"" + name + "\"");
    std::memcpy(storage->data, from.data, static_cast<size_t>(from.bytes));
    // One reference for the call, released at its end, and one for the tensor.
    context_.own(storage, static_cast<int32_t>(*pool));
    storage->retain();
    to.push_back(TensorAccess::make(storage->data, storage, from.dtype, dims, from.bytes));
    return {};
  }

  BoundSession& session_;
  CallContext& context_;
  Request& request_;
};

}  // namespace

Status collect_results(BoundSession& session, CallContext& context, const Frame& frame,
                       isa::RegisterList registers) {
  ResultMaker maker(session, context);
  for (uint32_t i = 0; i < registers.size(); ++i) {
    const Register& from = frame.registers[registers[i].value];
    if (session.module().signature().outputs[i].kind != ValueKind::kTensor) {
      SCOPEVM_RETURN_IF_ERROR(maker.make_list(i, from));
      continue;
    }
    SCOPEVM_RETURN_IF_ERROR(maker.make(i, from, {frame.dims_of(registers[i].value), from.rank}));
  }
  return {};
}

void record_bounds(const format::FunctionDecl& function, const int64_t* slots,
                   std::vector<PoolAccount>& pools) {
  for (const format::MemoryDecl& line : function.memory) {
    pools[line.pool].bound_bytes += slots[line.bytes_slot];
    pools[line.pool].lower_bound_bytes += slots[line.lower_bound_slot];
  }
  // For data-dependent memory the bound is at least the measured peak: the slots do not account for
  // recursion and for sizes that change during the call.
  for (const format::MemoryDecl& line : function.memory)
    if (PoolAccount& pool = pools[line.pool]; line.depends_on_data)
      pool.bound_bytes = std::max(pool.bound_bytes, pool.peak_bytes);
}

Status check_output(const LoadedModule& module, uint32_t index, const OutputBuffer& given,
                    std::span<const int64_t> dims, int64_t* bytes) {
  const DType dtype = module.signature().outputs[index].dtype;
  const Tensor& buffer = given.tensor;
  if (given.has_dims && buffer.dtype() == dtype && std::ranges::equal(buffer.dims(), dims)) {
    *bytes = buffer.bytes();
    return {};
  }
  std::string expected = runtime::type_text(dtype, dims);
  std::string type = runtime::type_text(buffer.dtype(), buffer.dims());
  if (!given.has_dims) {
    SCOPEVM_ASSIGN_OR_RETURN(*bytes, runtime::shape_bytes(dtype, dims));
    if (*bytes <= buffer.bytes()) return {};
    expected += " of " + runtime::count_text(*bytes, "byte");
    type = "a buffer of " + runtime::count_text(given.capacity, "byte");
  }
  const std::string& name = module.output_names()[index];
  std::string message = "output \"" + name + "\": expected " + expected + ", given " + type;
  return {StatusCode::kInvalidArgument,
          std::move(message),
          {name, -1, std::move(expected), std::move(type)}};
}

}  // namespace scopevm::vm
