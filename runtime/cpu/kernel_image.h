// KernelImage: an ELF shared object in memory, loaded into the process.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "scopevm/status.h"

namespace scopevm::runtime {

class KernelImage {
 public:
  // `label` names the image in messages. Errors: kInvalidModel (the dynamic loader rejects the
  // image), kDevice (memfd_create or writing failed).
  static Result<KernelImage> load(std::span<const uint8_t> elf, const std::string& label);

  KernelImage(KernelImage&& other) noexcept;
  KernelImage& operator=(KernelImage&& other) noexcept;
  ~KernelImage();

  // Returns the address of an exported symbol, or null if there is none. The address is valid until
  // this object is destroyed.
  void* symbol(const std::string& name) const;

 private:
  KernelImage(void* handle, int file) : handle_(handle), file_(file) {}
  void* handle_ = nullptr;
  int file_ = -1;
};

}  // namespace scopevm::runtime
