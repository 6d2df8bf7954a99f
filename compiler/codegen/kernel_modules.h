// KernelModules: the MLIR modules with the kernels of a compilation, one per target. The kernels
// stage fills them, and the codegen stage makes images of them through the back ends. Neither stage
// depends on the kind of device.
//
// The devices of one kind with the same target are a group: they share modules and images. A device
// whose description has no target is in the group of the first device of its kind.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "compiler/codegen/backend/backend.h"
#include "compiler/codegen/backends.h"
#include "compiler/kernels/generators.h"
#include "compiler/program/program.h"
#include "vm/format/schema/module_contents.h"

namespace scopevm::compiler::codegen {

struct ImagesRequest {
  int threads = 1;
  std::function<void(llvm::Module&)> add_functions;           // the module's shape functions
  std::function<void(int64_t done, int64_t total)> progress;  // may be empty
  std::function<void(const std::string& text)> dump;          // may be empty
  std::stop_token stop_token;                                 // of CompileOptions
};

// The core for which the host's layouts and schedules are chosen: that of its first target. The
// default core if the target is invalid: create() reports it.
const schedule::Core& host_core(const Backends& backends, const Machine& machine,
                                const std::vector<std::string>& target_cpus);

class KernelModules {
 public:
  // Determines the targets of the groups of the machine's devices. A non-empty `target_cpus`
  // replaces the target of the host's group. Errors: those of Backend::targets.
  static Result<KernelModules> create(mlir::MLIRContext& context, const Backends& backends,
                                      const Machine& machine,
                                      const std::vector<std::string>& target_cpus);

  // Kernels are generated once per target, so a group with several targets needs several rounds.
  // Every round must produce the same program.
  size_t rounds() const;
  // Creates the modules of a round, for kernels::lower. The result has one entry per device;
  // devices of one group share a module. REQUIRES: `machine` has the devices of the one passed to
  // create().
  kernels::ModulesByDevice begin_round(size_t round, const Machine& machine);
  // The targets of the round, for messages: "x86-64-v3, opencl".
  std::string round_name(size_t round) const;

  // Makes an image for each target of each group that runs kernels of `program`. The host's group
  // always has images, because they also contain the shape functions. The modules cannot be used
  // afterwards. REQUIRES: the program's machine has no devices that the one passed to create()
  // lacks. Errors: those of Backend::make_image, kCancelled.
  Result<std::vector<format::ImageDecl>> make_images(const Program& program,
                                                     const ImagesRequest& request);

 private:
  struct Group {
    const Backend* backend;
    std::vector<std::string> devices;  // their names
    std::vector<schedule::Target> targets;
    std::vector<std::unique_ptr<kernels::KernelModule>> modules;  // by target

    bool contains(const Device& device) const {
      return std::ranges::find(devices, device.name) != devices.end();
    }
    // In rounds after its last target, a group generates the kernels of its last target again.
    size_t target_of(size_t round) const { return std::min(round, targets.size() - 1); }
  };
  explicit KernelModules(mlir::MLIRContext& context) : context_(&context) {}
  static std::vector<uint32_t> devices_of(const Group& group, const Machine& machine);
  static std::vector<Kernel> kernels_of(const Group& group, const Program& program);

  mlir::MLIRContext* context_;
  std::vector<Group> groups_;
};

}  // namespace scopevm::compiler::codegen
