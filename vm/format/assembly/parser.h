// The parsing visitor of declarations.h, with one token of lookahead. After the first error the
// current token is the end of the input and every read returns a default value, so that loops
// terminate.
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
#include "vm/isa/field_values.h"

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

  // The visitor interface of declarations.h.
  void word(std::string_view word);
  void string(std::string& text);
  template <typename Number>
  void number(Number& value) {
    if (token_.kind != Token::Kind::kNumber) return fail_expected("a number");
    if (!parse_number(token_.text, value))
      return fail("number " + token_.text + " is out of range: expected an integer, at most " +
                  std::to_string(std::numeric_limits<Number>::max()));
    advance();
  }
  void slot(uint32_t& slot);
  void slots(std::vector<uint32_t>& slots) {
    if (is_punctuation('[')) list(slots, [this](uint32_t& value) { slot(value); });
  }
  void integer(isa::Int& value);
  void integers(std::vector<isa::Int>& values) {
    list(values, [this](isa::Int& value) { integer(value); });
  }
  void dtype(DType& dtype);
  template <typename Enum, size_t kCount>
  void choice(Enum& value, const std::string_view (&names)[kCount]) {
    for (size_t i = 0; i < kCount; ++i) {
      if (!accept_word(names[i])) continue;
      value = static_cast<Enum>(i);
      return;
    }
    std::string all;
    for (std::string_view name : names) all += (all.empty() ? "" : ", ") + std::string(name);
    fail_expected("one of " + all);
  }
  template <typename Enum, size_t kCount>
  void optional_choice(Enum& value, const std::string_view (&names)[kCount]) {
    for (size_t i = 1; i < kCount; ++i)
      if (accept_word(names[i])) value = static_cast<Enum>(i);
  }
  void flag(bool& value, std::string_view name) { value = accept_word(name); }
  template <typename Part, typename Visit>
  void optional_part(std::string_view name, std::optional<Part>& part, Visit visit) {
    if (accept_word(name)) visit(part.emplace());
  }
  template <typename Tensor>
  void tensor_types(std::vector<Tensor>& tensors) {
    list(tensors, [this](Tensor& tensor) {
      dtype(tensor.dtype);
      number(tensor.rank);
    });
  }
  void strings(std::vector<std::string>& values) {
    list(values, [this](std::string& value) { string(value); });
  }
  template <typename Number>
  void optional_number(std::string_view name, Number& value, std::type_identity_t<Number> = 0) {
    if (accept_word(name)) number(value);
  }
  void optional_real(std::string_view name, double& value);
  template <typename Number>
  void optional_numbers(std::string_view name, std::vector<Number>& values) {
    if (accept_word(name)) numbers(values);
  }
  template <typename Number>
  void numbers(std::vector<Number>& values) {
    list(values, [this](Number& value) { number(value); });
  }

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
