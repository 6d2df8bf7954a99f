/// @file
/// Compile options by name, with values as text. The command line and the C API have the same names
/// and values. One table in the compiler (compiler/options/table.cpp) declares the options.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "scopevm/c/export.h"
#include "scopevm/compiler.h"
#include "scopevm/status.h"

namespace scopevm {

/// An option with a name: a member of CompileOptions.
struct NamedOption {
  /// The form of the values.
  enum class Kind : uint8_t {
    kFlag,    ///< "true" or "false"
    kNumber,  ///< a decimal integer that is at least 0
    kText,    ///< any text
    kChoice,  ///< one of `choices`
    kFile,    ///< the path of a file, whose contents are read
    kList,    ///< any text; each value is added to the earlier ones
  };
  std::string name;                  ///< that of the command line without "--": "image-layout"
  Kind kind = Kind::kText;           ///< the form of its values
  std::string description;           ///< for the help of the command line
  std::string initial;               ///< the value before it is set; empty: none
  std::vector<std::string> choices;  ///< the values of a kChoice, else empty
  bool is_for_explain = true;        ///< explain() uses it, too
};

/// All options with a name, in the order of the command's help. Thread-safe.
SCOPEVM_API const std::vector<NamedOption>& named_options();

/// Sets members of CompileOptions by name. Thread-safety: an object is used by one thread at a
/// time.
class OptionSetter {
 public:
  /// The options. Members without a name can be changed directly. `dims` and `variants` are
  /// replaced when a value of the options "dim" or "variant" is set.
  CompileOptions compile;

  /// Sets an option, or adds a value to a list. Errors: kInvalidArgument (an unknown option: the
  /// message suggests the nearest name; or an invalid value), kNotFound (the file of a
  /// kFile cannot be read). The message does not contain the name of the option. The bounds of
  /// several values of "dim" and "variant" are combined; check() reports a contradiction. An empty
  /// value resets a text, a list or a file to its initial value. compile() checks the other values
  /// of "keep-output", "target-cpu" and "dump-after", the places of "place", and the files.
  SCOPEVM_API Status set(std::string_view name, std::string_view value);
  /// Sets an option of the kind kFile to the contents of a file. `file_name` is the name of the
  /// file in messages. Errors: kInvalidArgument.
  SCOPEVM_API Status set_contents(std::string_view name, std::string_view contents,
                                  std::string_view file_name);

  /// Errors: kInvalidArgument (no size satisfies all bounds of a dimension). The message begins
  /// with the name of the option. `compile` must then not be used.
  Status check() const { return bounds_; }

 private:
  std::vector<std::string> dims_;      // the values of "dim"
  std::vector<std::string> variants_;  // the values of "variant"
  Status bounds_;                      // of check()
};

}  // namespace scopevm
