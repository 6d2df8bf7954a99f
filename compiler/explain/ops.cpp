// The ops of a model, before it is imported.
#include "compiler/explain/report.h"
#include "compiler/import/import.h"

namespace scopevm::compiler::explain {
namespace {

OpsExplanation::Support support_of(frontend::ModelOp::Support support) {
  using From = frontend::ModelOp::Support;
  switch (support) {
    case From::kNone:
      return OpsExplanation::Support::kNone;
    case From::kHandler:
      return OpsExplanation::Support::kOp;
    case From::kFunction:
      return OpsExplanation::Support::kFunction;
    case From::kExternal:
      return OpsExplanation::Support::kExternal;
  }
  return OpsExplanation::Support::kNone;
}

Result<OpsExplanation> ops(pipeline::Context& context) {
  const CompileOptions& options = context.options;
  frontend::ModelFile file(options);
  SCOPEVM_ASSIGN_OR_RETURN(
      const std::vector<frontend::ModelOp> ops,
      file.ops(frontend::ImportOptions::of(options, options.dims), *context.mlir));
  OpsExplanation explanation;
  for (const frontend::ModelOp& op : ops)
    explanation.ops.push_back({op.name, op.opset, support_of(op.support), op.reason, op.nodes});
  return explanation;
}

const Report<&ops> kOpsReport;

}  // namespace
}  // namespace scopevm::compiler::explain
