// Reads the options for external functions; see external_options.h.
#include "tools/scopevm/commands/external_options.h"

#include "scopevm/external_library.h"
#include "tools/scopevm/file.h"

namespace scopevm::tool {

Status read_external(const std::vector<std::string>& libraries, const std::string& functions,
                     CompileOptions& options) {
  for (const std::string& name : libraries) {
    SCOPEVM_ASSIGN_OR_RETURN(const ExternalLibrary library, ExternalLibrary::load(name));
    options.external_libraries.push_back(library.get());
  }
  if (functions.empty()) return {};
  SCOPEVM_ASSIGN_OR_RETURN(const std::vector<uint8_t> bytes, read_file(functions));
  options.external_functions.assign(bytes.begin(), bytes.end());
  options.external_functions_name = input_name(functions);
  return {};
}

}  // namespace scopevm::tool
