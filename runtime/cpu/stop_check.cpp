// The check of the current thread.
#include "runtime/cpu/stop_check.h"

namespace scopevm::runtime {
namespace {

thread_local StopCheckScope::Check g_check = nullptr;
thread_local void* g_context = nullptr;

}  // namespace

StopCheckScope::StopCheckScope(Check check, void* context)
    : outer_check_(g_check), outer_context_(g_context) {
  g_check = check;
  g_context = context;
}

StopCheckScope::~StopCheckScope() {
  g_check = outer_check_;
  g_context = outer_context_;
}

bool should_kernel_stop() { return g_check != nullptr && g_check(g_context); }

}  // namespace scopevm::runtime
