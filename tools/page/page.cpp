// Inserts the data into a page; see page.h.
#include "tools/page/page.h"

namespace scopevm::tool {

std::string html_page(std::string_view page, std::string_view data) {
  constexpr std::string_view kMark = "@DATA@";
  const size_t mark = page.find(kMark);
  std::string filled(page.substr(0, mark));
  // In a script element, "</" of a name would end the element. "<\/" is the same string in JSON.
  for (size_t i = 0; i < data.size(); ++i) {
    filled += data[i];
    if (data[i] == '<') filled += i + 1 < data.size() && data[i + 1] == '/' ? "\\" : "";
  }
  filled += page.substr(mark + kMark.size());
  return filled;
}

}  // namespace scopevm::tool
