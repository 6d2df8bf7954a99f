// The back end for CPUs, the host's among them.
#pragma once

#include "compiler/codegen/backend/backend.h"

namespace scopevm::compiler::codegen {

const Backend& cpu_backend();

}  // namespace scopevm::compiler::codegen
