// HTML pages with data: `alloc plot` and `bench`.
#pragma once

#include <string>
#include <string_view>

namespace scopevm::tool {

// Inserts `data`, JSON, into a page that embed_page.cmake made.
std::string html_page(std::string_view page, std::string_view data);

}  // namespace scopevm::tool
