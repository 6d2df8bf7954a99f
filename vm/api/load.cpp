// Module::load and load_bytes: read, verify and prepare a module.
#include <utility>

#include "runtime/mapped_file.h"
#include "runtime/without_exceptions.h"
#include "scopevm/module.h"
#include "vm/api/module_access.h"
#include "vm/format/binary/reader.h"
#include "vm/format/records/records.h"
#include "vm/format/verify/verify.h"
#include "vm/signature/verify.h"

namespace scopevm {
namespace {

Result<Module> read(const format::Bytes& bytes) {
  SCOPEVM_ASSIGN_OR_RETURN(format::ModuleContents contents, format::read_module(bytes));
  SCOPEVM_RETURN_IF_ERROR(format::verify(contents));
  return ModuleAccess::from_contents(std::move(contents),
                                     format::module_digest({bytes.data, bytes.size}));
}

// The text of the signature of the module file `path`.
Result<std::string> signature_of(const std::string& path, const LoadOptions& options) {
  if (!options.signature.empty()) return options.signature;
  SCOPEVM_ASSIGN_OR_RETURN(const runtime::MappedFile file,
                           runtime::map_file(path + signature::kSuffix));
  return std::string(reinterpret_cast<const char*>(file.data), file.size);
}

Result<Module> load_unsigned_file(const std::string& path) {
  SCOPEVM_ASSIGN_OR_RETURN(const runtime::MappedFile file, runtime::map_file(path));
  return read({file.owner, file.data, file.size});
}

Result<Module> load_signed_file(const std::string& path, const LoadOptions& options) {
  SCOPEVM_ASSIGN_OR_RETURN(const runtime::MappedFile file, runtime::map_file(path));
  // A mapped file can change after the signature has been verified, but a copy cannot.
  const format::Bytes copy = format::aligned_copy(file.data, file.size);
  SCOPEVM_ASSIGN_OR_RETURN(const std::string text, signature_of(path, options));
  SCOPEVM_RETURN_IF_ERROR(signature::verify({copy.data, copy.size}, text, options.public_keys));
  return read(copy);
}

Result<Module> load_file(const std::string& path, const LoadOptions& options) {
  return options.public_keys.empty() ? load_unsigned_file(path) : load_signed_file(path, options);
}

Result<Module> load_memory(const format::Bytes& bytes, const LoadOptions& options) {
  if (!options.public_keys.empty())
    SCOPEVM_RETURN_IF_ERROR(
        signature::verify({bytes.data, bytes.size}, options.signature, options.public_keys));
  return read(bytes);
}

}  // namespace

Result<Module> Module::load(const std::string& path, const LoadOptions& options) {
  return runtime::without_exceptions([&]() -> Result<Module> {
    Result<Module> module = load_file(path, options);
    // Messages of the system already start with the path.
    if (module.ok() || module.status().code() == StatusCode::kNotFound) return module;
    return std::move(module).status().with_context(path);
  });
}

Result<Module> Module::load_bytes(std::span<const uint8_t> bytes, const LoadOptions& options) {
  return runtime::without_exceptions(
      [&] { return load_memory(format::aligned_copy(bytes.data(), bytes.size()), options); });
}

Result<Module> Module::load_bytes(std::shared_ptr<const void> owner, std::span<const uint8_t> bytes,
                                  const LoadOptions& options) {
  return runtime::without_exceptions(
      [&] { return load_memory({std::move(owner), bytes.data(), bytes.size()}, options); });
}

}  // namespace scopevm
