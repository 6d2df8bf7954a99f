/// @file
/// Adapters between Allocator and std::pmr::memory_resource, for host memory:
///
///     AllocatorResource resource(*make_allocator("pool"));
///     std::pmr::vector<float> values(&resource);
#pragma once

#include <cstddef>
#include <memory>
#include <memory_resource>

#include "scopevm/allocator.h"
#include "scopevm/c/export.h"

namespace scopevm {

/// A memory resource that allocates from an Allocator of host memory. Throws std::bad_alloc when
/// the allocator returns null. Thread-safe.
class SCOPEVM_API AllocatorResource final : public std::pmr::memory_resource {
 public:
  /// REQUIRES: `allocator` is not null.
  explicit AllocatorResource(std::shared_ptr<Allocator> allocator);
  ~AllocatorResource() override;

 private:
  void* do_allocate(size_t bytes, size_t alignment) override;
  void do_deallocate(void* block, size_t bytes, size_t alignment) override;
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override;

  const std::shared_ptr<Allocator> allocator_;
};

/// A source whose blocks come from `resource`, which must be thread-safe and outlive the source.
/// For a session: make_allocator("direct", {.source = make_source(&resource)}).
SCOPEVM_API std::shared_ptr<BlockSource> make_source(std::pmr::memory_resource* resource);

}  // namespace scopevm
