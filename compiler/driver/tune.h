// Choices by measurement (CompileOptions::tuning): the layouts and forms of convolutions, and
// external functions or scopevm's kernels.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler/codegen/backends.h"
#include "compiler/external/take.h"
#include "compiler/layouts/forms.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "scopevm/compiler.h"

namespace scopevm::compiler {

// Fails with kInvalidArgument if a request of options.tuning names a dimension that the graph does
// not have, or a value outside of its bound in options.dims.
Status check_requests(const CompileOptions& options, mlir::ModuleOp graph);

// Ways to compute a part of a graph, each as a module with a function `main`.
struct Alternatives {
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> graphs;
  std::string key;                        // identifies all
  std::vector<graph::DimBindings> calls;  // the dims of `main` in the names of each call
  ImageLayout layout = ImageLayout::kAuto;
};

// Compiles alternatives and measures them. `options` and `backends` must outlive the object.
class Tuner {
 public:
  using Seconds = std::vector<double>;  // by alternative

  Tuner(const CompileOptions& options, const codegen::Backends& backends,
        std::shared_ptr<mlir::MLIRContext> context)
      : options_(options), backends_(backends), context_(std::move(context)) {}

  // The times of all calls in all requests.
  Result<Seconds> operator()(Alternatives part) const;

 private:
  using Dims = std::map<std::string, int64_t>;
  // The compiled alternatives. Equal modules are measured once.
  struct Modules {
    std::vector<std::vector<uint8_t>> distinct;
    std::vector<size_t> index;  // by alternative, in `distinct`
  };

  // The times of one call. `modules` is filled when it is needed first.
  Result<Seconds> measure(Alternatives& part, const Dims& dims, Modules& modules) const;
  Result<Modules> compile(Alternatives& part) const;

  const CompileOptions& options_;
  const codegen::Backends& backends_;
  std::shared_ptr<mlir::MLIRContext> context_;
};

}  // namespace scopevm::compiler
