// Selects the kind of each random op by weight. random_regions.cpp contains the ops with regions,
// and sv.read_dims.
#include "tests/property/random/random_ops.h"

namespace scopevm::compiler::property {
namespace {

bool branch(GraphBuilder& b) { return b.append_if(); }
bool loop(GraphBuilder& b) { return b.append_loop(); }
bool read_dims(GraphBuilder& b) { return b.append_read_dims(); }

constexpr Kind kRegionKinds[] = {
    {3, branch},
    {3, loop},
    {3, read_dims},
};

}  // namespace

bool propose_op(GraphBuilder& builder) {
  const llvm::ArrayRef<Kind> groups[] = {elementwise_kinds(), contraction_kinds(), layout_kinds(),
                                         kRegionKinds};
  int64_t total = 0;
  for (llvm::ArrayRef<Kind> kinds : groups)
    for (const Kind& kind : kinds) total += kind.weight;
  int64_t at = builder.below(total);
  for (llvm::ArrayRef<Kind> kinds : groups)
    for (const Kind& kind : kinds) {
      at -= kind.weight;
      if (at < 0) return kind.propose(builder);
    }
  return false;
}

}  // namespace scopevm::compiler::property
