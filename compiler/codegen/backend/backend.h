// Backend: the compiler's support for one kind of device. It reads descriptions of the devices, and
// translates kernels to an image for them.
//
// The runtime's counterpart is a DeviceDriver of the same kind (runtime/device/driver.h), whose
// devices load the image. docs/adding-a-device.md lists the files of a back end.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "compiler/machine/device_kind.h"
#include "compiler/program/program.h"
#include "compiler/schedule/target.h"
#include "mlir/IR/BuiltinOps.h"
#include "scopevm/status.h"

namespace llvm {
class Module;
}

namespace scopevm::compiler::codegen {

// Kernels in the format that devices of one kind load.
struct Image {
  // CPU features that the host must have, as spelled in /proc/cpuinfo.
  std::vector<std::string> features;
  std::vector<uint8_t> bytes;  // not empty
};

struct ImageRequest {
  mlir::ModuleOp kernels;            // the generator may modify it
  const std::vector<Kernel>& table;  // the launched functions of `kernels`, each once
  const schedule::Target& target;    // the target that `kernels` was generated for
  int threads = 1;                   // most compiler threads; the image does not depend on it
  // Adds the shape functions to the module. Empty for every kind except the host's.
  std::function<void(llvm::Module&)> add_functions;
  std::function<void(int64_t done, int64_t total)> progress;  // may be empty
  std::function<void(const std::string& text)> dump;  // for --dump-after=codegen; may be empty
  std::stop_token stop_token;                         // of CompileOptions
};

class Backend : public DeviceKind {
 public:
  // The targets of a group of devices, at least one; each becomes one image. `devices`: devices of
  // this kind with the same Device::target, which is that of the first one. `required`: targets
  // from the command line that replace the described one (--target-cpu for the host). Errors:
  // kInvalidArgument for an unknown CPU or CPU feature.
  virtual Result<std::vector<schedule::Target>> targets(
      std::span<const Device> devices, const std::vector<std::string>& required) const = 0;

  // The calling convention of the kernels in the images; later releases have new numbers when they
  // change it.
  virtual uint32_t kernel_abi() const { return 1; }

  // Deterministic: equal requests give equal images. Errors: kUnsupported for an operation that
  // devices of the kind cannot run, kCancelled.
  virtual Result<Image> make_image(const ImageRequest& request) const = 0;
};

}  // namespace scopevm::compiler::codegen
