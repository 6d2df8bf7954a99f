// The back end for CUDA devices.
#pragma once

#include "compiler/codegen/backend/backend.h"

namespace scopevm::compiler::codegen {

const Backend& cuda_backend();

}  // namespace scopevm::compiler::codegen
