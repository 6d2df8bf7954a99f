// Standard output and standard error of the command. An output that is lost fails the command. A
// lost message does not: it could not be reported either.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <utility>

#include "scopevm/status.h"

namespace scopevm::tool {

// Opens the standard streams that the parent process closed, so that no other file gets their
// descriptors. Writing to a stream that was closed fails.
void open_standard_streams();

// Flushes stdout. Errors: kInvalidArgument (a byte was not written).
Status finish_output();

// Prints a message to stderr or another log. Unlike fmt::print(), ignores errors.
template <typename... Arguments>
void print_message(std::FILE* log, fmt::format_string<Arguments...> format,
                   Arguments&&... arguments) {
  const std::string text = fmt::format(format, std::forward<Arguments>(arguments)...);
  std::fwrite(text.data(), 1, text.size(), log);
}

}  // namespace scopevm::tool
