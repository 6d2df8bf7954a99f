// The key function of Allocator: anchors its vtable in this library.
#include "scopevm/allocator.h"

namespace scopevm {

Allocator::~Allocator() = default;

}  // namespace scopevm
