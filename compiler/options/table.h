// The table of the compile options with a name. A row declares an option for the command line, the
// C API and the key of the cache; docs/adding-a-compile-option.md describes how to add one.
//   table.cpp       the rows
//   rows.h          the kinds of rows
//   dim_bounds.cpp  the values of "dim" and "variant"
//   named.cpp       scopevm/compile_options.h: sets options by name
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "scopevm/compile_options.h"
#include "scopevm/compiler.h"

namespace scopevm::compiler::options {

// What a row sets.
struct Target {
  CompileOptions& compile;
  std::vector<std::string>& dims;      // the values of "dim"
  std::vector<std::string>& variants;  // the values of "variant"
  Status& bounds;                      // the error of the combined values
};

// A value that is set. For a file, the contents. An empty value resets a text, a list or a file.
struct Value {
  std::string text;
  std::string file;  // the name of the file in messages
};

// A sequence of strings that identifies what was added to it.
class Key {
 public:
  // The length precedes the bytes, so that different sequences have different texts.
  void add(std::string_view part) {
    text_.append(std::to_string(part.size())).append(":").append(part);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

struct Row {
  NamedOption option;
  // Errors: kInvalidArgument. The message begins with the value.
  std::function<Status(const Target& target, const Value& value)> set;
  // Adds the value of the option. Empty if the module does not depend on it.
  std::function<void(const CompileOptions& options, Key& key)> add_to_key;
};

const std::vector<Row>& table();

// Adds the options with a name on which the module depends.
void add_to_key(const CompileOptions& options, Key& key);

}  // namespace scopevm::compiler::options
