// Implements external_module() of sample_modules.h.
#include "tests/vm/format/sample_modules.h"
#include "vm/format/assembly/assembler.h"

namespace scopevm::format {

ModuleContents external_module() {
  return *assemble(R"(scopevm_module 0.15 producer "scopevm test"
device "cpu" kind "cpu"
pool "global" heap device 0 limit -1
kernel "lib.add_0" buffers 4 params 5 external "lib" operands [f32 2, f32 1] results [f32 2] description "{\"operands\": []}"
launch kernel 0 params s0 grid 1 grain 1 bytes [s5, 32, s5, 64] reads 2 requires 0
shape_function "shape_main" slots 6 dims 3 {
}
function "main" registers 6 slots 6 {
  dimension "n" min 1 max 9 multiple_of 1
  input "x" f32 ["n", "8"]
  input "b" f32 ["8"]
  output "y" f32 ["n", "8"]
  code {
    shape_function @shape_main (%r0, %r1)
    %r2 = alloc_storage @global size=s5
    %r3 = alloc_tensor %r2 offset=0 bytes=s5 f32 [s0, 8]
    %r4 = alloc_storage @global size=64
    %r5 = alloc_tensor %r4 offset=0 bytes=64 u8 [64]
    call_extern @lib.add_0 (%r0, %r1, %r3, %r5) !"add"
    ret (%r3)
  }
}
image devices [0] cpu "x86-64" features [] bytes 4 {
  AACAPw==
}
)",
                   "external_module");
}

}  // namespace scopevm::format
