// ONNX SequenceMap. The body is imported once per element if the lengths of all sequences are known
// and not 0, else as a loop.
#include "compiler/import/model/onnx_types.h"
#include "compiler/import/ops/op_table.h"
#include "runtime/count_text.h"

namespace scopevm::compiler::frontend {
namespace {

bool is_list(Value value) { return mlir::isa<graph::ListType>(value.getType()); }

// One list for each output of the body.
llvm::SmallVector<Value> map_elements(Node& n, const onnx::GraphProto& body,
                                      llvm::ArrayRef<Value> inputs) {
  const size_t size = elements_of(inputs.front())->size();
  std::vector<llvm::SmallVector<Value>> results(n.output_count());
  for (size_t i = 0; i < size; ++i) {
    llvm::SmallVector<Value> elements;
    for (Value input : inputs) {
      const auto items = elements_of(input);
      if (items && items->size() != size)
        return n.fail("its sequences have " + llvm::Twine(size) + " and " +
                      llvm::Twine(items->size()) + " elements, expected the same number"),
               llvm::SmallVector<Value>();
      elements.push_back(items ? (*items)[i] : input);
    }
    const auto outputs = n.checked(n.import_subgraph(body, elements));
    if (n.has_failed()) return {};
    for (auto [result, output] : llvm::zip(results, outputs)) result.push_back(output);
  }
  llvm::SmallVector<Value> lists;
  for (const auto& result : results) lists.push_back(n.checked(n.lists().make_sequence(result)));
  return lists;
}

// A loop over the elements that appends the results of the body.
llvm::SmallVector<Value> map_at_run_time(Node& n, const onnx::GraphProto& body,
                                         llvm::ArrayRef<Value> inputs) {
  llvm::SmallVector<Value> starts;
  for (const auto& output : body.output()) {
    const int type = output.type().tensor_type().elem_type();
    const std::optional<DType> dtype = dtype_of_onnx(type);
    if (!dtype) n.unsupported("element type " + onnx_type_name(type) + " is not supported");
    if (n.has_failed()) return {};
    starts.push_back(n.lists().make_empty(ValueKind::kSequence, *dtype));
  }
  const DimExpr count = n.lists().size(inputs.front());
  for (Value input : inputs.drop_front())
    if (is_list(input))
      n.require_equal(count, n.lists().size(input),
                      "its sequences have lengths {0} and {1}; they must be equal");
  return n.loop(count, starts, [&](DimExpr i, mlir::ValueRange carried) -> Iteration {
    llvm::SmallVector<Value> elements;
    for (Value input : inputs)
      elements.push_back(is_list(input) ? n.checked(n.lists().get(input, i)) : input);
    if (n.has_failed()) return {};
    const auto outputs = n.checked(n.import_subgraph(body, elements));
    Iteration iteration;
    for (auto [list, element] : llvm::zip(carried, outputs))
      iteration.carried.push_back(n.checked(n.lists().insert(list, element, std::nullopt)));
    return iteration;
  });
}

Values sequence_map(Node& n) {
  const onnx::GraphProto* body = n.graph("body");
  llvm::SmallVector<Value> inputs;
  for (size_t i = 0; i < n.input_count(); ++i) inputs.push_back(n.any_input(i));
  if (n.has_failed()) return {};
  if (inputs.empty() || !is_list(inputs.front())) n.fail("input 0 is not a sequence");
  if (static_cast<size_t>(body->output_size()) != n.output_count())
    n.fail("its body has " + runtime::count_text(body->output_size(), "output") + ", expected " +
           std::to_string(n.output_count()));
  if (n.has_failed()) return {};
  const bool is_known =
      llvm::all_of(inputs, [](Value input) { return !is_list(input) || elements_of(input); }) &&
      !elements_of(inputs.front())->empty();
  return mlir::ValueRange(is_known ? map_elements(n, *body, inputs)
                                   : map_at_run_time(n, *body, inputs));
}

}  // namespace

const OpRows kMapOps = {{"SequenceMap", 1, sequence_map, std::nullopt, /*takes_lists=*/true}};

}  // namespace scopevm::compiler::frontend
