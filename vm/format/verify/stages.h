// The phases of verify(), in order. Each assumes that the preceding ones succeeded.
#pragma once

#include <string>
#include <vector>

#include "scopevm/status.h"
#include "vm/format/module_contents.h"

namespace scopevm::format {

// Verifies the tables: references between them, ranges, names, sizes of constants. Does not verify
// the code.
Status verify_declarations(const ModuleContents& module);

// Decodes a function's code and returns the word index of each instruction. Verifies that every
// field is in range, every jump targets an instruction, and control cannot run past the end. Also
// verifies the rules of the opcode table that do not depend on register contents, such as operand
// counts. Finally verifies the function's memory declarations and sources, which refer to slots and
// words.
Result<std::vector<uint32_t>> verify_instructions(const ModuleContents& module,
                                                  const FunctionDecl& function);

// For each pool, the index of the first pool that exactly the same devices can access.
std::vector<uint32_t> reaches_of(const ModuleContents& module);

// Verifies the contents of registers along every path. `starts` is the result of
// verify_instructions(); `reaches` that of reaches_of().
Status verify_flow(const ModuleContents& module, const FunctionDecl& function,
                   const std::vector<uint32_t>& starts, const std::vector<uint32_t>& reaches);

// Whether the pool is host memory, that is a pool of any CPU of the module.
bool is_host_pool(const ModuleContents& module, uint32_t pool);
// The name of a pool's device in messages.
std::string device_text(const ModuleContents& module, uint32_t pool);

inline Status invalid(const std::string& what) { return Status(StatusCode::kInvalidModel, what); }

// Fails with "WHAT INDEX is out of range [0, COUNT)" unless index < count.
Status check_index(std::string_view what, uint64_t index, uint64_t count);

// The product of `dims` times the element size; -1 on overflow or a negative dim.
int64_t checked_byte_size(const std::vector<int64_t>& dims, DType dtype);

}  // namespace scopevm::format
