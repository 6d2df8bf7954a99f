// The stages of verify(), in order. Each relies on those before it.
#pragma once

#include <string>
#include <vector>

#include "scopevm/status.h"
#include "vm/format/module_contents.h"

namespace scopevm::format {

// Tables: references between them, ranges, names, constants' sizes. No code.
Status verify_declarations(const ModuleContents& module);

// Cuts a function's code. Every field is in range, every target is an instruction, and control
// cannot run off the end; arities that need no register state agree. Memory decls and sources of
// the function are judged here too, for they name slots and words.
Result<std::vector<uint32_t>> verify_instructions(const ModuleContents& module,
                                                  const FunctionDecl& function);

// For each pool, the first that the same devices reach.
std::vector<uint32_t> reaches_of(const ModuleContents& module);

// What registers hold, along every path. `reaches`: reaches_of(module).
Status verify_flow(const ModuleContents& module, const FunctionDecl& function,
                   const std::vector<uint32_t>& starts, const std::vector<uint32_t>& reaches);

// Whether the pool is memory of the host, which every CPU of the module is.
bool is_host_pool(const ModuleContents& module, uint32_t pool);
// The device of a pool, as messages name it.
std::string place_text(const ModuleContents& module, uint32_t pool);

inline Status invalid(const std::string& what) { return Status(StatusCode::kInvalidModel, what); }

// Fails with "WHAT INDEX is out of range: there are COUNT" unless index < count.
Status check_index(std::string_view what, uint64_t index, uint64_t count);

// dims' product times bytes per element; -1 if it overflows or a dim is negative.
int64_t checked_byte_size(const std::vector<int64_t>& dims, DType dtype);

}  // namespace scopevm::format
