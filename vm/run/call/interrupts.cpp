// The messages of interrupts; see interrupts.h.
#include "vm/run/call/interrupts.h"

namespace scopevm::vm {

Status interrupt_status(StatusCode code) {
  return {code,
          code == StatusCode::kCancelled ? "the call was cancelled" : "the call's deadline passed"};
}

}  // namespace scopevm::vm
