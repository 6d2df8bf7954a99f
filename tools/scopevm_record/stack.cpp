// Unwinds with the tables of the libraries, because Debian's are built without frame pointers; see
// stack.h. The unwinder is linked statically, so that no library is added to the program.
#include "tools/scopevm_record/stack.h"

#include <unwind.h>

namespace scopevm::record {
namespace {

struct Capture {
  uint64_t caller;
  uint64_t* frames;
  uint64_t depth;
  uint64_t count = 0;  // 0: the frames of the recorder, before `caller`
};

_Unwind_Reason_Code add_frame(_Unwind_Context* context, void* argument) {
  auto& capture = *static_cast<Capture*>(argument);
  const uint64_t address = _Unwind_GetIP(context);
  if (capture.count == 0 && address != capture.caller) return _URC_NO_REASON;
  capture.frames[capture.count++] = address;
  return capture.count < capture.depth ? _URC_NO_REASON : _URC_END_OF_STACK;
}

}  // namespace

void capture_stack(const void* caller, uint64_t* frames, uint64_t depth) {
  Capture capture = {reinterpret_cast<uint64_t>(caller), frames, depth};
  _Unwind_Backtrace(add_frame, &capture);
  // Code without unwind tables: only the caller is known.
  if (capture.count == 0) capture.count = 1;
  for (uint64_t i = capture.count; i < depth; ++i) frames[i] = 0;
}

}  // namespace scopevm::record
