// Sets inputs and collects results of calls; see named_value.h.
#include "tools/tensors/named_value.h"

#include <span>
#include <utility>

namespace scopevm::tool {

Status set_value(Call& call, const NamedValue& value) {
  if (!value.has_value) return call.set_no_value(value.name);
  if (value.kind == ValueKind::kSequence || value.kind == ValueKind::kOptionalSequence)
    return call.set_sequence(value.name, value.elements);
  return call.set_input(value.name, value.elements.at(0));
}

Result<std::vector<NamedValue>> results_of(const Call& call, const Signature& signature) {
  std::vector<NamedValue> results;
  for (size_t i = 0; i < signature.outputs.size(); ++i) {
    SCOPEVM_ASSIGN_OR_RETURN(const bool has_value, call.has_value(i));
    SCOPEVM_ASSIGN_OR_RETURN(const std::span<const Tensor> elements, call.elements(i));
    results.push_back({signature.outputs[i].name,
                       signature.outputs[i].kind,
                       has_value,
                       {elements.begin(), elements.end()}});
  }
  return results;
}

}  // namespace scopevm::tool
