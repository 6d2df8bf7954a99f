// From a file or bytes, through reader and verifier, to a module that can run.
#include <cstring>
#include <new>
#include <utility>

#include "runtime/mapped_file.h"
#include "scopevm/module.h"
#include "vm/api/module_access.h"
#include "vm/format/reader.h"
#include "vm/format/verify.h"

namespace scopevm {
namespace {

Result<Module> read(format::Bytes bytes) {
  SCOPEVM_ASSIGN_OR_RETURN(format::ModuleContents contents, format::read_module(std::move(bytes)));
  SCOPEVM_RETURN_IF_ERROR(format::verify(contents));
  return ModuleAccess::from_contents(std::move(contents));
}

}  // namespace

Result<Module> Module::load(const std::string& path) {
  SCOPEVM_ASSIGN_OR_RETURN(runtime::MappedFile file, runtime::map_file(path));
  Result<Module> module = read({file.owner, file.data, file.size});
  if (!module.is_ok()) return std::move(module).status().with_context(path);
  return module;
}

Result<Module> Module::load_bytes(std::span<const uint8_t> bytes) {
  // Constants are used where they lie, so the copy is aligned like a mapped file.
  constexpr std::align_val_t kAlignment{64};
  auto* copy = static_cast<uint8_t*>(::operator new(bytes.size(), kAlignment));
  std::shared_ptr<const void> owner(
      copy, [](const void* data) { ::operator delete(const_cast<void*>(data), kAlignment); });
  if (!bytes.empty()) std::memcpy(copy, bytes.data(), bytes.size());
  return read({owner, copy, bytes.size()});
}

}  // namespace scopevm
