// A plan computes a layer for fixed dims: oneDNN primitives in order, and the place of each of
// their arguments in the operands, the result or the workspace.
#pragma once

#include <cstdint>
#include <dnnl.hpp>
#include <vector>

#include "plugins/dnnl/graph/layer.h"
#include "plugins/dnnl/run/shapes.h"
#include "scopevm/c/external.h"
#include "scopevm/status.h"

namespace scopevm::onednn {

// Immutable. Thread-safety: concurrent runs are allowed.
class Plan {
 public:
  // A plan for the dims and threads of `run` that uses at most run.workspace_bytes of workspace.
  // Fails with kInvalidArgument if the tensors do not fit the layer, and with kUnsupported if
  // oneDNN has no implementation.
  static Result<Plan> create(const dnnl::engine& engine, const Layer& layer,
                             const scopevm_external_run& run);

  // The type that oneDNN prefers for w; of no dims if it has no implementation.
  static dnnl::memory::desc preferred_weight(const dnnl::engine& engine, const Layer& layer,
                                             const MatMulDims& dims);
  static dnnl::memory::desc preferred_weight(const dnnl::engine& engine, const Layer& layer,
                                             const WindowDims& dims);

  // REQUIRES: the tensors have the dims of the run that the plan was created for.
  void run(const dnnl::engine& engine, const scopevm_external_run& run) const;

 private:
  friend class PlanBuilder;

  enum class Place { kOperand, kResult, kWorkspace };
  struct Buffer {
    Place place;
    int64_t index;  // of the operand; the offset in the workspace
  };
  struct Argument {
    int id;  // DNNL_ARG_...
    dnnl::memory::desc type;
    Buffer buffer;
  };
  struct Step {
    dnnl::primitive primitive;
    std::vector<Argument> arguments;
  };

  std::vector<Step> steps_;
};

}  // namespace scopevm::onednn
