// Strings of C++ as arguments of the C API.
#pragma once

#include <cstring>
#include <string>
#include <string_view>

namespace scopevm::layer {

// A NUL-terminated copy of a short-lived string. Allocates no memory for fewer than 64 bytes.
class TextArgument {
 public:
  explicit TextArgument(std::string_view text) {
    if (text.size() >= sizeof small_) {
      large_ = text;
      return;
    }
    if (!text.empty()) std::memcpy(small_, text.data(), text.size());
    small_[text.size()] = 0;
  }
  const char* c_str() const { return large_.empty() ? small_ : large_.c_str(); }

 private:
  char small_[64];
  std::string large_;
};

}  // namespace scopevm::layer
