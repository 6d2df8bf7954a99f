// Outputs of nodes with subgraphs; see results.h.
#include "compiler/import/ops/control/results.h"

#include "runtime/count_text.h"

namespace scopevm::compiler::frontend {

Values subgraph_results(Node& n, Result<llvm::SmallVector<Value>> results) {
  const auto values = n.checked(std::move(results));
  if (!n.has_failed() && values.size() != n.output_count())
    n.fail("its subgraphs return " + runtime::count_text(values.size(), "result") + ", expected " +
           std::to_string(n.output_count()) + ", one for each output");
  return mlir::ValueRange(values);
}

}  // namespace scopevm::compiler::frontend
