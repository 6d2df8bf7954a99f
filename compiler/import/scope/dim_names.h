// The dims of a function's inputs: symbols with the bounds given by --dim.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "compiler/dims/dim_expr.h"
#include "scopevm/compiler.h"
#include "scopevm/status.h"

namespace onnx {
class GraphProto;
}

namespace scopevm::compiler::frontend {

// An input dim: a number or a formula if --dim has one, else a symbol with its known bounds.
DimExpr named_dim(const std::string& name, const std::map<std::string, DimBound>& bounds);

// Parses a dim that an input declares as an expression over the names of other input dims, such as
// "past + now". `dim` returns the dim of a name. Returns no value if `text` is not such an
// expression; `text` is then the name of a dim.
std::optional<DimExpr> dim_expression(const std::string& text, const std::set<std::string>& names,
                                      const std::function<DimExpr(const std::string&)>& dim);

// The names of the dims of what earlier calls computed, such as the keys of past tokens: those with
// "past" in their names, and those along which all inputs that have them are only concatenated.
std::set<std::string> past_dims(const onnx::GraphProto& graph);

// Errors: kInvalidArgument if `bounds` or its formulas contain a dim that is not in `names`, or if
// a formula depends on its own dim. With states, bounds can have the capacities of these dims, too,
// but no formulas for them.
Status check_dim_names(const std::map<std::string, DimBound>& bounds,
                       const std::set<std::string>& names, bool has_states);

}  // namespace scopevm::compiler::frontend
