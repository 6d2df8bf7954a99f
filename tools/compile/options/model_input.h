// The model of a command: a file, or stdin for "-".
#pragma once

#include <string>

#include "scopevm/status.h"

namespace scopevm::tool {

// Copies stdin to a memory file, because the compiler reads models by path.
class ModelInput {
 public:
  // Errors: kNotFound (stdin cannot be read), kResourceLimit (the system has no memory for it).
  static Result<ModelInput> open(const std::string& path);

  ModelInput(ModelInput&& other) noexcept;
  ModelInput& operator=(ModelInput&&) = delete;
  ~ModelInput();

  // The path for CompileOptions::model_path. Valid as long as this object.
  const std::string& path() const { return path_; }
  // Replaces the path of the memory file in a message.
  Status named(Status status) const;

 private:
  ModelInput(std::string path, int memory) : path_(std::move(path)), memory_(memory) {}

  std::string path_;
  int memory_;  // the descriptor of the memory file; -1: none
};

}  // namespace scopevm::tool
