// Reports about a model, as functions of the pipeline's values (pipeline/stages.h). Each runs the
// stages that it needs, and reports about main only. See the reports in scopevm/compiler.h.
#pragma once

#include "compiler/pipeline/stages.h"
#include "scopevm/compiler.h"

namespace scopevm::compiler::explain {

// REQUIRES: the options have no variants.
Result<ShapeExplanation> shapes(pipeline::Context& context);
Result<CopyExplanation> copies(pipeline::Context& context);
Result<ExternalExplanation> external(pipeline::Context& context);
Result<LayoutExplanation> layout(pipeline::Context& context);
Result<MemoryExplanation> memory(pipeline::Context& context);

}  // namespace scopevm::compiler::explain
