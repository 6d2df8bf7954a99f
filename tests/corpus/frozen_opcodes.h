// The opcodes of the versions in the corpus, from their tables opcodes.def.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace scopevm::corpus {

struct FrozenOpcode {
  uint32_t code;
  std::string_view name;
  std::string_view fields;  // the type and the name of each field, each followed by a space
};

// The rows of all versions.
std::vector<FrozenOpcode> frozen_opcodes();

}  // namespace scopevm::corpus
