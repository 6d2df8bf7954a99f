// What --machine and --place give the compiler, and what --device gives a session.
#pragma once

#include <string>
#include <vector>

#include "scopevm/compiler.h"
#include "scopevm/session.h"

namespace scopevm::tool {

// Errors: kNotFound (no such file).
Status read_places(const std::string& machine, const std::vector<std::string>& places,
                   CompileOptions& options);

// "gpu=opencl:0". Errors: kInvalidArgument.
Result<DeviceBinding> parse_binding(const std::string& text);

}  // namespace scopevm::tool
