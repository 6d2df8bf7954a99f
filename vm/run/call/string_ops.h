// String operations of the VM: conversion of string inputs and results, and the string opcodes. Ids
// in registers are untrusted data, so every lookup is checked.
#pragma once

#include <cstdint>
#include <span>

#include "scopevm/tensor.h"
#include "vm/load/frame_layout.h"
#include "vm/run/call/string_table.h"

namespace scopevm::vm {

// Interns the strings of an input and returns their ids, in a storage of the call.
Result<Register> ids_of_input(StringTable& table, const Tensor& input);

// Packs the strings that the register's ids denote into a storage of the call, in the layout of
// runtime/tensor/string_tensor.h.
Result<runtime::Storage*> strings_of_result(StringTable& table, const Register& ids);

// The operands of a string opcode.
struct StringOperands {
  const Register& to;
  const Register& from;
  int64_t number = 0;
  const Register* other = nullptr;
};

// A string opcode. Errors: kInvalidArgument (a string that is not a number of the element type; the
// message has its index), kInvalidModel (invalid ids, different element counts), kCancelled and
// kDeadlineExceeded, and those of StringTable.
using StringOp = Status(StringTable& table, const StringOperands& in);

StringOp strings_to_numbers, numbers_to_strings;
// To upper case if `number` is not 0, otherwise to lower case.
StringOp change_case;
// `other`: the second string of each element.
StringOp concat_strings;

// `other`: the delimiter. If its only element is the empty string, runs of whitespace separate the
// pieces. `number`: each string is split at most this many times, or without a limit if it is
// negative. The last piece is the rest of the string.
//
// If `to` has strings, writes the pieces of each string, then empty strings up to the number of
// elements that `to` has for each string. Further pieces are ignored. If `to` has numbers, writes
// the number of pieces of each string.
StringOp split_strings;

// Writes 1 for each string that the automaton `other` accepts, otherwise 0. The automaton has i32
// elements: the column of each byte, the number of columns, then a row for each state, of which the
// first is initial. Column 0 of a row is not 0 if the state accepts the end of the string. The
// other columns contain the next state; there is none if it is negative. Errors: also kInvalidModel
// (an index outside of the automaton).
StringOp match_strings;

}  // namespace scopevm::vm
