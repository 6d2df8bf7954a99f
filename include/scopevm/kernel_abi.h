/// @file
/// The ABI between the VM and compiled CPU kernel images. It uses plain C types only.
///
/// An image is a position-independent ELF shared object. It exports one symbol per kernel
/// (KernelFn) and one per shape function (ShapeFn). It imports symbols of libc and libm only. If
/// its kernels have loops, it also exports the pointer kStopCheckSymbol. It can export bound
/// functions (BoundFn and RangeBoundFn) for main and for each variant.
#pragma once

#include <cstdint>

namespace scopevm {

/// The version of this ABI. A module stores it with each CPU image. A change of a type or symbol
/// below, or of the meaning of a parameter, needs a new number. A release runs the images of every
/// ABI that a release before it had; an image of a later ABI does not run.
inline constexpr uint32_t kKernelAbi = 1;

/// Runs work items [begin, end) of a launch; the launch's grid is the total number of items.
///
/// - `buffers`: one address per buffer operand: inputs, then results, then temporaries
/// - `params`: the launch's i64 parameters in the order that the kernel defines; the grid and the
///   grain are not among them
/// - `worker`: index of the calling worker, in [0, threads); indexes per-worker temporaries
/// - `first`: at most `begin`. If it is less, the preceding calls by this worker ran the items
///   [first, begin) of this launch, and its temporaries are unchanged since. The kernel can then
///   reuse data that these calls stored there, such as packed operands.
///
/// Calls for disjoint ranges can run concurrently. Concurrent calls of one launch have different
/// values of `worker`. The results do not depend on the ranges or on `first`. A kernel does not
/// allocate memory and cannot fail.
using KernelFn = void (*)(void* const* buffers, const int64_t* params, int64_t begin, int64_t end,
                          int64_t worker, int64_t first);

/// Returns whether the kernel that the calling thread runs must stop. The kernel then returns, and
/// its results are undefined. Before it returns, it can call the function again, which then returns
/// true again.
using StopCheck = bool (*)();

/// The symbol of a variable of type StopCheck. It is null until the loader sets it. Kernels call
/// the function at least after each half millisecond of work.
inline constexpr char kStopCheckSymbol[] = "scopevm_stop_check";

/// Computes the sizes of one segment of a function, as i64 slots of the frame.
///
/// - `dims`: the dims of the tensors that the `shape_function` instruction lists, in order and
///   flattened, then the session's thread count. The compiler lists all inputs of the function in
///   the first segment, and no tensors in later segments.
/// - `slots`: the frame's slots; a later segment also reads slots that were written before it
///
/// Returns -1 if every check holds, else the index of the first failed check. The overflow check is
/// the last one. It fails if integer arithmetic overflows or a divisor is below 1.
using ShapeFn = int64_t (*)(const int64_t* dims, int64_t* slots);
/// The message of the overflow check, also of a BoundFn or RangeBoundFn that fails.
inline constexpr char kOverflowMessage[] =
    "the sizes that this request needs exceed 64-bit arithmetic";

/// Computes the bytes that a call of a function needs in each pool of the module. Memory that
/// depends on data is not included. Its symbol is kBoundPrefix and the function's name.
/// - `dims`: the value of each dimension of the function, in order, then the session's thread count
/// - `bytes`: one element per pool of the module
///
/// Returns -1, or another number if integer arithmetic overflows.
using BoundFn = int64_t (*)(const int64_t* dims, int64_t* bytes);
/// The start of the symbols of functions of type BoundFn.
inline constexpr char kBoundPrefix[] = "exact_bound_";

/// Computes the bytes that calls of a function need, at most, in each pool of the module, as
/// BoundFn does. Its symbol is kRangeBoundPrefix and the function's name.
/// - `ends`: the least and the largest value of each dimension of the function, in order, then the
///   session's thread count
///
/// The numbers are exact if all ranges have one value, or if no size decreases with a dimension.
using RangeBoundFn = int64_t (*)(const int64_t* ends, int64_t* bytes);
/// The start of the symbols of functions of type RangeBoundFn.
inline constexpr char kRangeBoundPrefix[] = "range_bound_";

}  // namespace scopevm
