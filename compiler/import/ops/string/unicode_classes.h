// General categories and scripts of Unicode, for \p{NAME} in patterns; see character_set.h.
#pragma once

#include <cstddef>
#include <string_view>

namespace scopevm::compiler::frontend {

// The characters of a category of two letters or of a script, as runs with spaces between them. A
// run is OFFSET[:COUNT[:STEP]], in hexadecimal digits: the distance of its first character from the
// last one of the run before it, the number of characters (1) and the distance of their codes (1).
struct UnicodeClass {
  std::string_view name;
  std::string_view runs;
};

extern const UnicodeClass kUnicodeClasses[];
extern const size_t kUnicodeClassCount;

}  // namespace scopevm::compiler::frontend
