// The table of ONNX ops. To add an op, write a handler and its row in a file of its family, in a
// subfolder. A new file of rows has a declaration here and a line in op_table.cpp.
#pragma once

#include <vector>

#include "compiler/import/node/node.h"

namespace scopevm::compiler::frontend {

// A row of the op table: the handler of an ONNX op from opset `since` up to the op's next row.
using Handler = Values (*)(Node&);
struct OpRow {
  const char* op;
  int since;
  Handler handler;
  // Inputs can be sequences or optionals. For any other op, such an input is an error.
  bool takes_lists = false;
};

using OpRows = std::vector<OpRow>;

extern const OpRows kConcatOps, kContractionOps, kConvolutionOps, kEinsumOps, kElementwiseOps,
    kIfOps, kIndexingOps, kLayoutOps, kLoopOps, kMapOps, kNormalisationOps, kOptionalOps,
    kPoolingOps, kQuantisedContractionOps, kQuantisedOps, kRangeOps, kRecurrentOps, kReductionOps,
    kResizeOps, kSamplingOps, kScanOps, kSelectionOps, kSequenceOps, kShapeOps, kSignalOps,
    kSliceOps, kSplitOps, kStringOps;

// The row of `op` at `opset`; null if there is none.
const OpRow* find_op(llvm::StringRef op, int opset);

}  // namespace scopevm::compiler::frontend
