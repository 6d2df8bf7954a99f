// The files of a model repository:
//
//   NAME/VERSION/module.bc    a module, or model.onnx, which is compiled
//   NAME/config.json          optional: model_config.h
//   NAME.bc, NAME.onnx        a model with the only version 1, if there is no version in a folder
//
// Names that begin with a dot are ignored, so that a folder can be filled under such a name and
// then be renamed.
#pragma once

#include <compare>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "scopevm/status.h"

namespace scopevm::serve {

// What changes when a file is replaced.
struct FileStamp {
  std::filesystem::path path;
  int64_t modified_ns = 0;
  uint64_t bytes = 0;
  uint64_t inode = 0;
  auto operator<=>(const FileStamp&) const = default;
};

struct FoundModel {
  std::map<int64_t, FileStamp> versions;  // the module or model of each
  FileStamp config;                       // an empty path: none
  auto operator<=>(const FoundModel&) const = default;
};

// Whether a name can be one of a model: not empty, without '/', and not beginning with a dot.
bool is_model_name(const std::string& name);

// The models of a folder by name. Errors: kNotFound (the folder cannot be read).
Result<std::map<std::string, FoundModel>> scan_repository(const std::filesystem::path& folder);

}  // namespace scopevm::serve
