// Loads an image with memfd_create and dlopen. dlopen identifies a library by its path, and the
// path contains the number of the file descriptor. The descriptor therefore remains open while the
// image is loaded: if it were closed, another image could get the same path.
#include "runtime/cpu/kernel_image.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "runtime/cpu/stop_check.h"
#include "runtime/write_all.h"
#include "scopevm/kernel_abi.h"

namespace scopevm::runtime {
Result<KernelImage> KernelImage::load(std::span<const uint8_t> elf, const std::string& label) {
  const int file = memfd_create("scopevm-kernels", MFD_CLOEXEC);
  if (file < 0)
    return Status(StatusCode::kDevice, label + ": memfd_create: " + std::strerror(errno));
  KernelImage image(nullptr, file);
  if (!write_all(file, elf))
    return Status(StatusCode::kDevice, label + ": writing the image: " + std::strerror(errno));
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  // RTLD_LOCAL, because images of different modules can define the same symbol.
  image.handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (image.handle_ == nullptr) {
    const char* reason = dlerror();
    return Status(StatusCode::kInvalidModel, label + ": " + (reason ? reason : "dlopen failed"));
  }
  if (void* const check = image.symbol(kStopCheckSymbol))
    *static_cast<StopCheck*>(check) = should_kernel_stop;
  return image;
}

KernelImage::KernelImage(KernelImage&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)), file_(std::exchange(other.file_, -1)) {}

KernelImage& KernelImage::operator=(KernelImage&& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(file_, other.file_);
  return *this;
}

KernelImage::~KernelImage() {
  if (handle_ != nullptr) dlclose(handle_);
  if (file_ >= 0) close(file_);
}

void* KernelImage::symbol(const std::string& name) const { return dlsym(handle_, name.c_str()); }

}  // namespace scopevm::runtime
