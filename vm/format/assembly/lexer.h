// Splits assembly into tokens with source locations. Comments extend from ';' to the end of the
// line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace scopevm::format::assembly {

struct Token {
  enum class Kind : uint8_t {
    kEnd,          // end of the input
    kName,         // unquoted: a word, an opcode, a label, a slot (s12)
    kString,       // "quoted"; `text` is the unescaped value
    kNumber,       // an integer or real number: -12, 2.5e-06
    kRegister,     // %r12; `text` has the digits only
    kPunctuation,  // one of { } ( ) [ ] , = : @ # ! and .
    kError,        // `text` is the error message
  };

  Kind kind = Kind::kEnd;
  std::string text;
  size_t offset = 0;  // in the input, in bytes
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Token next();
  // Reads base64 up to '}', which becomes the next token. On failure returns false and sets
  // `error`.
  bool read_base64(std::vector<uint8_t>& bytes, Token& error);

  // The location of an offset, as "12:7".
  std::string line_and_column(size_t offset) const;

 private:
  void skip_space();
  Token string(Token token);
  std::string fraction_and_exponent();
  std::string_view take_while(bool (*belongs)(char));

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace scopevm::format::assembly
