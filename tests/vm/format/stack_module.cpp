// Implements stack_module() of sample_modules.h.
#include "tests/vm/format/sample_modules.h"
#include "vm/format/assembly/assembler.h"

namespace scopevm::format {

ModuleContents stack_module() {
  return *assemble(R"(scopevm_module 0.15 producer "scopevm test"
device "cpu" kind "cpu"
pool "global" heap device 0 limit -1
pool "global.stack" stack device 0 limit 128
function "main" registers 4 slots 0 {
  input "x" f32 ["16"]
  output "y" f32 ["16"]
  code {
    %r1 = alloc_storage @global.stack size=64
    %r2 = alloc_tensor %r1 offset=0 bytes=64 f32 [16]
    device_copy to=%r2 to_pool=@global.stack from=%r0 from_pool=@global
    %r3 = call @reads (%r2)
    ret (%r3)
  }
}
function "reads" registers 3 slots 0 {
  input "x" f32 ["16"] pool 1
  output "y" f32 ["16"]
  code {
    %r1 = alloc_storage @global size=64
    %r2 = alloc_tensor %r1 offset=0 bytes=64 f32 [16]
    device_copy to=%r2 to_pool=@global from=%r0 from_pool=@global.stack
    ret (%r2)
  }
}
)",
                   "stack_module");
}

}  // namespace scopevm::format
