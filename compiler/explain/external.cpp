// The parts of a model that external libraries compute.
#include "compiler/explain/report.h"
#include "compiler/pipeline/tuning/tune_model.h"

namespace scopevm::compiler::explain {
namespace {

Result<ExternalExplanation> external(pipeline::Context& context) {
  if (pipeline::is_tuned(context.options)) {
    SCOPEVM_ASSIGN_OR_RETURN(pipeline::Compiled compiled, pipeline::compile_tuned(context));
    return ExternalExplanation{std::move(compiled.external_parts), std::move(compiled.output.tuned),
                               std::move(compiled.output.warnings)};
  }
  SCOPEVM_ASSIGN_OR_RETURN(pipeline::Imported imported, pipeline::import_model(context));
  SCOPEVM_ASSIGN_OR_RETURN(pipeline::Simplified simplified,
                           pipeline::simplify(std::move(imported), context));
  return ExternalExplanation{.parts = std::move(simplified.external_parts)};
}

const Report<&external> kExternalReport;

}  // namespace
}  // namespace scopevm::compiler::explain
