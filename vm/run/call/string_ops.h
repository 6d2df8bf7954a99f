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

// The string opcodes. Errors: kInvalidArgument (a string that is not a number of the element type;
// the message has its index), kInvalidModel (invalid ids, different element counts), kCancelled and
// kDeadlineExceeded, and those of StringTable.
Status strings_to_numbers(const StringTable& table, const Register& from, const Register& to);
Status numbers_to_strings(StringTable& table, const Register& from, const Register& to);
Status change_case(StringTable& table, const Register& from, const Register& to, bool to_upper);

}  // namespace scopevm::vm
