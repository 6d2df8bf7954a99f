// The text form cut into tokens, with places for messages. Comments go from ';' to the line's end.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace scopevm::format::text {

struct Token {
  enum class Kind : uint8_t {
    kEnd,          // of the text
    kName,         // a plain name: word, opcode, label, s12
    kString,       // "quoted"; `text` is what it means
    kNumber,       // digits, maybe after '-'; as in 2.5e-06
    kRegister,     // %r12; `text` is the digits
    kPunctuation,  // one of { } ( ) [ ] , = : @ # ! and .
    kError,        // `text` says what is wrong
  };

  Kind kind = Kind::kEnd;
  std::string text;
  size_t offset = 0;  // in the text
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Token next();
  // Base64 up to '}', which is left to be the next token. False: the token says what is wrong.
  bool read_base64(std::vector<uint8_t>& bytes, Token& error);

  // "12:7" of an offset.
  std::string line_and_column(size_t offset) const;

 private:
  void skip_space();
  Token string(Token token);
  std::string fraction_and_exponent();
  std::string_view take_while(bool (*belongs)(char));

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace scopevm::format::text
