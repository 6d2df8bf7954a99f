#include "compiler/import/ops/string/character_set.h"

#include <algorithm>
#include <map>
#include <utility>

#include "llvm/Support/Unicode.h"

namespace scopevm::compiler::frontend {
namespace {

constexpr char32_t kLast = 0x10ffff;

using Cases = std::vector<std::vector<char32_t>>;

// The characters with several cases, each with its other cases.
const Cases& all_cases() {
  // No character from this one on has another case (Unicode 15).
  constexpr char32_t kEnd = 0x1f000;
  static const Cases cases = [] {
    std::map<char32_t, std::vector<char32_t>> by_folded;
    for (char32_t c = 0; c < kEnd; ++c) {
      const auto folded =
          static_cast<char32_t>(llvm::sys::unicode::foldCharSimple(static_cast<int>(c)));
      if (folded != c) by_folded[folded].push_back(c);
    }
    Cases found;
    for (auto& [folded, others] : by_folded) {
      others.push_back(folded);
      found.push_back(std::move(others));
    }
    return found;
  }();
  return cases;
}

}  // namespace

void CharacterSet::add(const CharacterSet& other) {
  ranges_.insert(ranges_.end(), other.ranges_.begin(), other.ranges_.end());
}

void CharacterSet::add_other_cases() {
  const std::vector<Range> before = ranges();
  const auto has = [&](char32_t c) {
    const auto after = std::ranges::upper_bound(before, c, {}, &Range::first);
    return after != before.begin() && c <= std::prev(after)->last;
  };
  for (const std::vector<char32_t>& cases : all_cases())
    if (std::ranges::any_of(cases, has))
      for (const char32_t c : cases) add(c, c);
}

std::vector<CharacterSet::Range> CharacterSet::ranges() const {
  std::vector<Range> sorted = ranges_, merged;
  std::ranges::sort(sorted, {}, &Range::first);
  for (const Range& range : sorted)
    if (!merged.empty() && range.first <= merged.back().last + 1)
      merged.back().last = std::max(merged.back().last, range.last);
    else
      merged.push_back(range);
  return merged;
}

CharacterSet CharacterSet::complement() const {
  CharacterSet result;
  char32_t next = 0;
  for (const Range& range : ranges()) {
    if (next < range.first) result.add(next, range.first - 1);
    next = range.last + 1;
  }
  if (next <= kLast) result.add(next, kLast);
  return result;
}

std::optional<CharacterSet> perl_class(char letter) {
  if (letter == 'd') return posix_class("digit");
  if (letter == 'w') return posix_class("word");
  if (letter == 's') return CharacterSet{{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}};
  return std::nullopt;
}

std::optional<CharacterSet> posix_class(std::string_view name) {
  static const std::map<std::string_view, CharacterSet> classes = {
      {"alnum", {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}},
      {"alpha", {{'A', 'Z'}, {'a', 'z'}}},
      {"ascii", {{0, 0x7f}}},
      {"blank", {{'\t', '\t'}, {' ', ' '}}},
      {"cntrl", {{0, 0x1f}, {0x7f, 0x7f}}},
      {"digit", {{'0', '9'}}},
      {"graph", {{'!', '~'}}},
      {"lower", {{'a', 'z'}}},
      {"print", {{' ', '~'}}},
      {"punct", {{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}}},
      {"space", {{'\t', '\r'}, {' ', ' '}}},
      {"upper", {{'A', 'Z'}}},
      {"word", {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}},
      {"xdigit", {{'0', '9'}, {'A', 'F'}, {'a', 'f'}}}};
  const auto found = classes.find(name);
  return found == classes.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace scopevm::compiler::frontend
