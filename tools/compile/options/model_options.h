// The options of `compile` and `explain` that describe a model and how to compile it. An option is
// a member of CompileOptions and a declaration in model_options.cpp
// (docs/adding-a-compile-option.md).
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "scopevm/compiler.h"
#include "tools/compile/tuning/tuning.h"

namespace scopevm::tool {

struct ModelOptions {
  CompileOptions compile;                       // the values that need no further reading
  std::vector<std::string> dims;                // see add_dim_bounds()
  std::string machine;                          // path; empty: one CPU
  std::vector<std::string> external_libraries;  // names or paths of plug-ins
  std::string external_functions;               // a file of declarations; empty: none
  TuneOptions tune;
};

// Each function declares some of the options, in the order of the command's help.
void add_model(CLI::App& command, ModelOptions& options);
void add_dims(CLI::App& command, ModelOptions& options);    // --dim and --keep-output
void add_places(CLI::App& command, ModelOptions& options);  // --machine and --place
// --external, --external-functions and --tune. `description` is that of --external.
void add_external(CLI::App& command, ModelOptions& options, const std::string& description);
CLI::Option* add_inline_limit(CLI::App& command, ModelOptions& options,
                              const std::string& description);
// --reorder, --image-layout and --fast-conv.
void add_order_and_layout(CLI::App& command, ModelOptions& options);

// Reads the files and libraries that the options name into `compile`. Errors: kNotFound (no such
// file), and those of ExternalLibrary::load().
Status read_model_options(const ModelOptions& options, CompileOptions& compile);

}  // namespace scopevm::tool
