// Inlines one call. Private to compiler/program/transform.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/program/program.h"

namespace scopevm::compiler::transform {

// Replaces the call at step `at` of `caller` by the steps of `callee`. `operands`: the callee's
// arguments; those that a closure captured come first. `next_name` numbers renamed symbols.
//
// The symbols of a callee's parameters are replaced by the dims of the arguments. Segment 0 of the
// callee becomes part of the segment of the call's block. The other segments become segments of the
// caller.
void inline_call(Function& caller, int64_t at, const Function& callee,
                 std::vector<ValueId> operands, int& next_name);

// Replaces `count` steps from `at` on by `steps`, which refer to marks by their final positions.
void splice(Function& function, int64_t at, int64_t count, std::vector<Step> steps);

}  // namespace scopevm::compiler::transform
