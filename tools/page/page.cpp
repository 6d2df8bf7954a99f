// Inserts the data into a page; see page.h.
#include "tools/page/page.h"

namespace scopevm::tool {

std::string html_page(std::string_view page, std::string_view data) {
  constexpr std::string_view kMark = "@DATA@";
  const size_t mark = page.find(kMark);
  std::string filled(page.substr(0, mark));
  // In a script element, "</" and "<!--" of a name would have a meaning. This is the same string in
  // JSON.
  for (const char c : data)
    if (c == '<')
      filled += "\\u003c";
    else
      filled += c;
  filled += page.substr(mark + kMark.size());
  return filled;
}

}  // namespace scopevm::tool
