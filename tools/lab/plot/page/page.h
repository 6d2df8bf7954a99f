// The page of `alloc plot`: page.html with its style, script and data inserted.
#pragma once

#include <string>

namespace scopevm::lab {

// `data` is the JSON of page_data().
std::string html_page(const std::string& data);

}  // namespace scopevm::lab
