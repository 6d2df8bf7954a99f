#include "compiler/import/ops/string/character_set.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include "compiler/import/ops/string/unicode_classes.h"
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

void add_runs(CharacterSet& set, std::string_view runs) {
  const char* at = runs.data();
  const char* const end = at + runs.size();
  const auto number = [&] {
    uint32_t value = 0;
    at = std::from_chars(at, end, value, 16).ptr;
    return static_cast<char32_t>(value);
  };
  const auto take = [&](char c) {
    const bool is_next = at != end && *at == c;
    if (is_next) ++at;
    return is_next && at != end;
  };
  char32_t last = 0;
  do {
    const char32_t first = last + number(), count = take(':') ? number() : 1;
    const char32_t step = take(':') ? number() : 1;
    last = first + (count - 1) * step;
    if (step == 1)
      set.add(first, last);
    else
      for (char32_t c = first; c <= last; c += step) set.add(c, c);
  } while (take(' '));
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

std::optional<CharacterSet> unicode_class(std::string_view text, bool ignores_case) {
  std::string_view name = text.substr(2);
  if (name.size() > 1 && name.ends_with('}')) name = name.substr(1, name.size() - 2);
  const bool has_caret = name.starts_with('^');
  if (has_caret) name.remove_prefix(1);
  CharacterSet set;
  if (name == "Any") set.add(0, kLast);
  // A letter denotes the union of the categories that start with it.
  for (size_t i = 0; i < kUnicodeClassCount; ++i) {
    const UnicodeClass& row = kUnicodeClasses[i];
    if (row.name == name || (name.size() == 1 && row.name.size() == 2 && row.name[0] == name[0]))
      add_runs(set, row.runs);
  }
  if (set.ranges().empty()) return std::nullopt;
  if (ignores_case) set.add_other_cases();
  return has_caret != (text[1] == 'P') ? set.complement() : set;
}

}  // namespace scopevm::compiler::frontend
