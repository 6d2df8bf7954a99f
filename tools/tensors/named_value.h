// An input or a result of a call, as a value of its own.
#pragma once

#include <string>
#include <vector>

#include "scopevm/session.h"

namespace scopevm::tool {

struct NamedValue {
  std::string name;
  ValueKind kind = ValueKind::kTensor;
  bool has_value = true;         // false for an optional without a value
  std::vector<Tensor> elements;  // for a tensor: the tensor itself
};

// Sets the input of this name. Errors: those of Call::set_input().
Status set_value(Call& call, const NamedValue& value);

// The results of the last run. REQUIRES: it has succeeded. Errors: kOutOfMemory.
Result<std::vector<NamedValue>> results_of(const Call& call, const Signature& signature);

}  // namespace scopevm::tool
