// What a compiled kernel image and the VM agree on. Plain C types only.
//
// An image is a position-independent ELF shared object. It exports one symbol per kernel (KernelFn)
// and one per shape function (ShapeFn). It needs no symbol beyond libc and libm.
#pragma once

#include <cstdint>

namespace scopevm {

// Runs work items [begin, end) of a launch whose total is the launch's grid.
//   buffers  one address per buffer operand: inputs, then results, then temporaries
//   params   the launch's i64 parameters, in the order the kernel declared (grid and grain
//   excluded) worker   in [0, threads): the index of the calling worker; two concurrent calls of
//   one launch
//            never share it. Temporaries sized per worker are indexed with it.
// Concurrent calls on disjoint ranges are allowed. A kernel neither allocates nor fails.
using KernelFn = void (*)(void* const* buffers, const int64_t* params, int64_t begin, int64_t end,
                          int64_t worker);

// Computes every i64 slot of a frame from the dims of its inputs.
//   dims     the dims of every input in order, flattened, then the session's thread count
//   slots    out: the frame's slots
// Returns -1 when every check held, else the index of the first failed check; slots are then
// unspecified. Arithmetic that overflows int64 fails the function's overflow check.
using ShapeFn = int64_t (*)(const int64_t* dims, int64_t* slots);

}  // namespace scopevm
