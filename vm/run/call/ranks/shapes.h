// The shapes of a request's inputs as numbers, which rank 0 sends to the others.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "scopevm/status.h"

namespace scopevm::vm {

class Request;

std::vector<int64_t> shapes_of(const Request& request);
// Gives the request inputs of these shapes, in the memory of rank 0. Errors: kDevice (they are not
// the shapes of a request of the module).
Status set_shapes(std::span<const int64_t> shapes, Request& request);

}  // namespace scopevm::vm
