// The passes of compiler/external that passes.td declares, for scopevm-opt.
#include "compiler/external/describe.h"
#include "compiler/external/partition/partition.h"
#include "compiler/passes/passes.h"
#include "llvm/Support/MemoryBuffer.h"
#include "mlir/IR/Builders.h"

namespace scopevm::compiler {

#define GEN_PASS_DEF_PARTITIONPASS
#define GEN_PASS_DEF_MERGEPARTITIONSPASS
#define GEN_PASS_DEF_OUTLINEPARTITIONSPASS
#define GEN_PASS_DEF_INLINEPARTITIONSPASS
#include "compiler/passes/passes.h.inc"

namespace {

class PartitionPass : public impl::PartitionPassBase<PartitionPass> {
 public:
  using PartitionPassBase::PartitionPassBase;

 private:
  void runOnOperation() override {
    Result<external::Patterns> parsed = parse();
    if (parsed.ok()) return external::partition(getOperation(), *parsed);
    getOperation().emitError() << std::string(parsed.status().message());
    signalPassFailure();
  }

  Result<external::Patterns> parse() {
    auto text = llvm::MemoryBuffer::getFile(patterns);
    if (!text) return Status(StatusCode::kNotFound, patterns + ": file not found");
    return external::Patterns::parse((*text)->getBuffer(), library, getContext());
  }
};

class MergePartitionsPass : public impl::MergePartitionsPassBase<MergePartitionsPass> {
  void runOnOperation() override { external::merge(getOperation()); }
};

class OutlinePartitionsPass : public impl::OutlinePartitionsPassBase<OutlinePartitionsPass> {
 public:
  using OutlinePartitionsPassBase::OutlinePartitionsPassBase;

 private:
  void runOnOperation() override {
    for (mlir::func::FuncOp function : external::outline(getOperation()))
      if (describe)
        function->setAttr("sv.description",
                          mlir::StringAttr::get(&getContext(), external::describe(function)));
  }
};

class InlinePartitionsPass : public impl::InlinePartitionsPassBase<InlinePartitionsPass> {
  void runOnOperation() override {
    for (auto function : llvm::make_early_inc_range(getOperation().getOps<mlir::func::FuncOp>()))
      if (function->hasAttr(external::kLibrary) && !function.isExternal() &&
          failed(external::inline_back(getOperation(), function)))
        return signalPassFailure();
  }
};

}  // namespace

}  // namespace scopevm::compiler
