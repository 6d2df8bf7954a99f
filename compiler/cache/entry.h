// A file of the cache: the size of the strings below, as 20 digits; their digest; strings with
// their lengths: the number of files with external data, the path and the digest of each; the
// number of warnings, each with a flag; the module.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scopevm/compiler.h"
#include "scopevm/status.h"

namespace scopevm::compiler::cache {

// The path of a file with external data.
std::string data_path(const std::string& data_file, const std::string& model_path);

// A file with external data, relative to the model's folder, and its digest.
struct DataFile {
  std::string path;
  std::string digest;
};
// Empty if a file cannot be read.
std::optional<std::vector<DataFile>> digest_all(const std::vector<std::string>& data_files,
                                                const std::string& model_path);

// The module and the warnings of a file. `model_path`: the name of the model in warnings. Empty if
// the file is missing, not regular or damaged, or if a file with external data has changed.
std::optional<CompileOutput> read_entry(const std::string& path, const std::string& model_path);

// Creates the folder, and replaces the file atomically. Errors: kInvalidArgument, also if there is
// a file of this name that is not a regular file.
Status write_entry(const std::string& path, const std::string& model_path,
                   const CompileOutput& output, const std::vector<DataFile>& data_files);

}  // namespace scopevm::compiler::cache
