// Backend: the compiler's part of the support for one kind of device. CodeGenerator: how kernels
// for that kind become an image of the module.
//
// The other part is the runtime's: a DeviceDriver of the same kind (runtime/device/driver.h), whose
// devices load the image. docs/adding-a-device.md lists the files of a back end.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "compiler/kernels/target/target.h"
#include "compiler/machine/device_kind.h"
#include "compiler/program.h"
#include "mlir/IR/BuiltinOps.h"
#include "scopevm/status.h"

namespace llvm {
class Module;
}

namespace scopevm::compiler::codegen {

// Kernels in the form that devices of one kind load.
struct Image {
  std::vector<std::string> features;  // that the host's CPU must have, as /proc/cpuinfo names them
  std::vector<uint8_t> bytes;         // not empty
};

struct ImageRequest {
  mlir::ModuleOp kernels;            // the generator may change it
  const std::vector<Kernel>& table;  // the functions of `kernels` that are launched; each once
  const kernels::Target& target;     // what `kernels` was made for
  int threads = 1;                   // that may work at once; the image does not depend on it
  // Adds the shape functions to the module. Empty for all kinds but the host's.
  std::function<void(llvm::Module&)> add_functions;
  std::function<void(int64_t done, int64_t total)> progress;  // may be empty
  std::function<void(const std::string& text)> dump;  // of --dump-after=codegen; may be empty
};

class CodeGenerator {
 public:
  virtual ~CodeGenerator() = default;

  // What kernels are compiled for: one image for each target, at least one. `devices`: those of the
  // kind in the machine. `required`: what the command line says in place of the descriptions, as
  // --target-cpu does for the host. Errors: kInvalidArgument for names that are not known.
  virtual Result<std::vector<kernels::Target>> targets(
      std::span<const DeviceDecl> devices, const std::vector<std::string>& required) const = 0;

  // Equal requests give equal images. Errors: kUnsupported for an operation that devices of the
  // kind cannot run.
  virtual Result<Image> make_image(const ImageRequest& request) const = 0;
};

class Backend : public DeviceKind {
 public:
  // Null for a kind whose devices are only described.
  virtual const CodeGenerator* generator() const = 0;
  bool has_kernels() const final { return generator() != nullptr; }
};

}  // namespace scopevm::compiler::codegen
