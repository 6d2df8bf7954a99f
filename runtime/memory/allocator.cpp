// The defaults of the optional methods of Allocator. Anchors the vtables of Allocator and
// BlockSource in this library.
#include "scopevm/allocator.h"

namespace scopevm {

Allocator::~Allocator() = default;

std::string Allocator::describe_failure(int64_t /*bytes*/) const { return {}; }

Result<AllocatorSnapshot> Allocator::snapshot() const {
  return Status(StatusCode::kUnsupported, "this allocator has no list of its blocks");
}

BlockSource::~BlockSource() = default;

}  // namespace scopevm
