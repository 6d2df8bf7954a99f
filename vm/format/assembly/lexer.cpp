// The lexer of assembly; see lexer.h.
#include "vm/format/assembly/lexer.h"

#include <algorithm>

#include "vm/format/assembly/spelling.h"

namespace scopevm::format::assembly {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

Token error(Token token, std::string what) {
  token.kind = Token::Kind::kError;
  token.text = std::move(what);
  return token;
}

}  // namespace

void Lexer::skip_space() {
  while (at_ < text_.size()) {
    char c = text_[at_];
    if (c == ';')
      at_ = std::min(text_.find('\n', at_), text_.size());
    else if (c == ' ' || c == '\n' || c == '\t' || c == '\r')
      ++at_;
    else
      return;
  }
}

std::string_view Lexer::take_while(bool (*belongs)(char)) {
  size_t start = at_;
  while (at_ < text_.size() && belongs(text_[at_])) ++at_;
  return text_.substr(start, at_ - start);
}

// Reads the fraction and exponent of a real number (".5", "e-06"). Returns "" for an integer.
std::string Lexer::fraction_and_exponent() {
  const auto at = [&](size_t index) { return index < text_.size() ? text_[index] : '\0'; };
  std::string text;
  // A period that is not followed by a digit is punctuation.
  if (at(at_) == '.' && is_digit(at(at_ + 1))) {
    ++at_;
    text += '.' + std::string(take_while(is_digit));
  }
  const bool has_sign = at(at_ + 1) == '-' || at(at_ + 1) == '+';
  if (at(at_) == 'e' && is_digit(at(at_ + 1 + has_sign))) {
    text += text_.substr(at_, 1 + has_sign);
    at_ += 1 + has_sign;
    text += take_while(is_digit);
  }
  return text;
}

Token Lexer::string(Token token) {
  token.kind = Token::Kind::kString;
  for (++at_; at_ < text_.size(); ++at_) {
    char c = text_[at_];
    if (c == '"') {
      ++at_;
      return token;
    }
    if (c == '\n') break;
    if (c != '\\') {
      token.text += c;
      continue;
    }
    char escape = at_ + 1 < text_.size() ? text_[++at_] : '\n';
    if (escape == '"' || escape == '\\') {
      token.text += escape;
    } else if (escape == 'n') {
      token.text += '\n';
    } else if (escape == 'x' && at_ + 2 < text_.size() && hex_value(text_[at_ + 1]) >= 0 &&
               hex_value(text_[at_ + 2]) >= 0) {
      token.text += static_cast<char>(hex_value(text_[at_ + 1]) * 16 + hex_value(text_[at_ + 2]));
      at_ += 2;
    } else {
      return error(std::move(token),
                   "unknown escape in a string: expected \\\", \\\\, \\n or \\xHH");
    }
  }
  return error(std::move(token), "unterminated string");
}

Token Lexer::next() {
  skip_space();
  Token token;
  token.offset = at_;
  if (at_ >= text_.size()) return token;
  char c = text_[at_];
  if (c == '"') return string(std::move(token));
  if (is_name_start(c)) {
    token.kind = Token::Kind::kName;
    token.text = take_while(is_name_part);
    return token;
  }
  if (is_digit(c) || c == '-') {
    token.kind = Token::Kind::kNumber;
    if (c == '-') ++at_;
    token.text = (c == '-' ? "-" : "") + std::string(take_while(is_digit));
    token.text += fraction_and_exponent();
    return token;
  }
  if (c == '%') {
    token.kind = Token::Kind::kRegister;
    ++at_;
    if (at_ < text_.size() && text_[at_] == 'r') ++at_;
    token.text = take_while(is_digit);
    if (token.text.empty()) return error(std::move(token), "expected a register, like %r3");
    return token;
  }
  ++at_;
  if (std::string_view("{}()[],=:@#!.").find(c) == std::string_view::npos)
    return error(std::move(token), "unexpected character");
  token.kind = Token::Kind::kPunctuation;
  token.text = c;
  return token;
}

bool Lexer::read_base64(std::vector<uint8_t>& bytes, Token& token) {
  size_t bad_at = 0;
  size_t length = parse_base64(text_.substr(at_), bytes, bad_at);
  if (length == std::string_view::npos) {
    token.offset = at_ + bad_at;
    token = error(std::move(token), "invalid base64 data");
    return false;
  }
  at_ += length;
  return true;
}

std::string Lexer::line_and_column(size_t offset) const {
  std::string_view before = text_.substr(0, offset);
  size_t line = 1 + static_cast<size_t>(std::ranges::count(before, '\n'));
  size_t newline = before.rfind('\n');
  size_t column = newline == std::string_view::npos ? offset + 1 : offset - newline;
  return std::to_string(line) + ":" + std::to_string(column);
}

}  // namespace scopevm::format::assembly
