// Prints the JSON output of a command.
#pragma once

#include <nlohmann/json.hpp>

#include "tools/scopevm/standard_streams.h"

namespace scopevm::tool {

// Writes the value to stdout in ASCII, because names of a model can contain control characters and
// invalid UTF-8.
inline void write_json(const nlohmann::ordered_json& value) {
  write_output(value.dump(2, ' ', true, nlohmann::json::error_handler_t::replace) + "\n");
}

}  // namespace scopevm::tool
