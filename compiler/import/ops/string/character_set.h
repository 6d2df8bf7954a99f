// Sets of Unicode characters, for patterns.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace scopevm::compiler::frontend {

class CharacterSet {
 public:
  struct Range {
    char32_t first;
    char32_t last;
  };

  CharacterSet() = default;
  CharacterSet(std::initializer_list<Range> ranges) : ranges_(ranges) {}

  void add(char32_t first, char32_t last) { ranges_.push_back({first, last}); }
  void add(const CharacterSet& other);
  // Adds the characters that are equal to an element without regard to case (Unicode's simple case
  // folding).
  void add_other_cases();
  // Ascending and not adjacent.
  std::vector<Range> ranges() const;
  // All characters outside of the set.
  CharacterSet complement() const;

 private:
  std::vector<Range> ranges_;
};

// The set that \d, \s or \w denotes, by its letter, as RE2 defines them for ASCII. No value for
// another letter.
std::optional<CharacterSet> perl_class(char letter);
// The set that [:name:] denotes in a class. No value for another name.
std::optional<CharacterSet> posix_class(std::string_view name);
// The set that \pN, \p{Name} or \p{^Name} denotes, or with \P its complement. The name is that of
// a general category of Unicode (L or Lu), of a script (Greek), or Any. No value for another name.
// If `ignores_case`, the other cases are in the set before it is complemented.
std::optional<CharacterSet> unicode_class(std::string_view text, bool ignores_case);

}  // namespace scopevm::compiler::frontend
