// What the VM does with texts itself: at the edges of a call, and for the opcodes that look into
// them. Ids in registers are data, so each is looked up with care.
#pragma once

#include <cstdint>
#include <span>

#include "scopevm/tensor.h"
#include "vm/load/frame_layout.h"
#include "vm/run/text_table.h"

namespace scopevm::vm {

// The ids of an input's texts, in a storage of the call.
Result<Register> ids_of_input(TextTable& table, const Tensor& input);

// Packed texts (runtime/tensor/text_tensor.h) of the register's ids in a storage of the call.
Result<runtime::Storage*> texts_of_result(TextTable& table, const Register& ids);

// The opcodes. Errors: kInvalidArgument (a text that spells no such number, with its element's
// index), kInvalidModel (ids that are none, element counts that differ), and those of the table.
Status parse_texts(const TextTable& table, const Register& from, const Register& to);
Status format_texts(TextTable& table, const Register& from, const Register& to);
Status change_case(TextTable& table, const Register& from, const Register& to, bool to_upper);

}  // namespace scopevm::vm
