// Messages and checks of the command-line parser.
#pragma once

#include <CLI/CLI.hpp>
#include <charconv>
#include <limits>
#include <string>

#include "runtime/cpu/parallel.h"

namespace scopevm::tool {

// Accepts decimal integers of type T from `least` to `most`.
template <typename T>
CLI::Validator integer_in(T least, T most = std::numeric_limits<T>::max()) {
  return {[=](const std::string& text) {
            T value{};
            const char* const end = text.data() + text.size();
            const auto [stop, error] = std::from_chars(text.data(), end, value);
            if (error == std::errc() && stop == end && value >= least && value <= most)
              return std::string();
            return "\"" + text + "\": expected an integer from " + std::to_string(least) + " to " +
                   std::to_string(most);
          },
          ""};
}

// Accepts numbers of worker threads of a session.
inline CLI::Validator thread_count() { return integer_in(0, runtime::kMaxThreads); }

inline CLI::Validator not_empty() {
  return {[](const std::string& text) { return text.empty() ? "expected a name" : ""; }, ""};
}

inline CLI::Validator one_line() {
  return {[](const std::string& text) {
            return text.find_first_of("\r\n") == std::string::npos ? "" : "expected one line";
          },
          ""};
}

// Returns "unknown command "compil"; did you mean "compile"?".
std::string unknown_command(const CLI::App& app, const std::string& name);

// Makes a second occurrence of an option an error, unless the option is a list. Also applies to the
// commands of a group.
void reject_repeated_options(CLI::App& command);

// The message for an error of the parser. `app` is the whole command line.
std::string usage_message(const CLI::App* app, const CLI::Error& error);

}  // namespace scopevm::tool
