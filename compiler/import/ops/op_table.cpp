// The table of ONNX ops: the rows of all families, indexed by name and opset.
#include "compiler/import/ops/op_table.h"

#include "llvm/ADT/StringMap.h"

namespace scopevm::compiler::frontend {

const OpRow* find_op(llvm::StringRef op, int opset) {
  static const llvm::StringMap<llvm::SmallVector<OpRow, 2>> table = [] {
    llvm::StringMap<llvm::SmallVector<OpRow, 2>> rows;
    for (const OpRows* group : {&kConcatOps,        &kContractionOps,
                                &kConvolutionOps,   &kEinsumOps,
                                &kElementwiseOps,   &kIfOps,
                                &kIndexingOps,      &kLayoutOps,
                                &kLoopOps,          &kMapOps,
                                &kNormalisationOps, &kOptionalOps,
                                &kPoolingOps,       &kQuantisedContractionOps,
                                &kQuantisedOps,     &kRangeOps,
                                &kRecurrentOps,     &kReductionOps,
                                &kResizeOps,        &kSamplingOps,
                                &kScanOps,          &kSelectionOps,
                                &kSequenceOps,      &kShapeOps,
                                &kSignalOps,        &kSliceOps,
                                &kSplitOps,         &kStringOps})
      for (const OpRow& row : *group) rows[row.op].push_back(row);
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
