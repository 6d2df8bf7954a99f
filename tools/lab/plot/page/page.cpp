// Inserts the data into the template; see page.h.
#include "tools/lab/plot/page/page.h"

#include <string_view>

// The contents of page.html, with page.css and page.js inserted by CMake.
extern const std::string_view kPageTemplate;

namespace scopevm::lab {

std::string html_page(const std::string& data) {
  constexpr std::string_view kMark = "@DATA@";
  const size_t mark = kPageTemplate.find(kMark);
  std::string page(kPageTemplate.substr(0, mark));
  // In a script element, "</" of a name would end the element. "<\/" is the same string in JSON.
  for (size_t i = 0; i < data.size(); ++i) {
    page += data[i];
    if (data[i] == '<') page += i + 1 < data.size() && data[i + 1] == '/' ? "\\" : "";
  }
  page += kPageTemplate.substr(mark + kMark.size());
  return page;
}

}  // namespace scopevm::lab
