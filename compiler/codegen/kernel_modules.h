// KernelModules: what a compilation has of the back ends: the kernels modules that the kernels
// stage fills, and the images that the codegen stage makes of them. No stage names a kind of
// device.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compiler/codegen/backend/backend.h"
#include "compiler/codegen/backends.h"
#include "compiler/kernels/generator.h"
#include "compiler/program.h"
#include "vm/format/module_contents.h"

namespace scopevm::compiler::codegen {

struct ImagesRequest {
  int threads = 1;
  std::function<void(llvm::Module&)> add_functions;           // the module's shape functions
  std::function<void(int64_t done, int64_t total)> progress;  // may be empty
  std::function<void(const std::string& text)> dump;          // may be empty
};

class KernelModules {
 public:
  // For the kinds of the machine's devices. `target_cpus` replaces what the description says of the
  // host's target, unless it is empty. Errors: those of CodeGenerator::targets.
  static Result<KernelModules> create(mlir::MLIRContext& context, const Backends& backends,
                                      const Machine& machine,
                                      const std::vector<std::string>& target_cpus);

  // Kernels are generated once per target: a kind with several targets takes several rounds. Every
  // round must come to the same program.
  size_t rounds() const;
  // New modules for a round, for kernels::lower: one for each device; those of a kind share theirs.
  // REQUIRES: `machine` has the devices that create() was given.
  kernels::ModulesByDevice begin_round(size_t round, const Machine& machine);
  // The targets of the round, for messages: "x86-64-v3, opencl".
  std::string round_name(size_t round) const;

  // An image for each target of each kind on which `program` launches kernels, and for each target
  // of the host, for its shape functions. Ends the use of the modules. Errors: those of
  // CodeGenerator::make_image.
  Result<std::vector<format::ImageDecl>> make_images(const Program& program,
                                                     const ImagesRequest& request);

 private:
  struct Kind {
    const Backend* backend;
    std::vector<kernels::Target> targets;
    std::vector<std::unique_ptr<kernels::KernelModule>> modules;  // by target

    // Of a round beyond its targets a kind makes the last one's kernels again.
    size_t target_of(size_t round) const { return std::min(round, targets.size() - 1); }
  };
  explicit KernelModules(mlir::MLIRContext& context) : context_(&context) {}

  mlir::MLIRContext* context_;
  std::vector<Kind> kinds_;
};

}  // namespace scopevm::compiler::codegen
