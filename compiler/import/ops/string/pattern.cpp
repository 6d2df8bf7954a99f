// A recursive-descent parser. Where RE2's documentation is not precise, it follows re2/parse.cc.
#include "compiler/import/ops/string/pattern.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "runtime/quoted.h"
#include "runtime/string/utf8.h"

namespace scopevm::compiler::frontend {
namespace {

constexpr int kMostRepeats = 1000;  // as in RE2
constexpr int kDeepest = 200;
constexpr size_t kMostBytes = 1 << 16;
constexpr char32_t kNone = 0xffffffff;

bool is_digit(char c, int base = 10) { return c >= '0' && c < '0' + base; }
bool is_alphanumeric(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

Pattern characters(CharacterSet set) {
  return {.kind = Pattern::Kind::kCharacter, .characters = std::move(set)};
}

Pattern assertion(Assertion condition) {
  return {.kind = Pattern::Kind::kAssertion, .assertion = condition};
}

// The parts in order, or the only one.
Pattern combined(Pattern::Kind kind, std::vector<Pattern> parts) {
  if (parts.size() == 1) return std::move(parts.front());
  return {.kind = kind, .parts = std::move(parts)};
}

struct Repeat {
  int least = 0;
  int most = 0;  // negative without a limit
};

Pattern repetition(Pattern part, Repeat repeat) {
  if (repeat.most == 0 || part.is_empty()) return {};
  std::vector<Pattern> parts;
  parts.push_back(std::move(part));
  return {.kind = Pattern::Kind::kRepeat,
          .parts = std::move(parts),
          .least = repeat.least,
          .most = repeat.most};
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<Pattern> run() {
    for (std::string_view rest = text_; !rest.empty();) {
      const size_t bytes = runtime::decode_utf8(rest).bytes;
      if (bytes == 0) return Status(StatusCode::kInvalidModel, "the pattern is not valid UTF-8");
      rest.remove_prefix(bytes);
    }
    Pattern result = choice();
    if (!at_end()) fail("a closing parenthesis without an opening one", text_.substr(at_));
    if (!status_.ok()) return status_;
    return result;
  }

 private:
  // The flags i, m and s. The flag U, which swaps greedy and lazy repetitions, has no effect.
  struct Flags {
    bool ignores_case = false;
    bool is_multiline = false;
    bool dot_is_any = false;
  };
  bool at_end() const { return at_ >= text_.size() || !status_.ok(); }
  char peek() const { return at_end() ? '\0' : text_[at_]; }
  bool has(std::string_view next) const { return !at_end() && text_.substr(at_).starts_with(next); }
  bool take(std::string_view next) {
    if (!has(next)) return false;
    at_ += next.size();
    return true;
  }
  char32_t take_character() {
    const auto [c, bytes] = runtime::decode_utf8(text_.substr(at_));
    at_ += bytes;
    return c;
  }
  std::string_view since(size_t begin) const { return text_.substr(begin, at_ - begin); }

  Pattern fail(std::string_view what, std::string_view part,
               StatusCode code = StatusCode::kInvalidModel);

  Pattern choice();
  Pattern sequence();
  Pattern repeated();
  std::optional<Repeat> take_repeat();
  std::optional<Repeat> take_counts();
  std::optional<int> take_number();
  bool take_flags(bool& is_group);
  void skip_marks();
  Pattern atom();
  Pattern group();
  bool take_name();
  Pattern escape();
  CharacterSet character_class();
  std::optional<CharacterSet> take_named_class();
  void add_range(CharacterSet& set);
  char32_t class_character();
  char32_t escaped_character();
  char32_t hex_character();

  CharacterSet with_cases(CharacterSet set) const {
    if (flags_.ignores_case) set.add_other_cases();
    return set;
  }

  std::string_view text_;
  size_t at_ = 0;
  Flags flags_;
  bool is_quoted_ = false;  // after \Q
  int depth_ = 0, repeated_repeats_ = 0;
  std::set<std::string_view> names_;
  Status status_;
};

Pattern Parser::fail(std::string_view what, std::string_view part, StatusCode code) {
  constexpr size_t kShown = 40;
  if (!status_.ok()) return {};
  size_t size = std::min(part.size(), kShown);
  while (size > 0 && size < part.size() && (static_cast<uint8_t>(part[size]) & 0xc0) == 0x80)
    --size;
  std::string shown(part.substr(0, size));
  if (size < part.size()) shown += "...";
  status_ = Status(code, "the pattern has " + std::string(what) + ": " + runtime::quoted(shown));
  return {};
}

Pattern Parser::choice() {
  std::vector<Pattern> parts;
  do parts.push_back(sequence());
  while (take("|"));
  return combined(Pattern::Kind::kChoice, std::move(parts));
}

Pattern Parser::sequence() {
  std::vector<Pattern> parts;
  for (skip_marks(); !at_end(); skip_marks()) {
    if (!is_quoted_ && (peek() == '|' || peek() == ')')) break;
    Pattern part = repeated();
    if (!part.is_empty()) parts.push_back(std::move(part));
  }
  return combined(Pattern::Kind::kSequence, std::move(parts));
}

// Skips \Q, \E after it, and flags for the rest of the group.
void Parser::skip_marks() {
  for (bool is_changed = true; is_changed;) {
    is_changed = take(is_quoted_ ? "\\E" : "\\Q");
    if (is_changed) is_quoted_ = !is_quoted_;
    const size_t begin = at_;
    const Flags before = flags_;
    bool is_group = false;
    if (!is_quoted_ && take("(?") && take_flags(is_group) && !is_group) {
      is_changed = true;
    } else {
      at_ = begin;
      flags_ = before;
    }
  }
}

Pattern Parser::repeated() {
  const size_t begin = at_;
  if (!is_quoted_ && take_repeat()) return fail("a repetition of nothing", since(begin));
  Pattern part = atom();
  // Flags can follow a repetition, and another repetition can follow the flags.
  for (skip_marks(); !is_quoted_ && !at_end(); skip_marks()) {
    const size_t first = at_;
    const std::optional<Repeat> repeat = take_repeat();
    if (!repeat) break;
    take("?");  // lazy
    if (take_repeat()) return fail("a repetition of a repetition", since(first));
    if (part.kind == Pattern::Kind::kRepeat && ++repeated_repeats_ > kDeepest)
      return fail("more than 200 nested repetitions", since(begin), StatusCode::kUnsupported);
    part = repetition(std::move(part), *repeat);
  }
  return part;
}

std::optional<Repeat> Parser::take_repeat() {
  if (take("*")) return Repeat{0, -1};
  if (take("+")) return Repeat{1, -1};
  if (take("?")) return Repeat{0, 1};
  const size_t begin = at_;
  const std::optional<Repeat> repeat = take_counts();
  if (!repeat) {
    at_ = begin;  // the brace is a character
    return std::nullopt;
  }
  if (repeat->least > kMostRepeats || repeat->most > kMostRepeats ||
      (repeat->most >= 0 && repeat->most < repeat->least))
    fail("an invalid number of repetitions", since(begin));
  return repeat;
}

// {n}, {n,} or {n,m}.
std::optional<Repeat> Parser::take_counts() {
  if (!take("{")) return std::nullopt;
  const std::optional<int> least = take_number();
  if (!least) return std::nullopt;
  std::optional<int> most = least;
  if (take(",")) {
    most = -1;
    if (peek() != '}') most = take_number();
  }
  if (!most || !take("}")) return std::nullopt;
  return Repeat{*least, *most};
}

// Without leading zeros, of at most 9 digits.
std::optional<int> Parser::take_number() {
  const size_t begin = at_;
  while (is_digit(peek())) ++at_;
  const std::string digits(since(begin));
  if (digits.empty() || digits.size() > 9 || (digits.size() > 1 && digits.front() == '0'))
    return std::nullopt;
  return std::stoi(digits);
}

// The flags after "(?", for example "i-m:", with the colon or parenthesis after them. Sets the
// flags; `is_group` is true after a colon.
bool Parser::take_flags(bool& is_group) {
  bool value = true, has_any = true;
  while (!at_end()) {
    const char c = text_[at_++];
    if (c == '-' && value) {
      value = has_any = false;
      continue;
    }
    is_group = c == ':';
    if (c == ':' || c == ')') return has_any;
    if (c == 'i')
      flags_.ignores_case = value;
    else if (c == 'm')
      flags_.is_multiline = value;
    else if (c == 's')
      flags_.dot_is_any = value;
    else if (c != 'U')
      return false;
    has_any = true;
  }
  return false;
}

Pattern Parser::atom() {
  if (is_quoted_) {
    const char32_t c = take_character();
    return characters(with_cases({{c, c}}));
  }
  switch (peek()) {
    case '(':
      return group();
    case '[':
      return characters(character_class());
    case '\\':
      return escape();
    case '.':
      ++at_;
      return characters(flags_.dot_is_any ? CharacterSet{{0, 0x10ffff}}
                                          : CharacterSet{{'\n', '\n'}}.complement());
    case '^':
      ++at_;
      return assertion(flags_.is_multiline ? Assertion::kBeginLine : Assertion::kBeginText);
    case '$':
      ++at_;
      return assertion(flags_.is_multiline ? Assertion::kEndLine : Assertion::kEndText);
    default: {
      const char32_t c = take_character();
      return characters(with_cases({{c, c}}));
    }
  }
}

Pattern Parser::group() {
  const size_t begin = at_++;
  const Flags before = flags_;
  bool is_group = true;
  if (++depth_ > kDeepest)
    return fail("more than 200 nested groups", text_.substr(begin), StatusCode::kUnsupported);
  if (take("?P<") || (!has("?<=") && !has("?<!") && take("?<"))) {
    if (!take_name()) return fail("an invalid or repeated group name", since(begin));
  } else if (take("?") && !take_flags(is_group)) {
    return fail("an unknown kind of group", since(begin));
  }
  Pattern result = choice();
  if (!take(")")) return fail("an opening parenthesis without a closing one", text_.substr(begin));
  --depth_;
  flags_ = before;
  return result;
}

// A name of a group that is not yet taken, with the ">" after it.
bool Parser::take_name() {
  const size_t begin = at_;
  while (is_alphanumeric(peek()) || peek() == '_') ++at_;
  return !since(begin).empty() && names_.insert(since(begin)).second && take(">");
}

Pattern Parser::escape() {
  const size_t begin = at_;
  if (take("\\A")) return assertion(Assertion::kBeginText);
  if (take("\\z")) return assertion(Assertion::kEndText);
  if (take("\\b")) return assertion(Assertion::kWordBoundary);
  if (take("\\B")) return assertion(Assertion::kNoWordBoundary);
  if (take("\\C")) return {.kind = Pattern::Kind::kByte};
  if (const std::optional<CharacterSet> named = take_named_class()) return characters(*named);
  at_ = begin;
  const char32_t c = escaped_character();
  if (c == kNone) return {};
  return characters(with_cases({{c, c}}));
}

// \d, \D and the like, or [:name:] and [:^name:] in a class. The other cases of the characters are
// in the set before it is complemented.
std::optional<CharacterSet> Parser::take_named_class() {
  const size_t begin = at_;
  if (has("\\p") || has("\\P")) {
    at_ += 2;
    if (take("{"))
      while (!at_end() && !take("}")) take_character();
    else if (!at_end())
      take_character();
    const std::optional<CharacterSet> set = unicode_class(since(begin), flags_.ignores_case);
    if (!set) fail("an unknown class of Unicode characters", since(begin));
    return set.value_or(CharacterSet());
  }
  if (take("\\")) {
    const char letter = peek();
    const bool is_negated = letter == 'D' || letter == 'S' || letter == 'W';
    const std::optional<CharacterSet> set =
        perl_class(is_negated ? static_cast<char>(letter - 'A' + 'a') : letter);
    at_ = set ? at_ + 1 : begin;
    if (!set) return std::nullopt;
    return is_negated ? with_cases(*set).complement() : with_cases(*set);
  }
  const size_t end = has("[:") ? text_.find(":]", at_ + 2) : std::string_view::npos;
  if (end == std::string_view::npos) return std::nullopt;
  at_ += 2;
  const bool is_negated = take("^");
  const std::optional<CharacterSet> set = posix_class(text_.substr(at_, end - at_));
  at_ = end + 2;
  if (!set) fail("an unknown class", since(begin));
  if (!set) return CharacterSet();
  return is_negated ? with_cases(*set).complement() : with_cases(*set);
}

CharacterSet Parser::character_class() {
  const size_t begin = at_++;
  const bool is_negated = take("^");
  CharacterSet set;
  // A bracket that is the first character is an element.
  for (bool is_first = true; is_first || peek() != ']'; is_first = false) {
    if (at_end()) {
      fail("a class without a closing bracket", text_.substr(begin));
      return {};
    }
    if (const std::optional<CharacterSet> named = take_named_class())
      set.add(*named);
    else
      add_range(set);
  }
  ++at_;
  return is_negated ? set.complement() : set;
}

void Parser::add_range(CharacterSet& set) {
  const size_t begin = at_;
  const char32_t first = class_character();
  char32_t last = first;
  if (has("-") && !has("-]") && at_ + 1 < text_.size()) {
    ++at_;
    last = class_character();
    if (last < first) fail("an invalid range", since(begin));
  }
  if (status_.ok()) set.add(with_cases({{first, last}}));
}

char32_t Parser::class_character() {
  if (at_end()) return kNone;
  return peek() == '\\' ? escaped_character() : take_character();
}

// A backslash and what it escapes.
char32_t Parser::escaped_character() {
  const size_t begin = at_++;
  const char c = peek();
  if (at_end()) {
    fail("a backslash at its end", since(begin));
    return kNone;
  }
  const char32_t next = take_character();
  if (next < 0x80 && !is_alphanumeric(c)) return next;
  constexpr std::string_view kLetters = "aftnrv", kCharacters = "\a\f\t\n\r\v";
  if (const size_t found = kLetters.find(c); next < 0x80 && found != std::string_view::npos)
    return static_cast<char32_t>(kCharacters[found]);
  // Octal. A single digit other than 0 would be a reference to a group.
  if (c == '0' || (is_digit(c, 8) && is_digit(peek(), 8))) {
    auto value = static_cast<char32_t>(c - '0');
    for (int i = 0; i < 2 && is_digit(peek(), 8); ++i)
      value = 8 * value + static_cast<char32_t>(text_[at_++] - '0');
    return value;
  }
  if (c == 'x')
    if (const char32_t value = hex_character(); value != kNone) return value;
  fail("an escape sequence that RE2 does not define", since(begin));
  return kNone;
}

// Two hexadecimal digits, or any number of them in braces.
char32_t Parser::hex_character() {
  const bool has_brace = take("{");
  char32_t value = 0;
  int count = 0;
  for (; hex_value(peek()) >= 0 && (has_brace || count < 2); ++count) {
    value = 16 * value + static_cast<char32_t>(hex_value(text_[at_++]));
    if (value > 0x10ffff) return kNone;
  }
  if (has_brace ? count == 0 || !take("}") : count < 2) return kNone;
  return value;
}

}  // namespace

Result<Pattern> parse_pattern(std::string_view text) {
  if (text.size() > kMostBytes)
    return Status(StatusCode::kUnsupported, "the pattern has more than 65536 bytes");
  return Parser(text).run();
}

}  // namespace scopevm::compiler::frontend
