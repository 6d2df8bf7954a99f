// Allocates host memory, with huge pages for large blocks; see system_memory.h.
#include "runtime/memory/sources/system_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>

#include "runtime/memory/sources/available_memory.h"

namespace scopevm::runtime {
namespace {

constexpr int64_t kHugePageBytes = int64_t{2} << 20;
// Minimum size for huge pages. For smaller blocks, the alignment to a huge page costs more than the
// saved page walks.
constexpr int64_t kHugePagesFrom = 2 * kHugePageBytes;
// Half of the 47-bit user address space. Larger requests are rejected without a system call.
constexpr int64_t kMaxBlock = int64_t{1} << 46;

}  // namespace

void* system_allocate(int64_t bytes, int64_t alignment) {
  if (bytes < 0 || bytes > kMaxBlock || !is_available(bytes)) return nullptr;
  const bool is_huge = bytes >= kHugePagesFrom;
  if (is_huge) alignment = std::max(alignment, kHugePageBytes);
  // POSIX allows posix_memalign() to return a null pointer for a size of 0.
  const int64_t size = bytes == 0
                           ? kBlockAlignment
                           : (bytes + kBlockAlignment - 1) / kBlockAlignment * kBlockAlignment;
  void* block = nullptr;
  if (posix_memalign(&block, static_cast<size_t>(alignment), static_cast<size_t>(size)) != 0)
    return nullptr;
  // A failure is ignored: huge pages are an optimisation.
  if (is_huge) (void)madvise(block, static_cast<size_t>(size), MADV_HUGEPAGE);
  return block;
}

void system_deallocate(void* block) { std::free(block); }

}  // namespace scopevm::runtime
