// Prints the JSON output of a command.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tools/files/standard_streams.h"

namespace scopevm::tool {

// The value in ASCII, because names of a model can contain control characters and invalid UTF-8.
inline std::string json_text(const nlohmann::ordered_json& value) {
  return value.dump(2, ' ', true, nlohmann::json::error_handler_t::replace) + "\n";
}

// Writes the value to stdout.
inline void write_json(const nlohmann::ordered_json& value) { write_output(json_text(value)); }

}  // namespace scopevm::tool
