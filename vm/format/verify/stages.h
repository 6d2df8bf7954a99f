// The phases of verify(), in order. Each assumes that the preceding ones succeeded.
#pragma once

#include <string>
#include <vector>

#include "scopevm/status.h"
#include "vm/format/schema/module_contents.h"

namespace scopevm::format {

// Verifies the tables: references between them, ranges, names, sizes of constants. Does not verify
// the code.
Status verify_declarations(const ModuleContents& module);

// The parts of verify_declarations() in machine.cpp. verify_images() assumes that verify_machine()
// succeeded.
Status verify_machine(const ModuleContents& module);
Status verify_images(const ModuleContents& module);

// The parts of verify_declarations() in launches.cpp.
// REQUIRES: the kernels' devices are in range.
Status verify_externals(const ModuleContents& module);
Status verify_launches(const ModuleContents& module);

// Decodes a function's code and returns the word index of each instruction. Verifies that every
// field is in range, every jump targets an instruction, and control cannot run past the end. Also
// verifies the rules of the opcode table that do not depend on register contents, such as operand
// counts. Finally verifies the function's memory declarations and sources, which refer to slots and
// words.
Result<std::vector<uint32_t>> verify_instructions(const ModuleContents& module,
                                                  const FunctionDecl& function);

// The shape functions of a module as a forest: the parent of a shape function is the one that it
// follows.
class ShapeFunctionTree {
 public:
  static constexpr int32_t kNone = -1;  // the parent of the roots

  explicit ShapeFunctionTree(const ModuleContents& module);
  int32_t parent(int32_t function) const {
    return function == kNone ? kNone : parents_[static_cast<size_t>(function)];
  }
  // Whether `ancestor` is `function`, one that `function` follows, or kNone.
  bool is_in_effect(int32_t ancestor, int32_t function) const;

 private:
  // The descendants of a shape function have the next positions of a depth-first order.
  std::vector<int32_t> parents_;
  std::vector<uint32_t> positions_;
  std::vector<uint32_t> sizes_;  // of the subtrees
};

// For each pool, the index of the first pool that exactly the same devices can access.
std::vector<uint32_t> reaches_of(const ModuleContents& module);

// What verify_flow() derives from the tables of a module.
struct FlowTables {
  std::vector<uint32_t> reaches;  // reaches_of()
  ShapeFunctionTree shape_functions;
};

// Verifies the contents of registers and the shape functions in effect along every path. `starts`
// is the result of verify_instructions().
Status verify_flow(const ModuleContents& module, const FunctionDecl& function,
                   const std::vector<uint32_t>& starts, const FlowTables& tables);

// Whether the pool is host memory, that is a pool of any CPU of the module.
bool is_host_pool(const ModuleContents& module, uint32_t pool);
// The name of a pool's device in messages.
std::string device_text(const ModuleContents& module, uint32_t pool);

inline Status invalid(const std::string& what) { return Status(StatusCode::kInvalidModel, what); }

inline std::string quoted(const std::string& name) { return "\"" + name + "\""; }

// Fails with "WHAT INDEX is out of range [0, COUNT)" unless index < count.
Status check_index(std::string_view what, uint64_t index, uint64_t count);

Status check_dtype(DType dtype);

// The product of `dims` times the element size; -1 on overflow or a negative dim.
int64_t checked_byte_size(const std::vector<int64_t>& dims, DType dtype);

}  // namespace scopevm::format
