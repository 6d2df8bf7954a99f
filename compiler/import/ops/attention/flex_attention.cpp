// FlexAttention of the domain ai.onnx.preview: attention whose scores and probabilities are changed
// by graphs of the model.
#include "compiler/graph/type_rule.h"
#include "compiler/import/model/onnx_types.h"
#include "compiler/import/ops/attention/attention.h"
#include "compiler/import/ops/op_table.h"

namespace scopevm::compiler::frontend {
namespace {

// A function that imports the graph of an attribute. Empty if there is none. The operand gets the
// element type that the graph declares.
std::function<Value(Value)> graph_of(Node& n, llvm::StringRef attribute) {
  if (!n.has_attribute(attribute)) return {};
  const onnx::GraphProto* graph = n.graph(attribute);
  if (!graph) return {};
  return [&n, graph](Value x) -> Value {
    if (n.has_failed()) return {};
    const DType computed = n.dtype(x);
    if (graph->input_size() == 1)
      if (auto declared = dtype_of_onnx(graph->input(0).type().tensor_type().elem_type()))
        x = n.cast(x, *declared);
    const auto results = n.checked(n.import_subgraph(*graph, {x}));
    if (n.has_failed()) return {};
    if (results.size() != 1)
      return n.fail("graph \"" + graph->name() + "\" has " + llvm::Twine(results.size()) +
                    " outputs, expected 1");
    if (!mlir::isa<graph::TensorType>(results[0].getType()))
      return n.fail("graph \"" + graph->name() + "\" returns a sequence, expected a tensor");
    return n.cast(results[0], computed);
  };
}

Values flex_attention(Node& n) {
  Attention a;
  a.queries = n.input(0);
  a.keys = n.input(1);
  a.values = n.input(2);
  if (n.has_attribute("scale")) a.scale = n.number("scale", 1);
  a.has_f64_softmax =
      n.integer("softmax_precision", onnx::TensorProto::FLOAT) == onnx::TensorProto::DOUBLE;
  a.modify_scores = graph_of(n, "score_mod");
  a.modify_probabilities = graph_of(n, "prob_mod");
  return attention(n, a).result;
}

}  // namespace

const OpRows kFlexAttentionOps = {
    {"FlexAttention", 1, flex_attention,
     OpSignature{"Q K V", "prob_mod scale score_mod softmax_precision"}},
};

}  // namespace scopevm::compiler::frontend
