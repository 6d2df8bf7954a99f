// The table of ONNX ops: the rows of all families, indexed by name and opset.
#include "compiler/import/ops/op_table.h"

#include "llvm/ADT/StringMap.h"

namespace scopevm::compiler::frontend {

const OpRow* find_op(llvm::StringRef op, int opset) {
  static const llvm::StringMap<llvm::SmallVector<OpRow, 2>> table = [] {
    llvm::StringMap<llvm::SmallVector<OpRow, 2>> rows;
    for (llvm::ArrayRef<OpRow> group : {concat_sequence_ops(),
                                        contraction_ops(),
                                        convolution_ops(),
                                        einsum_ops(),
                                        elementwise_ops(),
                                        if_ops(),
                                        indexing_ops(),
                                        layout_ops(),
                                        loop_ops(),
                                        normalisation_ops(),
                                        optional_ops(),
                                        pooling_ops(),
                                        quantised_contraction_ops(),
                                        quantised_ops(),
                                        range_ops(),
                                        recurrent_ops(),
                                        reduction_ops(),
                                        resize_ops(),
                                        sampling_ops(),
                                        scan_ops(),
                                        selection_ops(),
                                        sequence_map_ops(),
                                        sequence_ops(),
                                        shape_ops(),
                                        signal_ops(),
                                        slice_ops(),
                                        split_sequence_ops(),
                                        string_ops()})
      for (const OpRow& row : group) rows[row.op].push_back(row);
    return rows;
  }();
  auto rows = table.find(op);
  if (rows == table.end()) return nullptr;
  const OpRow* best = nullptr;
  for (const OpRow& row : rows->second)
    if (row.since <= opset && (!best || row.since > best->since)) best = &row;
  return best;
}

}  // namespace scopevm::compiler::frontend
