// Dim names -> expressions; see dim_names.h.
#include "compiler/import/scope/dim_names.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cctype>

#include "compiler/graph/rewrite/states.h"
#include "compiler/import/model/onnx_types.h"
#include "runtime/name_text.h"
#include "runtime/quoted.h"

namespace scopevm::compiler::frontend {
namespace {

Status unknown_dim(const std::string& name, const std::set<std::string>& names) {
  std::string known;
  for (const std::string& other : names)
    known += (known.empty() ? "" : ", ") + runtime::escaped(runtime::name_text(other));
  return {StatusCode::kInvalidArgument,
          "unknown dimension " + runtime::quoted(name) + "; " +
              (known.empty() ? "all dimensions are constants" : "known: " + known)};
}

bool has_past(std::string name) {
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  return name.find("past") != std::string::npos;
}

// Whether the node concatenates along the axis of a tensor of this rank.
bool concatenates(const onnx::NodeProto& node, int axis, int rank) {
  if (node.op_type() != "Concat") return false;
  return std::ranges::any_of(node.attribute(), [&](const onnx::AttributeProto& attribute) {
    return attribute.name() == "axis" && (attribute.i() == axis || attribute.i() == axis - rank);
  });
}

bool has_subgraphs(const onnx::NodeProto& node) {
  return std::ranges::any_of(node.attribute(), &onnx::AttributeProto::has_g);
}

// Whether all nodes that read the input concatenate it along the axis.
bool is_only_concatenated(const onnx::GraphProto& graph, const onnx::ValueInfoProto& input,
                          int axis) {
  const int rank = input.type().tensor_type().shape().dim_size();
  bool is_read = false;
  for (const onnx::NodeProto& node : graph.node()) {
    const bool reads = std::ranges::find(node.input(), input.name()) != node.input().end();
    is_read |= reads;
    // Nodes of inner graphs can read the input, too.
    if (has_subgraphs(node) || (reads && !concatenates(node, axis, rank))) return false;
  }
  return is_read;
}

// `most_formulas`: the most formulas within one another. More of them form a cycle, which
// check_dim_names() reports.
DimExpr named_dim(const std::string& name, const std::map<std::string, DimBound>& bounds,
                  size_t most_formulas) {
  auto found = bounds.find(name);
  const DimBound bound = found == bounds.end() ? DimBound() : found->second;
  if (!bound.formula.empty() && most_formulas > 0)
    if (const std::optional<DimExpr> formula = DimExpr::parse(bound.formula))
      return formula->substitute([&](std::string_view part) {
        return std::optional(named_dim(std::string(part), bounds, most_formulas - 1));
      });
  if (bound.least() == bound.max) return bound.max;
  return DimExpr::symbol(name, {bound.least(), bound.max, bound.multiple_of});
}

}  // namespace

std::set<std::string> past_dims(const onnx::GraphProto& graph) {
  std::set<std::string> initializers, all, past, others;
  for (const onnx::TensorProto& tensor : graph.initializer()) initializers.insert(tensor.name());
  for (const onnx::ValueInfoProto& input : graph.input()) {
    const auto& type = input.type().tensor_type();
    // The dims of other inputs have no names in the graph.
    if (initializers.contains(input.name()) || !dtype_of_onnx(type.elem_type())) continue;
    for (int axis = 0; axis < type.shape().dim_size(); ++axis) {
      const std::string& name = type.shape().dim(axis).dim_param();
      if (name.empty()) continue;
      const bool is_past = has_past(name) || is_only_concatenated(graph, input, axis);
      (is_past ? past : others).insert(name);
      all.insert(name);
    }
  }
  std::erase_if(past, [&](const std::string& name) {
    const auto symbol = [](const std::string& part) { return DimExpr::symbol(part); };
    return others.contains(name) || dim_expression(name, all, symbol);
  });
  return past;
}

DimExpr named_dim(const std::string& name, const std::map<std::string, DimBound>& bounds) {
  return named_dim(name, bounds, bounds.size());
}

std::optional<DimExpr> dim_expression(const std::string& text, const std::set<std::string>& names,
                                      const std::function<DimExpr(const std::string&)>& dim) {
  std::optional<DimExpr> expression = DimExpr::parse(text);
  // A string such as "2*n" is an expression only if n is the name of an input dim. Otherwise it is
  // the name of a dim.
  if (!expression || expression->kind() == DimExpr::Kind::kSymbol) return std::nullopt;
  std::vector<std::string> symbols = expression->symbols();
  bool are_known = std::ranges::all_of(
      symbols, [&](const std::string& symbol) { return names.contains(symbol); });
  if (symbols.empty() || !are_known) return std::nullopt;
  return expression->substitute(
      [&](std::string_view symbol) { return std::optional(dim(std::string(symbol))); });
}

Status check_dim_names(const std::map<std::string, DimBound>& bounds,
                       const std::set<std::string>& names, bool has_states) {
  std::set<std::string> capacities;
  if (has_states)
    for (const std::string& name : names)
      if (!names.contains(graph::capacity_name(name)))
        capacities.insert(graph::capacity_name(name));
  std::set<std::string> active;  // the names whose formulas lead to the current one
  const std::function<Status(const std::string&)> check = [&](const std::string& name) -> Status {
    if (!names.contains(name)) return unknown_dim(name, names);
    const auto bound = bounds.find(name);
    if (bound == bounds.end() || bound->second.formula.empty()) return {};
    const std::optional<DimExpr> formula = DimExpr::parse(bound->second.formula);
    if (!formula)
      return {StatusCode::kInvalidArgument,
              runtime::quoted(bound->second.formula) + " is not a formula"};
    if (!active.insert(name).second)
      return {StatusCode::kInvalidArgument,
              "dimension " + runtime::quoted(name) + " depends on itself"};
    for (const std::string& part : formula->symbols()) SCOPEVM_RETURN_IF_ERROR(check(part));
    active.erase(name);
    return {};
  };
  for (const auto& [name, bound] : bounds) {
    if (!capacities.contains(name))
      SCOPEVM_RETURN_IF_ERROR(check(name));
    else if (!bound.formula.empty())
      return {StatusCode::kInvalidArgument, "the capacity " + runtime::quoted(name) + " is " +
                                                runtime::quoted(bound.formula) +
                                                ", expected a number or bounds"};
  }
  return {};
}

}  // namespace scopevm::compiler::frontend
