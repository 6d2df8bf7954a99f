// Truncates expressions for messages.
#include "compiler/shapes/dim_text.h"

#include "compiler/shapes/polynomial.h"

namespace scopevm::compiler {

// Larger expressions are not printed: a shared operand is printed once per occurrence, so the
// string can be exponentially long.
constexpr size_t kLargestPrinted = 4096;  // nodes

std::string short_text(DimExpr e, size_t longest) {
  if (dims::tree_size(e) > kLargestPrinted) return "an expression too long to print...";
  return cut_text(e.str(), longest);
}

std::string cut_text(std::string text, size_t longest) {
  constexpr char kRest[] = "...";
  constexpr size_t kRestSize = sizeof kRest - 1;
  if (text.size() <= longest || longest < kRestSize) return text;
  size_t end = longest - kRestSize;
  // Continuation bytes of UTF-8: the cut must not divide a character of a name.
  auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; };
  while (end > 0 && continues(text[end])) --end;
  return text.substr(0, end) + kRest;
}

}  // namespace scopevm::compiler
