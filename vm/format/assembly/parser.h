// The visitor of vm/format/schema/records.h that parses assembly, with one token of lookahead. It
// parses the members of one record, except for its lists. After the first error the current token
// is the end of the input and every read returns a default value, so that loops terminate.
#pragma once

#include <charconv>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scopevm/dtype.h"
#include "scopevm/status.h"
#include "vm/format/assembly/lexer.h"
#include "vm/format/schema/records.h"

namespace scopevm::format::assembly {

class Parser {
 public:
  Parser(std::string_view text, std::string_view file_name) : lexer_(text), file_name_(file_name) {
    advance();
  }

  const Token& token() const { return token_; }
  bool has_failed() const { return !status_.ok(); }
  Status take_status() { return std::move(status_); }

  // Report an error at the current token or at an offset.
  void fail(const std::string& what) { fail_at(token_.offset, what); }
  void fail_at(size_t offset, const std::string& what);
  void fail_expected(std::string_view what);
  void advance();

  bool is_word(std::string_view word) const {
    return token_.kind == Token::Kind::kName && token_.text == word;
  }
  bool is_punctuation(char c) const {
    return token_.kind == Token::Kind::kPunctuation && token_.text[0] == c;
  }
  // accept() and accept_word() consume the token and return true if it matches. expect() fails if
  // it does not match.
  bool accept_word(std::string_view word);
  bool accept(char c);
  void expect(char c);

  // Parses an unquoted name.
  std::string name();
  // Converts `digits` to a number. Returns false if any character does not belong to the number, or
  // if the number is out of range.
  template <typename Number>
  bool parse_number(std::string_view digits, Number& value) {
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return error == std::errc() && end == digits.data() + digits.size();
  }
  uint32_t register_index();
  std::vector<uint8_t> base64();

  void word(std::string_view word);
  void slot(uint32_t& slot);
  void value(std::string& text);
  void value(isa::Int& value);
  void value(double& value);
  void value(DType& dtype);
  void value(ExternalTensor& tensor) {
    value(tensor.dtype);
    value(tensor.rank);
  }
  void value(std::integral auto& value) {
    if (token_.kind != Token::Kind::kNumber) return fail_expected("a number");
    if (!parse_number(token_.text, value))
      return fail("number " + token_.text + " is out of range: expected an integer, at most " +
                  std::to_string(std::numeric_limits<std::decay_t<decltype(value)>>::max()));
    advance();
  }
  template <Enumeration Enum>
  void value(Enum& value) {
    if (accept_enumerator(value, 0)) return;
    std::string all;
    for (std::string_view name : Enumerators<Enum>::kNames)
      all += (all.empty() ? "" : ", ") + std::string(name);
    fail_expected("one of " + all);
  }
  template <typename T>
  void value(std::vector<T>& values) {
    list(values, [this](T& element) { value(element); });
  }

  // The visitor interface.
  void bare(std::string_view, auto& value) { this->value(value); }
  void named(std::string_view name, auto& value) { named(name, value, name); }
  void named(std::string_view, auto& value, std::string_view word) {
    this->word(word);
    this->value(value);
  }
  template <typename T>
  void optional(std::string_view name, T& value, const std::type_identity_t<T>& usual = {}) {
    optional(name, value, usual, name);
  }
  template <typename T>
  void optional(std::string_view, T& value, const std::type_identity_t<T>&, std::string_view word) {
    if constexpr (Enumeration<T>) {
      accept_enumerator(value, 1);
    } else if constexpr (std::same_as<T, bool>) {
      value = accept_word(word);
    } else if (accept_word(word)) {
      this->value(value);
    }
  }
  template <typename Number>
  void limited(std::string_view name, Number& value, Range<Number>,
               const std::type_identity_t<Number>& = {}) {
    optional(name, value);
  }
  void slot(std::string_view, uint32_t& slot, std::string_view word = "") {
    if (!word.empty()) this->word(word);
    this->slot(slot);
  }
  void optional_slots(std::string_view, std::vector<uint32_t>& slots) {
    if (is_punctuation('[')) list(slots, [this](uint32_t& value) { slot(value); });
  }
  template <typename Record>
  void part(std::string_view name, std::optional<Record>& record) {
    if (accept_word(name)) visit(*this, record.emplace());
  }
  void size(std::string_view, auto&) {}
  void list(std::string_view, auto&, std::string_view) {}

  // Parses "(a, b)" or "[a, b]" and calls each() to parse every element.
  template <typename Each>
  void separated(char open, char close, Each each) {
    expect(open);
    if (accept(close)) return;
    do each();
    while (!has_failed() && accept(','));
    expect(close);
  }

 private:
  // Accepts the name of an enumerator whose number is at least `first`.
  template <Enumeration Enum>
  bool accept_enumerator(Enum& value, size_t first) {
    for (size_t i = first; i < std::size(Enumerators<Enum>::kNames); ++i) {
      if (!accept_word(Enumerators<Enum>::kNames[i])) continue;
      value = static_cast<Enum>(i);
      return true;
    }
    return false;
  }
  template <typename T, typename Each>
  void list(std::vector<T>& values, Each each) {
    values.clear();
    separated('[', ']', [&] { each(values.emplace_back()); });
  }

  Lexer lexer_;
  std::string file_name_;
  Token token_;
  Status status_;
};

}  // namespace scopevm::format::assembly
