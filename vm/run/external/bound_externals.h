// The external functions of a session: created by the libraries of the session's options, destroyed
// at the end of the session.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "scopevm/c/external.h"
#include "scopevm/status.h"
#include "vm/format/schema/module_contents.h"

namespace scopevm::vm {

class BoundExternals {
 public:
  struct Function {
    const scopevm_external_library* library = nullptr;  // null for a kernel of an image
    void* function = nullptr;                           // what the library created; can be null
  };

  BoundExternals() = default;
  ~BoundExternals();
  BoundExternals(const BoundExternals&) = delete;
  BoundExternals& operator=(const BoundExternals&) = delete;

  // Checks the libraries and creates the module's external functions. The libraries must outlive
  // this object. Errors: kInvalidArgument (an invalid library, or two of one name), kUnsupported (a
  // library of another ABI version), kNotFound (no library of the name that the module requires),
  // and those of the libraries.
  Status create(const format::ModuleContents& contents,
                const std::vector<const scopevm_external_library*>& libraries);

  // REQUIRES: the kernel is an external function.
  const Function& function(uint32_t kernel) const { return functions_[kernel]; }
  // The most operands and results of an external function.
  size_t max_tensors() const { return max_tensors_; }

 private:
  std::vector<Function> functions_;  // by kernel
  size_t max_tensors_ = 0;
};

// The name of an external function in messages: `external function "f" of library "dnnl"`.
std::string external_text(const format::KernelDecl& kernel);

// Receives the message of a callback's error.
class ExternalMessage {
 public:
  char* text() { return text_; }
  static constexpr size_t size() { return sizeof text_; }
  // The status of a callback that returned `code`. A code that StatusCode lacks is kInternal. The
  // message can be unterminated.
  Status status(int code) const;

 private:
  char text_[512] = {};
};

}  // namespace scopevm::vm
