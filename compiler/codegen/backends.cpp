// The list of the built-in back ends.
#include "compiler/codegen/backends.h"

#include "compiler/codegen/cpu/backend.h"
#include "compiler/codegen/opencl/backend.h"

namespace scopevm::compiler::codegen {

void Backends::add(const Backend& backend) {
  all_.push_back(&backend);
  kinds_.push_back(&backend);
}

const Backends& built_in_backends() {
  static const Backends all = [] {
    Backends backends;
    backends.add(cpu_backend());
    backends.add(opencl_backend());
    return backends;
  }();
  return all;
}

}  // namespace scopevm::compiler::codegen
