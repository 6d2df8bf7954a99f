// The fence of all threads; see biased_lock.h.
#include "runtime/memory/biased_lock.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace scopevm::runtime {
namespace {

bool membarrier(int command) { return syscall(SYS_membarrier, command, 0, 0) == 0; }

}  // namespace

const bool BiasedLock::kHasBarrier = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);

void BiasedLock::fence() {
  if (!kHasBarrier || !membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED))
    std::atomic_thread_fence(std::memory_order_seq_cst);
}

}  // namespace scopevm::runtime
