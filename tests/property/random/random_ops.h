// Proposals for the ops of random graphs: one function per kind of op, which chooses operands and
// attributes. The builder rejects invalid ops, so a proposal only needs to be valid often enough.
#pragma once

#include "tests/property/random/graph_builder.h"

namespace scopevm::compiler::property {

using Proposal = bool (*)(GraphBuilder&);

// A proposal and its relative frequency.
struct Kind {
  int weight;
  Proposal propose;
};
llvm::ArrayRef<Kind> elementwise_kinds();
llvm::ArrayRef<Kind> contraction_kinds();
llvm::ArrayRef<Kind> layout_kinds();

inline bool any(const Node&) { return true; }
inline bool holds_floats(const Node& node) { return is_float(node.dtype()); }
inline bool holds_numbers(const Node& node) { return node.dtype() != DType::kBool; }
inline bool has_dims(const Node& node) { return node.rank() > 0; }

inline mlir::Attribute i64(GraphBuilder& b, int64_t value) {
  return b.attributes().getI64IntegerAttr(value);
}
inline mlir::Attribute flag(GraphBuilder& b, bool value) {
  return b.attributes().getBoolAttr(value);
}
inline mlir::Attribute text(GraphBuilder& b, llvm::StringRef value) {
  return b.attributes().getStringAttr(value);
}
inline mlir::Attribute list(GraphBuilder& b, const std::vector<int64_t>& values) {
  return b.attributes().getDenseI64ArrayAttr(values);
}
inline int64_t random_axis(GraphBuilder& b, const Node& x) { return b.below(x.rank()); }

}  // namespace scopevm::compiler::property
