// A folder with files like those of /proc and /sys.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace scopevm::runtime {

class SystemFiles : public testing::Test {
 protected:
  SystemFiles() {
    std::string name = (std::filesystem::temp_directory_path() / "scopevm-XXXXXX").string();
    root_ = mkdtemp(name.data());
  }
  ~SystemFiles() override { std::filesystem::remove_all(root_); }

  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }

  std::string root_;
};

}  // namespace scopevm::runtime
