// A call runs without the GIL on the thread that makes it, so that Python's handler of SIGINT,
// which only sets a flag, has no effect until the call has ended. During a call of the main thread,
// this handler sets the cancel flag of the call and calls the previous handler.
#include <atomic>
#include <csignal>

#include "python/native/native.h"

namespace scopevm::python {
namespace {

std::atomic<unsigned char> g_is_interrupted = 0;
static_assert(sizeof g_is_interrupted == 1);
// The handler before this one. It changes rarely, so that calls install theirs in one step and
// compare then.
struct sigaction g_previous = {};

std::atomic<bool> g_is_handling = false;

bool is_function(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 ||
         (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
}

void handle(int number, siginfo_t* info, void* context) {
  g_is_interrupted = 1;
  // A previous handler can raise the signal again, as those of LLVM do.
  if (g_is_handling.exchange(true)) return;
  if ((g_previous.sa_flags & SA_SIGINFO) != 0)
    g_previous.sa_sigaction(number, info, context);
  else if (is_function(g_previous))
    g_previous.sa_handler(number);
  g_is_handling = false;
}

}  // namespace

InterruptFlag::InterruptFlag() : is_active_(PyThread_get_thread_ident() == hooks().main_thread) {
  if (!is_active_) return;
  g_is_interrupted = 0;
  struct sigaction action = {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  struct sigaction current;
  is_active_ = sigaction(SIGINT, &action, &current) == 0;
  if (!is_active_) return;
  g_previous = current;
  if (is_function(current)) return;  // else SIGINT ends the process, or is ignored
  (void)sigaction(SIGINT, &current, nullptr);
  is_active_ = false;
}

InterruptFlag::~InterruptFlag() {
  if (is_active_) (void)sigaction(SIGINT, &g_previous, nullptr);
}

const unsigned char* InterruptFlag::flag() const {
  return is_active_ ? reinterpret_cast<const unsigned char*>(&g_is_interrupted) : nullptr;
}

}  // namespace scopevm::python
