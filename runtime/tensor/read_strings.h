// Reads the string tensors that callers of the C API pass.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/c_api/c_arguments.h"
#include "scopevm/c/tensor.h"
#include "scopevm/status.h"

namespace scopevm::runtime {

// Views of `count` strings. Errors: kInvalidArgument (NULL).
inline Result<std::vector<std::string_view>> read_strings(const scopevm_strings& given,
                                                          size_t count) {
  SCOPEVM_RETURN_IF_ERROR(check_array(given.strings, count, "the array of strings"));
  std::vector<std::string_view> strings;
  for (size_t i = 0; i < count; ++i) {
    const char* string = given.strings[i];
    if (string == nullptr)
      return Status(StatusCode::kInvalidArgument, "string " + std::to_string(i) + " is NULL");
    strings.push_back(given.sizes == nullptr ? std::string_view(string)
                                             : std::string_view(string, given.sizes[i]));
  }
  return strings;
}

}  // namespace scopevm::runtime
