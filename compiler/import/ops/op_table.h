// The table of ONNX ops. To add an op, write a handler and its row in a file of its family, in a
// subfolder. A new file of rows has a declaration here and a line in op_table.cpp, which states its
// domain.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "compiler/import/node/node.h"

namespace scopevm::compiler::frontend {

// The inputs and attributes of an op, as names separated by spaces. "?" follows the name of an
// input that can be missing, and "..." that of a last input that can be repeated.
struct OpSignature {
  std::string_view inputs;
  std::string_view attributes;
};

// A row of the op table: the handler of an ONNX op from opset `since` up to the op's next row.
using Handler = Values (*)(Node&);
struct OpRow {
  const char* op;
  int since;
  Handler handler;
  // Of an op that libonnx does not define, or defines only at older opsets.
  std::optional<OpSignature> signature = std::nullopt;
  // Inputs can be sequences or optionals. For any other op, such an input is an error.
  bool takes_lists = false;
  // Results can be random. A model with such an op has an input `seed`.
  bool is_random = false;
};

using OpRows = std::vector<OpRow>;

extern const OpRows kAttentionOps, kCausalConvOps, kConcatOps, kContractionOps, kConvolutionOps,
    kEinsumOps, kElementwiseOps, kFlexAttentionOps, kIfOps, kIndexingOps, kLayoutOps,
    kLinearAttentionOps, kLoopOps, kMapOps, kNormalisationOps, kOptionalOps, kPoolingOps,
    kQuantisedContractionOps, kQuantisedOps, kRandomOps, kRangeOps, kRecurrentOps, kReductionOps,
    kResizeOps, kRotaryEmbeddingOps, kSamplingOps, kScanOps, kSelectionOps, kSequenceOps, kShapeOps,
    kSignalOps, kSliceOps, kSplitOps, kStringOps, kTensorScatterOps;

// Of the domain com.microsoft, except kSimplifiedNormalisationOps, which ONNX Runtime defines in
// the standard domain.
extern const OpRows kBlockQuantisedOps, kGroupQueryAttentionOps, kMicrosoftActivationOps,
    kMicrosoftAttentionOps, kMicrosoftCausalConvOps, kMicrosoftContractionOps,
    kMicrosoftLinearAttentionOps, kMicrosoftNormalisationOps, kMicrosoftRecurrentOps,
    kMicrosoftRotaryEmbeddingOps, kMixtureOps, kQLinearOps, kSimplifiedNormalisationOps;
// Of the domain ai.onnx.ml.
extern const OpRows kEncoderOps, kFeatureOps, kLinearOps, kSvmOps, kTreeOps;
// Of the domain ai.onnx.preview.training.
extern const OpRows kOptimiserOps;

// Calls `use` with each row of each domain, whose name is "" for the standard one.
void for_each_row(llvm::function_ref<void(llvm::StringRef domain, const OpRow& row)> use);

// The row of the node's op at `opset`, the version of its domain. Null if there is none, or if the
// node calls a function of the model. Functions of the standard domain do not replace rows.
const OpRow* find_op(const onnx::ModelProto& model, const onnx::NodeProto& node, int opset);

}  // namespace scopevm::compiler::frontend
