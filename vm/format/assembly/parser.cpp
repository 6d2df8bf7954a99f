// Parses the values of declarations; see parser.h.
#include "vm/format/assembly/parser.h"

#include "vm/format/assembly/spelling.h"

namespace scopevm::format::assembly {

void Parser::fail_at(size_t offset, const std::string& what) {
  if (has_failed()) return;
  status_ = Status(StatusCode::kInvalidModel,
                   file_name_ + ":" + lexer_.line_and_column(offset) + ": " + what);
  // An end token makes all parsing loops end at the first error.
  token_ = Token();
}

void Parser::fail_expected(std::string_view what) {
  std::string found = "the end of the file";
  if (token_.kind == Token::Kind::kString) {
    found.clear();
    append_quoted(found, token_.text);
  } else if (token_.kind == Token::Kind::kRegister) {
    found = "%r" + token_.text;
  } else if (token_.kind != Token::Kind::kEnd) {
    constexpr size_t kMost = 24;
    found = "'" + token_.text.substr(0, kMost) + (token_.text.size() > kMost ? "...'" : "'");
  }
  fail("expected " + std::string(what) + ", found " + found);
}

void Parser::advance() {
  if (has_failed()) return;
  token_ = lexer_.next();
  if (token_.kind == Token::Kind::kError) fail(std::string(token_.text));
}

bool Parser::accept_word(std::string_view word) {
  if (!is_word(word)) return false;
  advance();
  return true;
}

bool Parser::accept(char c) {
  if (!is_punctuation(c)) return false;
  advance();
  return true;
}

void Parser::expect(char c) {
  if (!accept(c)) fail_expected("'" + std::string(1, c) + "'");
}

std::string Parser::name() {
  std::string text = token_.text;
  if (token_.kind == Token::Kind::kName)
    advance();
  else
    fail_expected("a name");
  return text;
}

uint32_t Parser::register_index() {
  uint32_t index = 0;
  if (token_.kind != Token::Kind::kRegister || !parse_number(token_.text, index))
    fail_expected("a register, like %r3");
  else
    advance();
  return index;
}

std::vector<uint8_t> Parser::base64() {
  // The data after '{' is read as characters, because base64 does not consist of tokens.
  std::vector<uint8_t> bytes;
  if (!is_punctuation('{')) {
    fail_expected("'{'");
    return bytes;
  }
  Token error;
  if (!lexer_.read_base64(bytes, error)) {
    fail_at(error.offset, error.text);
    return bytes;
  }
  advance();
  expect('}');
  return bytes;
}

void Parser::word(std::string_view word) {
  if (!accept_word(word)) fail_expected("'" + std::string(word) + "'");
}

void Parser::value(std::string& text) {
  if (token_.kind != Token::Kind::kString) return fail_expected("a string in quotes");
  text = token_.text;
  advance();
}

void Parser::slot(uint32_t& slot) {
  std::string_view text = token_.text;
  if (token_.kind != Token::Kind::kName || text.front() != 's' ||
      !parse_number(text.substr(1), slot))
    return fail_expected("a slot, like s3");
  advance();
}

void Parser::value(isa::Int& value) {
  uint32_t number = 0;
  const size_t offset = token_.offset;
  const bool is_slot = token_.kind != Token::Kind::kNumber;
  if (is_slot)
    slot(number);
  else
    this->value(number);
  if (number > isa::Int::kMaxImmediate)
    fail_at(offset, std::string(is_slot ? "slot" : "immediate") +
                        " is out of range: expected at most 2147483647, given " +
                        std::to_string(number));
  else
    value = is_slot ? isa::Int::slot({number}) : isa::Int::immediate(number);
}

void Parser::value(double& value) {
  if (token_.kind != Token::Kind::kNumber || !parse_number(token_.text, value))
    return fail_expected("a number");
  advance();
}

void Parser::value(DType& dtype) {
  std::optional<DType> parsed = parse_dtype(token_.text);
  if (token_.kind != Token::Kind::kName || !parsed)
    return fail_expected("an element type, like f32");
  dtype = *parsed;
  advance();
}

}  // namespace scopevm::format::assembly
