// Loads and reads the module of a command: a file, or stdin for "-". The error for a model says
// that it must be compiled first. A file of weights is searched in the folder of the module, and in
// the working directory if the module is read from stdin.
#pragma once

#include <optional>
#include <string>

#include "runtime/mapped_file.h"
#include "scopevm/module.h"
#include "scopevm/status.h"
#include "vm/format/binary/weights.h"
#include "vm/format/schema/module_contents.h"

namespace scopevm::tool {

// Errors: those of Module::load().
Result<Module> load_module(const std::string& path, const LoadOptions& options = {});

// A module that is read but not verified.
struct ReadModule {
  runtime::MappedFile file;
  format::ModuleContents contents;
  std::vector<format::WeightsFile> weights;  // the files that contain the constants, if any
};

// `needs_weights`: false if the constants need no bytes where the weights are in files of their
// own. Errors: those of map_input() and format::read_module().
Result<ReadModule> read_module_file(const std::string& path, bool needs_weights = true);

// A module that is loaded to run, and its contents, for commands that observe the run.
struct ObservedModule {
  Module module;
  format::ModuleContents contents;  // verified
  uint64_t digest = 0;              // of the file: format::module_digest()
};

// Errors: those of Module::load().
Result<ObservedModule> load_observed_module(const std::string& path);

}  // namespace scopevm::tool
