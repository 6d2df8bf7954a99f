/// @file
/// The ABI between the VM and compiled CPU kernel images. It uses plain C types only.
///
/// An image is a position-independent ELF shared object. It exports one symbol per kernel
/// (KernelFn) and one per shape function (ShapeFn). It imports symbols of libc and libm only.
#pragma once

#include <cstdint>

namespace scopevm {

/// Runs work items [begin, end) of a launch; the launch's grid is the total number of items.
///
/// - `buffers`: one address per buffer operand: inputs, then results, then temporaries
/// - `params`: the launch's i64 parameters in the order that the kernel defines; the grid and the
///   grain are not among them
/// - `worker`: index of the calling worker, in [0, threads); indexes per-worker temporaries
///
/// Calls for disjoint ranges can run concurrently. Concurrent calls of one launch have different
/// values of `worker`. A kernel does not allocate memory and cannot fail.
using KernelFn = void (*)(void* const* buffers, const int64_t* params, int64_t begin, int64_t end,
                          int64_t worker);

/// Computes the i64 slots of a frame from the dims of the inputs.
///
/// - `dims`: the dims of all inputs in order, flattened, then the session's thread count
/// - `slots`: out, the frame's slots
///
/// Returns -1 if every check holds, else the index of the first failed check. On integer overflow,
/// it returns the index of the function's overflow check, which follows all other checks.
using ShapeFn = int64_t (*)(const int64_t* dims, int64_t* slots);

}  // namespace scopevm
