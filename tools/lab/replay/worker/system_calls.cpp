// A seccomp filter delivers SIGSYS for the counted calls; its handler executes them. Allocators
// call the kernel directly, so their calls cannot be counted by replacing functions. See
// system_calls.h.
#include "tools/lab/replay/worker/system_calls.h"

#if defined(__x86_64__)

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include <atomic>
#include <cstddef>
#include <iterator>

// The only place whose calls the filter admits.
extern "C" long scopevm_admitted_call(long number, long a, long b, long c, long d, long e, long f);
extern "C" const char scopevm_after_admitted_call[];
asm(R"(
.text
.globl scopevm_admitted_call
.hidden scopevm_admitted_call
.globl scopevm_after_admitted_call
.hidden scopevm_after_admitted_call
.type scopevm_admitted_call, @function
scopevm_admitted_call:
  mov %rdi, %rax
  mov %rsi, %rdi
  mov %rdx, %rsi
  mov %rcx, %rdx
  mov %r8, %r10
  mov %r9, %r8
  mov 8(%rsp), %r9
  syscall
scopevm_after_admitted_call:
  ret
.size scopevm_admitted_call, . - scopevm_admitted_call
)");

namespace scopevm::lab {
namespace {

std::atomic<uint64_t> calls{0};

void execute_call(int /*signal*/, siginfo_t* /*details*/, void* context) {
  calls.fetch_add(1, std::memory_order_relaxed);
  greg_t* registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  registers[REG_RAX] = scopevm_admitted_call(
      registers[REG_RAX], registers[REG_RDI], registers[REG_RSI], registers[REG_RDX],
      registers[REG_R10], registers[REG_R8], registers[REG_R9]);
}

constexpr uint32_t offset_of_pointer(bool is_high) {
  return static_cast<uint32_t>(offsetof(seccomp_data, instruction_pointer)) + (is_high ? 4 : 0);
}

bool install_filter() {
  const auto admitted = reinterpret_cast<uint64_t>(&scopevm_after_admitted_call);
  const auto low = static_cast<uint32_t>(admitted), high = static_cast<uint32_t>(admitted >> 32);
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 5, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_munmap, 4, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mremap, 3, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_brk, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset_of_pointer(false)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, low, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset_of_pointer(true)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, high, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
  };
  const sock_fprog program = {static_cast<unsigned short>(std::size(filter)), filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

}  // namespace

bool start_counting_system_calls() {
  struct sigaction action = {};
  action.sa_sigaction = execute_call;
  // Nested: the handler's thread may be interrupted by no other counted call.
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  return sigaction(SIGSYS, &action, nullptr) == 0 && install_filter();
}

uint64_t counted_system_calls() { return calls; }

}  // namespace scopevm::lab

#else

namespace scopevm::lab {

bool start_counting_system_calls() { return false; }
uint64_t counted_system_calls() { return 0; }

}  // namespace scopevm::lab

#endif
