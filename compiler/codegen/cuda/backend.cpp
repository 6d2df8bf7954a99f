// CUDA devices can be described, but no kernels are compiled for them.
#include "compiler/codegen/cuda/backend.h"

namespace scopevm::compiler::codegen {
namespace {

class CudaBackend final : public Backend {
 public:
  std::string_view name() const override { return "cuda"; }
  const CodeGenerator* generator() const override { return nullptr; }
};

}  // namespace

const Backend& cuda_backend() {
  static const CudaBackend backend;
  return backend;
}

}  // namespace scopevm::compiler::codegen
