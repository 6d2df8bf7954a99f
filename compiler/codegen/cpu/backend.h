// The back end for CPUs, including the host.
#pragma once

#include "compiler/codegen/backend/backend.h"

namespace scopevm::compiler::codegen {

const Backend& cpu_backend();

}  // namespace scopevm::compiler::codegen
