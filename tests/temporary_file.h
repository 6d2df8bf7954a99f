// TemporaryFile: a graph in MLIR assembly as a file, for tests that compile by path.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace scopevm {

// The destructor removes the file. The name is unique among the files of all processes.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& text) {
    static int count = 0;
    path_ = std::filesystem::temp_directory_path() /
            ("scopevm-" + std::to_string(getpid()) + "-" + std::to_string(count++) + ".mlir");
    std::ofstream(path_) << text;
  }
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace scopevm
