// The table of ONNX ops: the rows of all families, indexed by domain, name and opset.
#include "compiler/import/ops/op_table.h"

#include "compiler/import/model/function_body.h"
#include "compiler/import/scope/opsets.h"
#include "llvm/ADT/StringMap.h"

namespace scopevm::compiler::frontend {

namespace {

using RowsOfOp = llvm::SmallVector<OpRow, 2>;

llvm::StringMap<RowsOfOp> by_name(std::initializer_list<const OpRows*> groups) {
  llvm::StringMap<RowsOfOp> rows;
  for (const OpRows* group : groups)
    for (const OpRow& row : *group) rows[row.op].push_back(row);
  return rows;
}

using Domains = llvm::StringMap<llvm::StringMap<RowsOfOp>>;

const Domains& domains_of_rows() {
  static const Domains domains = [] {
    Domains table;
    table[""] = by_name({&kAttentionOps,
                         &kCausalConvOps,
                         &kConcatOps,
                         &kContractionOps,
                         &kConvolutionOps,
                         &kEinsumOps,
                         &kElementwiseOps,
                         &kIfOps,
                         &kIndexingOps,
                         &kLayoutOps,
                         &kLinearAttentionOps,
                         &kLoopOps,
                         &kMapOps,
                         &kNormalisationOps,
                         &kOptionalOps,
                         &kPoolingOps,
                         &kQuantisedContractionOps,
                         &kQuantisedOps,
                         &kRandomOps,
                         &kRangeOps,
                         &kRecurrentOps,
                         &kReductionOps,
                         &kResizeOps,
                         &kRotaryEmbeddingOps,
                         &kSamplingOps,
                         &kScanOps,
                         &kSelectionOps,
                         &kSequenceOps,
                         &kShapeOps,
                         &kSignalOps,
                         &kSimplifiedNormalisationOps,
                         &kSliceOps,
                         &kSplitOps,
                         &kStringOps,
                         &kTensorScatterOps});
    table["com.microsoft"] = by_name(
        {&kBlockQuantisedOps, &kGroupQueryAttentionOps, &kMicrosoftActivationOps,
         &kMicrosoftAttentionOps, &kMicrosoftCausalConvOps, &kMicrosoftContractionOps,
         &kMicrosoftLinearAttentionOps, &kMicrosoftNormalisationOps, &kMicrosoftRecurrentOps,
         &kMicrosoftRotaryEmbeddingOps, &kMixtureOps, &kQLinearOps});
    table["ai.onnx.ml"] = by_name({&kEncoderOps, &kFeatureOps, &kLinearOps, &kSvmOps, &kTreeOps});
    table["ai.onnx.preview"] = by_name({&kFlexAttentionOps});
    table["ai.onnx.preview.training"] = by_name({&kOptimiserOps});
    return table;
  }();
  return domains;
}

}  // namespace

void for_each_row(llvm::function_ref<void(llvm::StringRef domain, const OpRow& row)> use) {
  for (const auto& domain : domains_of_rows())
    for (const auto& op : domain.second)
      for (const OpRow& row : op.second) use(domain.first(), row);
}

const OpRow* find_op(const onnx::ModelProto& model, const onnx::NodeProto& node, int opset) {
  const Domains& domains = domains_of_rows();
  const std::string& domain = normalised_domain(node.domain());
  const auto table = domains.find(domain);
  if (table == domains.end() || (!domain.empty() && find_model_function(model, node) != nullptr))
    return nullptr;
  const auto rows = table->second.find(node.op_type());
  if (rows == table->second.end()) return nullptr;
  const OpRow* best = nullptr;
  for (const OpRow& row : rows->second)
    if (row.since <= opset && (!best || row.since > best->since)) best = &row;
  return best;
}

}  // namespace scopevm::compiler::frontend
