// Limits of function bodies; see function_calls.h.
#include "compiler/import/scope/function_calls.h"
#include "compiler/import/invalid.h"

#include <algorithm>

#include "compiler/import/import.h"

namespace scopevm::compiler::frontend {
namespace {

// The most nodes of function bodies in a model. Functions that call others twice expand to a number
// of nodes that doubles with each of them.
constexpr int64_t kMaxFunctionNodes = 100'000;

}  // namespace

Status FunctionCalls::check(const std::string& name) const {
  if (std::ranges::find(active_, name) != active_.end())
    return invalid("function \"" + name + "\" calls itself, directly or through other functions");
  if (active_.size() == kMaxNesting)
    return invalid("functions are nested more than " + std::to_string(kMaxNesting) + " deep");
  return {};
}

Status FunctionCalls::enter(const std::string& name, int nodes) {
  nodes_ += nodes;
  if (nodes_ > kMaxFunctionNodes)
    return invalid("the functions of the model expand to more than " +
                   std::to_string(kMaxFunctionNodes) + " nodes");
  active_.push_back(name);
  return {};
}

}  // namespace scopevm::compiler::frontend
