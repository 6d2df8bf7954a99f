// Reads --machine and --place into compile options, and --device into a session's device binding.
#pragma once

#include <string>
#include <vector>

#include "scopevm/compiler.h"
#include "scopevm/session.h"

namespace scopevm::tool {

// Fills the machine description and the placement rules. Errors: kNotFound (no such file).
Status read_places(const std::string& machine, const std::vector<std::string>& places,
                   CompileOptions& options);

// Parses "gpu=opencl:0". Errors: kInvalidArgument.
Result<DeviceBinding> parse_binding(const std::string& text);

}  // namespace scopevm::tool
