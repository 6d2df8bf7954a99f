// ONNX Scan: a loop over the slices of its inputs.
#include "compiler/import/node/formula.h"
#include "compiler/import/ops/control/results.h"
#include "compiler/import/ops/op_table.h"
#include "runtime/count_text.h"

namespace scopevm::compiler::frontend {
namespace {

using ScanResults = Result<llvm::SmallVector<Value>>;

// Entry i of an optional list attribute; 0 if it is absent.
int64_t entry(const Ints& list, size_t i) { return i < list.size() ? list[i] : 0; }

// A loop over the slices of `scanned` along their axes. Results: the final states, then the outputs
// gathered along a new first dim.
ScanResults scan_along(Node& n, const onnx::GraphProto& body, llvm::ArrayRef<Value> states,
                       llvm::ArrayRef<Value> scanned, const Ints& axes, const Ints& directions) {
  DimExpr length = n.dim(scanned.front(), entry(axes, 0));
  return n.control_flow().loop(
      length, states, [&](DimExpr index, mlir::ValueRange carried) -> Result<Iteration> {
        llvm::SmallVector<Value> inputs(carried.begin(), carried.end());
        for (size_t i = 0; i < scanned.size(); ++i) {
          DimExpr at = entry(directions, i) ? length - DimExpr(1) - index : index;
          inputs.push_back(Formula(n, scanned[i]).element_at(entry(axes, i), at));
        }
        if (n.has_failed()) return n.status();
        SCOPEVM_ASSIGN_OR_RETURN(
            llvm::SmallVector<Value> outputs,
            n.import_body(body, inputs, {.first_input = n.input_count() - inputs.size()}));
        if (outputs.size() < states.size()) {
          n.fail("its body has " + runtime::count_text(outputs.size(), "output") +
                 ", expected at least " + std::to_string(states.size()) + ", one for each state");
          return n.status();
        }
        Iteration iteration;
        iteration.carried.assign(outputs.begin(), outputs.begin() + states.size());
        iteration.parts.assign(outputs.begin() + states.size(), outputs.end());
        return iteration;
      });
}

// From opset 9 on: the inputs have no batch, and each one has an axis and a direction.
ScanResults import_scan(Node& n, const onnx::GraphProto& body, llvm::ArrayRef<Value> states,
                        llvm::ArrayRef<Value> scanned) {
  Ints axes = n.integers("scan_input_axes"), directions = n.integers("scan_input_directions");
  Ints out_axes = n.integers("scan_output_axes"),
       out_directions = n.integers("scan_output_directions");
  for (size_t i = 0; i < axes.size() && i < scanned.size(); ++i)
    axes[i] = n.axis(axes[i], n.rank(scanned[i]));
  if (n.has_failed()) return n.status();
  SCOPEVM_ASSIGN_OR_RETURN(llvm::SmallVector<Value> results,
                           scan_along(n, body, states, scanned, axes, directions));
  for (size_t i = states.size(); i < results.size(); ++i) {
    Value& result = results[i];
    // With a reversed direction, each iteration prepends its part. Reversing the gathered output
    // once is equivalent.
    if (entry(out_directions, i - states.size())) result = Formula(n, result).reversed(0);
    int64_t axis = n.axis(entry(out_axes, i - states.size()), n.rank(result));
    if (!n.has_failed()) result = n.move_axis(result, 0, axis);
  }
  if (n.has_failed()) return n.status();
  return results;
}

// Opset 8: dim 0 of every input and output is a batch, and the body processes one batch element.
// Dim 1 of scanned values is the sequence. Input 0 contains the sequence lengths.
ScanResults import_batched_scan(Node& n, const onnx::GraphProto& body, llvm::ArrayRef<Value> states,
                                llvm::ArrayRef<Value> scanned) {
  if (n.has_input(0)) n.unsupported("input 0, the sequence lengths, is not supported");
  Ints directions = n.integers("directions");
  DimExpr batch = n.dim(scanned.front(), 0);
  if (n.has_failed()) return n.status();
  auto of_element = [&](llvm::ArrayRef<Value> values, DimExpr index) {
    llvm::SmallVector<Value> parts;
    for (Value value : values) parts.push_back(Formula(n, value).element_at(0, index));
    return parts;
  };
  return n.control_flow().loop(
      batch, {}, [&](DimExpr index, mlir::ValueRange) -> Result<Iteration> {
        const auto own_states = of_element(states, index), own = of_element(scanned, index);
        if (n.has_failed()) return n.status();
        Iteration iteration;
        // The results of one batch element are gathered along a new dim 0, the batch.
        SCOPEVM_ASSIGN_OR_RETURN(iteration.parts,
                                 scan_along(n, body, own_states, own, {}, directions));
        return iteration;
      });
}

// `first` is the index of the first state. `import` takes the body, the states and the scanned
// values.
Values scan_from(Node& n, size_t first, decltype(import_scan) import) {
  const onnx::GraphProto* body = n.graph("body");
  const int64_t given = n.integer("num_scan_inputs");
  if (!n.has_failed() && n.input_count() <= first)
    n.fail("it has no scan input, expected at least 1");
  if (n.has_failed()) return {};
  const auto most = static_cast<int64_t>(n.input_count() - first);
  if (given < 1 || given > most)
    n.fail("num_scan_inputs is " + llvm::Twine(given) + ", expected 1 to " + llvm::Twine(most));
  llvm::SmallVector<Value> all;
  for (size_t i = first; i < n.input_count(); ++i) all.push_back(n.input(i));
  if (n.has_failed()) return {};
  const auto scanned = static_cast<size_t>(given);
  return subgraph_results(n, import(n, *body, llvm::ArrayRef(all).drop_back(scanned),
                                    llvm::ArrayRef(all).take_back(scanned)));
}

Values batched_scan(Node& n) { return scan_from(n, 1, import_batched_scan); }
Values scan(Node& n) { return scan_from(n, 0, import_scan); }

}  // namespace

const OpRows kScanOps = {{"Scan", 1, batched_scan}, {"Scan", 9, scan}};

}  // namespace scopevm::compiler::frontend
