// compile(): the pipeline, stage by stage. Each stage's result can be dumped under its name.
#include <algorithm>
#include <chrono>
#include <thread>

#include "compiler/bytecode/emit.h"
#include "compiler/codegen/image.h"
#include "compiler/driver/context.h"
#include "compiler/frontend/import.h"
#include "compiler/graph/passes.h"
#include "compiler/kernels/lower.h"
#include "compiler/memory/plan.h"
#include "compiler/placement/place.h"
#include "compiler/shapes/emit_llvm.h"
#include "compiler/shapes/shape_program.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "scopevm/compiler.h"
#include "vm/format/writer.h"

namespace scopevm {
namespace {

class Compilation {
 public:
  explicit Compilation(const CompileOptions& options) : options_(options) {}

  Result<CompileOutput> run();

 private:
  void begin(std::string_view stage);
  void end();
  void dump(std::string_view stage, const std::string& text) {
    if (options_.dump && options_.dump_after == stage) options_.dump(text);
  }
  bool wants(std::string_view stage) const { return options_.dump && options_.dump_after == stage; }
  void dump(std::string_view stage, mlir::ModuleOp module);
  Status lower_for_targets(mlir::ModuleOp graph);
  Result<std::vector<format::ImageDecl>> make_images(const ShapeProgram& shapes);

  const CompileOptions& options_;
  CompileOutput output_;
  std::chrono::steady_clock::time_point began_;
};

}  // namespace
}  // namespace scopevm
