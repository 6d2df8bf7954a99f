// Choices by measurement (CompileOptions::tuning): the layouts and forms of convolutions, and
// external functions or scopevm's kernels.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "compiler/external/take.h"
#include "compiler/layouts/forms.h"
#include "compiler/layouts/layouts.h"
#include "compiler/machine/machine.h"
#include "compiler/pipeline/context.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "scopevm/compiler.h"

namespace scopevm::compiler::pipeline {

using Request = std::map<std::string, int64_t>;  // values of dimensions, by name

// The requests of `tuning`, at least one.
std::vector<Request> requests_of(const Tuning& tuning);

// The duration of a call of each module. Errors: those of Tuning::measure; kInvalidArgument if it
// returns another number of durations.
Result<std::vector<double>> measure_modules(const Tuning& tuning,
                                            std::span<const std::span<const uint8_t>> modules,
                                            const Request& dims);

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

// Compiles alternatives and measures them.
class Tuner {
 public:
  // `context` must outlive the object.
  explicit Tuner(const Context& context) : context_(context), options_(context.options) {}

  // The times of a part of a graph: those of all calls in all requests.
  Result<PartSeconds> measure_part(external::Alternatives part) const;
  // Measures the forms of the convolutions of a graph, if the layouts can depend on them. Adds the
  // times to `options`.
  Status measure_convolutions(mlir::ModuleOp graph, const Machine& machine,
                              layouts::Options& options) const;

 private:
  using Seconds = std::vector<double>;                // by alternative
  using Modules = std::vector<std::vector<uint8_t>>;  // by alternative

  // The times of all calls in all requests.
  Result<Seconds> measure(Alternatives part) const;
  // The times of one call. `modules` is filled when it is needed first.
  Result<Seconds> measure_call(Alternatives& part, const Request& dims, Modules& modules) const;
  Result<Modules> compile(Alternatives& part) const;

  const Context& context_;
  const CompileOptions& options_;
};

}  // namespace scopevm::compiler::pipeline
