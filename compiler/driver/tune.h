// Choice between external functions and scopevm's kernels by measurement (CompileOptions::tuning).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "compiler/codegen/backends.h"
#include "compiler/external/take.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "scopevm/compiler.h"

namespace scopevm::compiler {

// Fails with kInvalidArgument if a request of options.tuning names a dimension that the graph does
// not have, or a value outside of its bound in options.dims.
Status check_requests(const CompileOptions& options, mlir::ModuleOp graph);

// An external::MeasurePart: compiles the alternatives of a part and measures them. `options` and
// `backends` must outlive the object.
class PartTuner {
 public:
  PartTuner(const CompileOptions& options, const codegen::Backends& backends,
            std::shared_ptr<mlir::MLIRContext> context)
      : options_(options), backends_(backends), context_(std::move(context)) {}

  // The times of all calls of the part in all requests.
  Result<PartSeconds> operator()(external::Alternatives part) const;

 private:
  using Dims = std::map<std::string, int64_t>;
  using Modules = std::vector<std::vector<uint8_t>>;

  // The time of one call. `modules` is filled when it is needed first.
  Result<PartSeconds> measure(external::Alternatives& part, const Dims& dims,
                              Modules& modules) const;
  Result<Modules> compile(external::Alternatives& part) const;

  const CompileOptions& options_;
  const codegen::Backends& backends_;
  std::shared_ptr<mlir::MLIRContext> context_;
};

}  // namespace scopevm::compiler
