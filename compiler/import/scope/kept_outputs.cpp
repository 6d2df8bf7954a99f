// Omits outputs of a model; see kept_outputs.h.
#include "compiler/import/scope/kept_outputs.h"

#include <algorithm>
#include <iterator>

#include "compiler/graph/diagnostics/op_name.h"
#include "compiler/graph/rewrite/passes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "runtime/quoted.h"

namespace scopevm::compiler::frontend {
namespace {

using Names = std::set<std::string>;

Status check_outputs(const std::vector<std::string>& kept, const std::vector<std::string>& known) {
  for (const std::string& name : kept)
    if (!llvm::is_contained(known, name))
      return Status(StatusCode::kInvalidArgument, "unknown output " + runtime::quoted(name) +
                                                      "; known: " + llvm::join(known, ", "));
  return {};
}

void add_names_read_by(const onnx::NodeProto& node, Names& names);

// Adds the names around the graph that its nodes and outputs read.
void add_captured_names(const onnx::GraphProto& graph, Names& names) {
  Names read, defined;
  for (const auto& input : graph.input()) defined.insert(input.name());
  for (const auto& tensor : graph.initializer()) defined.insert(tensor.name());
  for (const onnx::NodeProto& node : graph.node()) {
    add_names_read_by(node, read);
    defined.insert(node.output().begin(), node.output().end());
  }
  for (const auto& output : graph.output()) read.insert(output.name());
  std::ranges::set_difference(read, defined, std::inserter(names, names.end()));
}

void add_names_read_by(const onnx::NodeProto& node, Names& names) {
  names.insert(node.input().begin(), node.input().end());
  for (const onnx::AttributeProto& attribute : node.attribute())
    if (attribute.has_g()) add_captured_names(attribute.g(), names);
}

}  // namespace

Result<NeededPart> NeededPart::of(const onnx::GraphProto& graph,
                                  const std::vector<std::string>& kept) {
  NeededPart part;
  if (kept.empty()) return part;
  std::vector<std::string> known;
  for (const auto& output : graph.output()) known.push_back(output.name());
  SCOPEVM_RETURN_IF_ERROR(check_outputs(kept, known));
  part.is_all_ = false;
  part.outputs_.insert(kept.begin(), kept.end());
  part.names_ = part.outputs_;
  // Nodes are stored in an order in which each is after those that it needs.
  for (const onnx::NodeProto& node : llvm::reverse(graph.node()))
    if (part.contains(node)) add_names_read_by(node, part.names_);
  return part;
}

bool NeededPart::contains(const onnx::NodeProto& node) const {
  return is_all_ || llvm::any_of(node.output(), [&](const std::string& name) {
           return !name.empty() && names_.contains(name);
         });
}

Status keep_outputs(mlir::func::FuncOp main, const std::vector<std::string>& kept) {
  if (kept.empty()) return {};
  llvm::BitVector omitted(main.getNumResults());
  std::vector<std::string> names;
  for (unsigned i = 0; i < main.getNumResults(); ++i) {
    names.push_back(graph::output_name(main, i));
    omitted[i] = !llvm::is_contained(kept, names.back());
    // An unnamed output keeps the name that its position gives.
    main.setResultAttr(i, "sv.name", mlir::StringAttr::get(main.getContext(), names.back()));
  }
  SCOPEVM_RETURN_IF_ERROR(check_outputs(kept, names));
  main.getBody().front().getTerminator()->eraseOperands(omitted);
  main.eraseResults(omitted);
  graph::remove_unused(main);
  return {};
}

}  // namespace scopevm::compiler::frontend
