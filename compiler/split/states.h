// States in place (compiler/graph/rewrite/states.h) of a function that is split: the rank that
// appends to a value has it in its memory.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace scopevm::compiler::split {

struct InPlaceState {
  mlir::BlockArgument value;
  unsigned output = 0;  // index of the result that is the value of the next call
  int64_t axis = 0;     // along which a call appends elements
};

// The states of the function whose output is the result of an sv.insert_slice into the value.
std::vector<InPlaceState> states_of(mlir::func::FuncOp function);

// What main has decided for a state.
struct StateChoice {
  int64_t axis = -1;  // that the ranks divide; -1: none
  int stage = 0;      // that has the state
};
// By the name of the input. The variants of main must have the same inputs in the same memory.
using StateChoices = std::map<std::string, StateChoice>;

// Requires the value and the output on `device`.
void place_state(mlir::func::FuncOp function, const InPlaceState& state, const std::string& device);

// A part of a state: a value of the function, and the result that is its value in the next call.
struct StatePart {
  mlir::BlockArgument value;
  mlir::Value output;
  std::string device;
};

// Adds an argument after that of the state, with its name and the suffix ".rank0", ".rank1", ...
mlir::BlockArgument add_part(mlir::func::FuncOp function, const InPlaceState& state, unsigned part,
                             mlir::Type type);
// Replaces the output of the state by those of the parts, ties these to the values of the parts,
// and requires both on their devices.
void replace_output(mlir::func::FuncOp function, unsigned output, llvm::ArrayRef<StatePart> parts);

}  // namespace scopevm::compiler::split
