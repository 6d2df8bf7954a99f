// The options of `compile` and `explain` that describe a model and how to compile it. The table of
// the compiler declares those with a name (scopevm/compile_options.h;
// docs/adding-a-compile-option.md). The others, for plug-ins and tuning, are declared here.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

#include "scopevm/compile_options.h"
#include "scopevm/compiler.h"
#include "tools/compile/tuning/tuning.h"

namespace scopevm::tool {

struct ModelOptions {
  std::string path;                                       // of the model
  std::map<std::string, std::vector<std::string>> named;  // values by the name of the option
  std::vector<std::string> external_libraries;            // names or paths of plug-ins
  TuneOptions tune;

  // The value of an option with at most one; empty if it is not given.
  std::string value(const std::string& name) const {
    const auto found = named.find(name);
    return found == named.end() ? "" : found->second.back();
  }
};

// Each function declares some of the options, in the order of the command's help.
void add_model(CLI::App& command, ModelOptions& options);
// Those with a name; for `explain`, those that it uses.
void add_named(CLI::App& command, ModelOptions& options, bool is_explain);
// --external and --tune. `description` is that of --external.
void add_external(CLI::App& command, ModelOptions& options, const std::string& description);

// Sets the options with a name except files. Errors: kInvalidArgument (a wrong usage): the message
// begins with the option.
Result<OptionSetter> parse_model_options(const ModelOptions& options);
// Reads the files and libraries that the options name. Errors: kNotFound (no such file), and those
// of ExternalLibrary::load().
Status read_model_options(const ModelOptions& options, OptionSetter& setter);

}  // namespace scopevm::tool
