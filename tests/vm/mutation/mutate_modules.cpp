// mutate_modules [--count N] [--seed N] [--run-kernels] MODULE...
//
// Does any change to the bytecode or the tables of a module get past the verifier and then make the
// VM access memory outside of the module's tensors? Each mutant of a module must be rejected, fail
// with an error other than kInternal, or run. Kernels and external functions are replaced by
// checkers, which access exactly the bytes that their launches declare or their tensors have; with
// --run-kernels, the kernels run too. Build
// with AddressSanitizer to detect accesses out of bounds. A mutant of N differs from the module in
// one to three places and depends on the seed and N only: --seed S --count 1 repeats mutant S.
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "scopevm/session.h"
#include "tests/vm/mutation/checkers.h"
#include "tests/vm/mutation/mutator.h"
#include "vm/api/module_access.h"
#include "vm/format/launch_checksum.h"
#include "vm/format/reader.h"
#include "vm/format/verify.h"

namespace scopevm::test {
namespace {

constexpr std::chrono::milliseconds kDeadline{20};  // of the call of a mutant
constexpr int64_t kIntactSymbol = 4;                // the value of all dimensions of the module
constexpr int64_t kMostBytes = int64_t{1} << 24;    // per memory scope

// A module whose image has the checksum of separate kernels.
Result<format::ModuleContents> read(const char* path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  SCOPEVM_ASSIGN_OR_RETURN(format::ModuleContents module,
                           format::read_module(format::aligned_copy(bytes.data(), bytes.size())));
  const uint64_t before = format::launch_checksum(module);
  if (!separate_kernels(module))
    return Status(StatusCode::kUnsupported, "more launches than checkers");
  const uint64_t after = format::launch_checksum(module);
  for (format::ImageDecl& image : module.images) {
    image.bytes = format::aligned_copy(image.bytes.data, image.bytes.size);
    auto* data = const_cast<uint8_t*>(image.bytes.data);  // the copy is not shared
    for (uint64_t at = 0; at + sizeof before <= image.bytes.size; ++at)
      if (std::memcmp(data + at, &before, sizeof before) == 0)
        std::memcpy(data + at, &after, sizeof after);
  }
  return module;
}

int64_t number_of(const std::string& dim, int64_t otherwise) {
  int64_t number = otherwise;
  std::from_chars(dim.data(), dim.data() + dim.size(), number);
  return number;
}

Tensor make_tensor(const TensorSignature& signature, int64_t symbol) {
  std::vector<int64_t> dims;
  int64_t count = 1;
  for (const std::string& dim : signature.dims) {
    dims.push_back(std::min<int64_t>(number_of(dim, symbol), 64));
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

// How a module is called.
struct Request {
  int64_t symbol = kIntactSymbol;   // the value of all dimensions
  std::span<const Tensor> outputs;  // the caller's buffers; may be empty
  bool with_kernels = false;
  std::optional<std::chrono::milliseconds> deadline;
};

// `original` is the module whose launches the checkers assume. REQUIRES: `contents` passed
// verification.
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

// Returns false if a mutant fails with kInternal, or if the module itself does not run.
bool mutate(const char* path, uint32_t seed, uint32_t count, bool with_kernels) {
  const Result<format::ModuleContents> module = read(path);
  const Result<std::vector<Tensor>> intact =
      module.ok() ? run(*module, *module, {}) : Result<std::vector<Tensor>>(module.status());
  if (!intact.ok()) {
    std::printf("%s: %s\n", path, std::string(intact.status().message()).c_str());
    return false;
  }
  uint32_t rejected = 0, failed = 0, ran = 0;
  for (uint32_t i = 0; i < count; ++i) {
    Mutator mutator(seed + i);
    format::ModuleContents mutant = *module;
    for (uint32_t changes = 1 + mutator.below(3); changes > 0 && format::verify(mutant).ok();
         --changes)
      mutator.mutate(mutant);
    if (!format::verify(mutant).ok()) {
      ++rejected;
      continue;
    }
    Request request{.symbol = mutator.below(9),
                    .outputs = {},
                    .with_kernels = with_kernels && mutator.below(2) == 0,
                    .deadline = kDeadline};
    if (request.symbol == kIntactSymbol) request.outputs = *intact;
    const Status status = run(*module, mutant, request).status();
    ++(status.ok() ? ran : failed);
    if (status.code() != StatusCode::kInternal) continue;
    std::printf("%s: mutant %u: %s\n", path, seed + i, std::string(status.message()).c_str());
    return false;
  }
  std::printf("%s: %u mutants: %u rejected, %u failed, %u ran\n", path, count, rejected, failed,
              ran);
  return true;
}

int main_of(int argc, char** argv) {
  uint32_t count = 200, seed = 1;
  bool with_kernels = false, is_good = true;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--count" && i + 1 < argc)
      count = static_cast<uint32_t>(number_of(argv[++i], 0));
    else if (argument == "--seed" && i + 1 < argc)
      seed = static_cast<uint32_t>(number_of(argv[++i], 0));
    else if (argument == "--run-kernels")
      with_kernels = true;
    else
      is_good = mutate(argv[i], seed, count, with_kernels) && is_good;
  }
  return is_good ? 0 : 1;
}

}  // namespace
}  // namespace scopevm::test

int main(int argc, char** argv) { return scopevm::test::main_of(argc, argv); }
