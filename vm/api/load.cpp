// Module::load and load_bytes: read, verify and prepare a module.
#include <utility>

#include "runtime/mapped_file.h"
#include "runtime/without_exceptions.h"
#include "scopevm/module.h"
#include "vm/api/module_access.h"
#include "vm/format/binary/reader.h"
#include "vm/format/verify/verify.h"

namespace scopevm {
namespace {

Result<Module> read(const format::Bytes& bytes) {
  SCOPEVM_ASSIGN_OR_RETURN(format::ModuleContents contents, format::read_module(bytes));
  SCOPEVM_RETURN_IF_ERROR(format::verify(contents));
  return ModuleAccess::from_contents(std::move(contents));
}

Result<Module> load_file(const std::string& path) {
  SCOPEVM_ASSIGN_OR_RETURN(const runtime::MappedFile file, runtime::map_file(path));
  Result<Module> module = read({file.owner, file.data, file.size});
  if (!module.ok()) return std::move(module).status().with_context(path);
  return module;
}

}  // namespace

Result<Module> Module::load(const std::string& path) {
  return runtime::without_exceptions([&] { return load_file(path); });
}

Result<Module> Module::load_bytes(std::span<const uint8_t> bytes) {
  return runtime::without_exceptions(
      [&] { return read(format::aligned_copy(bytes.data(), bytes.size())); });
}

}  // namespace scopevm
