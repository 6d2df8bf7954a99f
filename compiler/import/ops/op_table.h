// The table of ONNX ops. To add an op, write a handler and its row in a file of its family, in a
// subfolder. A new file of rows has a function here and a line in op_table.cpp.
#pragma once

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

llvm::ArrayRef<OpRow> concat_sequence_ops();
llvm::ArrayRef<OpRow> contraction_ops();
llvm::ArrayRef<OpRow> convolution_ops();
llvm::ArrayRef<OpRow> einsum_ops();
llvm::ArrayRef<OpRow> elementwise_ops();
llvm::ArrayRef<OpRow> if_ops();
llvm::ArrayRef<OpRow> indexing_ops();
llvm::ArrayRef<OpRow> layout_ops();
llvm::ArrayRef<OpRow> loop_ops();
llvm::ArrayRef<OpRow> normalisation_ops();
llvm::ArrayRef<OpRow> optional_ops();
llvm::ArrayRef<OpRow> pooling_ops();
llvm::ArrayRef<OpRow> quantised_contraction_ops();
llvm::ArrayRef<OpRow> quantised_ops();
llvm::ArrayRef<OpRow> range_ops();
llvm::ArrayRef<OpRow> recurrent_ops();
llvm::ArrayRef<OpRow> reduction_ops();
llvm::ArrayRef<OpRow> resize_ops();
llvm::ArrayRef<OpRow> sampling_ops();
llvm::ArrayRef<OpRow> scan_ops();
llvm::ArrayRef<OpRow> selection_ops();
llvm::ArrayRef<OpRow> sequence_map_ops();
llvm::ArrayRef<OpRow> sequence_ops();
llvm::ArrayRef<OpRow> shape_ops();
llvm::ArrayRef<OpRow> signal_ops();
llvm::ArrayRef<OpRow> slice_ops();
llvm::ArrayRef<OpRow> split_sequence_ops();
llvm::ArrayRef<OpRow> string_ops();

// The row of `op` at `opset`; null if there is none.
const OpRow* find_op(llvm::StringRef op, int opset);

}  // namespace scopevm::compiler::frontend
