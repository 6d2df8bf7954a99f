// Switches between stacks with the fcontext functions of Boost.Context; see fiber.h.
#include "vm/run/fiber/fiber.h"

#include <sys/mman.h>
#include <unistd.h>

#include <boost/context/detail/fcontext.hpp>
#include <new>
#include <vector>

#include "runtime/cpu/sanitizer_order.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SCOPEVM_ADDRESS_SANITIZER 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define SCOPEVM_ADDRESS_SANITIZER 1
#endif

#ifdef SCOPEVM_ADDRESS_SANITIZER
extern "C" {
void __sanitizer_start_switch_fiber(void** fake_stack, const void* bottom, size_t bytes);
void __sanitizer_finish_switch_fiber(void* fake_stack, const void** bottom, size_t* bytes);
}
#endif
#ifdef SCOPEVM_THREAD_SANITIZER
extern "C" {
void* __tsan_get_current_fiber();
void* __tsan_create_fiber(unsigned flags);
void __tsan_destroy_fiber(void* fiber);
void __tsan_switch_to_fiber(void* fiber, unsigned flags);
}
#endif

namespace scopevm::vm {
namespace {

using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

size_t page_bytes() {
  static const auto bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

// Tells AddressSanitizer that the next switch is to this stack. `*fake_stack` keeps what it knows
// of the current one. With a null `fake_stack`, no switch returns to the current frames.
[[maybe_unused]] void before_switch([[maybe_unused]] void** fake_stack,
                                    [[maybe_unused]] const void* bottom,
                                    [[maybe_unused]] size_t bytes) {
#ifdef SCOPEVM_ADDRESS_SANITIZER
  __sanitizer_start_switch_fiber(fake_stack, bottom, bytes);
#endif
}

// The counterpart of before_switch() on the new stack. Sets the stack from which it was switched.
void after_switch([[maybe_unused]] void* fake_stack, [[maybe_unused]] const void** bottom,
                  [[maybe_unused]] size_t* bytes) {
#ifdef SCOPEVM_ADDRESS_SANITIZER
  __sanitizer_finish_switch_fiber(fake_stack, bottom, bytes);
#endif
}

}  // namespace

#if defined(NDEBUG) && !defined(SCOPEVM_ADDRESS_SANITIZER) && !defined(SCOPEVM_THREAD_SANITIZER)
// A quarter is enough for the interpreter (CallFiber.StackOfTheInterpreter), because other code
// runs on the stack of the worker: see call_fiber.h.
const size_t Fiber::kStackBytes = size_t{64} << 10;
#else
// Without optimisation, and with the redzones of sanitizers, frames are several times larger.
const size_t Fiber::kStackBytes = size_t{256} << 10;
#endif

// The first frame of each stack. It never returns, so that a stack is prepared once.
struct Fiber::Entry {
  __attribute__((no_sanitize("address"))) static void run(transfer_t from) {
    Fiber& self = *static_cast<Fiber*>(from.data);
    self.outside_ = from.fctx;
    after_switch(nullptr, &self.thread_stack_, &self.thread_stack_bytes_);
    for (;;) {
      self.function_(self.context_);
      self.has_ended_ = true;
      self.switch_out();
    }
  }
};

std::unique_ptr<Fiber> Fiber::create() {
  std::unique_ptr<Fiber> fiber(new (std::nothrow) Fiber);
  if (fiber == nullptr) return nullptr;
  const size_t bytes = page_bytes() + kStackBytes;
  // The system provides pages at their first use.
  void* mapping = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (mapping == MAP_FAILED) return nullptr;
  fiber->mapping_ = static_cast<std::byte*>(mapping);
  fiber->mapped_bytes_ = bytes;
  if (mprotect(mapping, page_bytes(), PROT_NONE) != 0) return nullptr;
  fiber->inside_ = make_fcontext(fiber->mapping_ + bytes, kStackBytes, Entry::run);
#ifdef SCOPEVM_THREAD_SANITIZER
  fiber->inside_state_ = __tsan_create_fiber(0);
#endif
  return fiber;
}

Fiber::~Fiber() {
#ifdef SCOPEVM_THREAD_SANITIZER
  if (inside_state_ != nullptr) __tsan_destroy_fiber(inside_state_);
#endif
  if (mapping_ != nullptr) munmap(mapping_, mapped_bytes_);
}

void Fiber::start(void (*function)(void* context), void* context) {
  function_ = function;
  context_ = context;
  has_ended_ = false;
}

void Fiber::resume() {
  void* fake_stack = nullptr;
  before_switch(&fake_stack, mapping_ + page_bytes(), kStackBytes);
#ifdef SCOPEVM_THREAD_SANITIZER
  outside_state_ = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(inside_state_, 0);
#endif
  inside_ = jump_fcontext(inside_, this).fctx;
  after_switch(fake_stack, nullptr, nullptr);
}

// Does not use frames that AddressSanitizer moves to the heap: it releases them when the function
// has ended.
__attribute__((noinline, no_sanitize("address"))) void Fiber::switch_out() {
  void* fake_stack = nullptr;
  before_switch(has_ended_ ? nullptr : &fake_stack, thread_stack_, thread_stack_bytes_);
#ifdef SCOPEVM_THREAD_SANITIZER
  __tsan_switch_to_fiber(outside_state_, 0);
#endif
  outside_ = jump_fcontext(outside_, nullptr).fctx;
  after_switch(fake_stack, &thread_stack_, &thread_stack_bytes_);
}

void Fiber::suspend() { switch_out(); }

size_t Fiber::used_stack_bytes() const {
  std::vector<unsigned char> is_resident(kStackBytes / page_bytes());
  if (mincore(mapping_ + page_bytes(), kStackBytes, is_resident.data()) != 0) return 0;
  // The stack grows from its last page down.
  size_t unused = 0;
  while (unused < is_resident.size() && (is_resident[unused] & 1) == 0) ++unused;
  return (is_resident.size() - unused) * page_bytes();
}

}  // namespace scopevm::vm
