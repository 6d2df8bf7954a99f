// Reads files that can be of any kind and can change: waits for no pipe and maps nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "llvm/Support/MemoryBuffer.h"

namespace scopevm::compiler::cache {

// An open regular file.
class File {
 public:
  // Empty if the file cannot be read, or is not a regular file.
  static std::optional<File> open(const std::string& path);
  File(File&& other) noexcept : descriptor_(other.descriptor_), size_(other.size_) {
    other.descriptor_ = -1;
  }
  File& operator=(File&&) = delete;
  ~File();

  // When the file was opened.
  size_t size() const { return size_; }
  // Reads the next bytes. Returns their number, which is less at the end of the file. Empty after
  // an error.
  std::optional<size_t> read(std::span<char> bytes) const;
  // The bytes from the current position to size(). Null if the file has another size now, after an
  // error, or if the memory is not sufficient.
  std::unique_ptr<llvm::WritableMemoryBuffer> read_rest(size_t position) const;

 private:
  File(int descriptor, size_t size) : descriptor_(descriptor), size_(size) {}

  int descriptor_;
  size_t size_;
};

}  // namespace scopevm::compiler::cache
