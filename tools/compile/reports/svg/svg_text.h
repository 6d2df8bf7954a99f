// Names and colours in the reports of `explain`, most of them SVG drawings.
#pragma once

#include <string>

namespace scopevm::tool {

// The palette of Okabe and Ito (2008), for readers with colour vision deficiencies. The colours
// repeat if more than seven are needed.
inline constexpr const char* kColours[] = {"#56b4e9", "#e69f00", "#009e73", "#f0e442",
                                           "#cc79a7", "#0072b2", "#d55e00"};

// Escapes the characters that XML reserves.
inline std::string xml_escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else if (c == '"')
      out += "&quot;";
    else
      out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return out;
}

// The name, cut to `longest` bytes.
inline std::string label(const std::string& name, size_t longest = 22) {
  if (name.size() <= longest) return name;
  size_t end = longest;
  // Do not cut within a UTF-8 sequence.
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0) == 0x80) --end;
  return name.substr(0, end) + "...";
}

}  // namespace scopevm::tool
