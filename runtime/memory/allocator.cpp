// Where the vtable of Allocator lives.
#include "scopevm/allocator.h"

namespace scopevm {

Allocator::~Allocator() = default;

}  // namespace scopevm
