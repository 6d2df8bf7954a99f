// Replaces the kernels of a loaded module and calls it; see run_module.h.
#include "tests/vm/mutation/run_module.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string>
#include <utility>

#include "scopevm/session.h"
#include "tests/vm/mutation/checkers.h"
#include "vm/api/module_access.h"
#include "vm/format/binary/launch_checksum.h"

namespace scopevm::test {
namespace {

constexpr int64_t kMostBytes = int64_t{1} << 24;  // per memory scope

// The value of a dimension of a signature: a number, or the name of a symbol.
int64_t value_of(const std::string& dim, int64_t symbol) {
  int64_t number = symbol;
  std::from_chars(dim.data(), dim.data() + dim.size(), number);
  return number;
}

Tensor make_tensor(const TensorSignature& signature, int64_t symbol) {
  std::vector<int64_t> dims;
  int64_t count = 1;
  for (const std::string& dim : signature.dims) {
    dims.push_back(std::min<int64_t>(value_of(dim, symbol), 64));
    count *= dims.back();
  }
  if (count > 4096 || dims.size() > 8) return {};
  if (signature.dtype == DType::kStr) {
    const std::vector<std::string_view> strings(static_cast<size_t>(count), "2");
    Result<Tensor> tensor = Tensor::from_strings(strings, dims);
    return tensor.ok() ? *tensor : Tensor();
  }
  Result<Tensor> tensor = Tensor::allocate(signature.dtype, dims);
  if (!tensor.ok()) return {};
  auto* bytes = static_cast<uint8_t*>(tensor->data());
  for (int64_t i = 0; i < tensor->bytes(); ++i)
    bytes[i] = i % byte_size(signature.dtype) == 0 ? static_cast<uint8_t>(i % 3) : 0;
  return *tensor;
}

Status set_inputs(Call& call, const Signature& signature, int64_t symbol) {
  for (const TensorSignature& input : signature.inputs) {
    const Tensor tensor = make_tensor(input, symbol);
    if (tensor.is_empty()) return {StatusCode::kUnsupported, "an input is too large"};
    SCOPEVM_RETURN_IF_ERROR(list_depth(input.kind) == 0 || input.kind == ValueKind::kOptional
                                ? call.set_input(input.name, tensor)
                                : call.set_sequence(input.name, {tensor, tensor}));
  }
  return {};
}

}  // namespace

Status prepare_for_checkers(format::ModuleContents& module) {
  const uint64_t before = format::launch_checksum(module);
  if (!separate_kernels(module)) return {StatusCode::kUnsupported, "more launches than checkers"};
  const uint64_t after = format::launch_checksum(module);
  for (format::ImageDecl& image : module.images) {
    image.bytes = format::aligned_copy(image.bytes.data, image.bytes.size);
    auto* data = const_cast<uint8_t*>(image.bytes.data);  // the copy is not shared
    for (uint64_t at = 0; at + sizeof before <= image.bytes.size; ++at)
      if (std::memcmp(data + at, &before, sizeof before) == 0)
        std::memcpy(data + at, &after, sizeof after);
  }
  return {};
}

Result<std::vector<Tensor>> run(const format::ModuleContents& original,
                                const format::ModuleContents& contents, const Request& request) {
  SCOPEVM_ASSIGN_OR_RETURN(const Module module, ModuleAccess::from_contents(contents));
  SCOPEVM_ASSIGN_OR_RETURN(const vm::KernelTable* table, ModuleAccess::loaded(module)->kernels());
  // The table belongs to this module only.
  const_cast<vm::KernelTable*>(table)->kernels =
      checkers_of(original, *table, request.with_kernels);
  SessionOptions options;
  for (const format::PoolDecl& pool : contents.pools)
    options.memory_limits.push_back({pool.scope, kMostBytes});
  const std::vector<scopevm_external_library> libraries = external_checkers(contents);
  for (const scopevm_external_library& library : libraries)
    options.external_libraries.push_back(&library);
  SCOPEVM_ASSIGN_OR_RETURN(const Session session, Session::create(module, std::move(options)));
  SCOPEVM_ASSIGN_OR_RETURN(Call call, session.make_call());
  SCOPEVM_RETURN_IF_ERROR(set_inputs(call, module.signature(), request.symbol));
  for (size_t i = 0; i < request.outputs.size(); ++i)
    if (!request.outputs[i].is_empty() && request.outputs[i].dtype() != DType::kStr)
      SCOPEVM_RETURN_IF_ERROR(call.set_output(i, request.outputs[i]));
  CallOptions call_options;
  if (request.deadline)
    call_options.deadline = std::chrono::steady_clock::now() + *request.deadline;
  SCOPEVM_RETURN_IF_ERROR(call.run(call_options));
  return std::vector<Tensor>(call.outputs().begin(), call.outputs().end());
}

}  // namespace scopevm::test
