// Checks of the values of a request: bounds of dimensions, and the checks of shape functions.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "scopevm/module.h"
#include "scopevm/status.h"
#include "vm/format/schema/module_contents.h"

namespace scopevm::vm {

// Checks that a dimension's value is within its bounds. `where` names the origin of the value in
// messages.
Status check_dimension(const DimensionSignature& dimension, int64_t value,
                       const std::string& where);

// Checks that every value names a dimension of the signature.
Status check_names(const Signature& signature, const std::map<std::string, int64_t>& dims);

// Checks that every value names a dimension and is within its bounds, and the number of threads.
Status check_request(const Signature& signature, const std::map<std::string, int64_t>& dims,
                     int threads);

// The error for a failed check: kInvalidArgument, with values substituted for the message's
// placeholders, or kInvalidModel if `check` is out of range.
Status check_failure(const format::ShapeFunctionDecl& function, int64_t check,
                     const int64_t* slots);

}  // namespace scopevm::vm
