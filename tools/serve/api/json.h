// JSON of responses.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tools/serve/model/loaded_model.h"

namespace scopevm::serve {

using Json = nlohmann::ordered_json;

// The value in ASCII, because names of a model can contain invalid UTF-8.
inline std::string dumped(const Json& value) {
  return value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

// An element of `model_stats`.
Json statistics_of(const LoadedModel& model);

}  // namespace scopevm::serve
