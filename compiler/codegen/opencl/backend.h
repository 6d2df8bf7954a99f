// The back end for OpenCL devices.
#pragma once

#include "compiler/codegen/backend/backend.h"

namespace scopevm::compiler::codegen {

const Backend& opencl_backend();

}  // namespace scopevm::compiler::codegen
