// What the debugger prints about the state of a run. All functions print to stdout.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scopevm/execution_hook.h"
#include "scopevm/tensor.h"
#include "tools/execution/code_map.h"
#include "vm/format/assembly/code/code_printer.h"

namespace scopevm::tool {

// Values of the dimensions of the module, by name.
using DimensionValues = std::map<std::string, int64_t, std::less<>>;

// Elements [begin, end) of a tensor.
struct ElementRange {
  int64_t begin = 0;
  int64_t end = 8;
};

// Whether `text` is a formula of Inspector::evaluate() whose names exist in some function.
bool is_formula(const std::string& text, const format::ModuleContents& module);

class Inspector {
 public:
  // `code` must outlive this object.
  explicit Inspector(CodeMap& code) : code_(code), references_(code.module()) {}

  void set_dimensions(DimensionValues values) { dimensions_ = std::move(values); }
  const DimensionValues& dimensions() const { return dimensions_; }

  // The value of a formula over dimensions, slots (`s3`), dims of tensors in registers (`r5.0`) and
  // their ranks (`r5.rank`). No value if the formula is malformed, or if a register has no such dim
  // in this state. `state` can be null: then slots and registers have no value.
  std::optional<int64_t> evaluate(const std::string& formula, const ExecutionState* state) const;

  // "12: main:36: %r5 = launch ...".
  void print_place(int64_t position, InstructionPlace place);
  // The lines from `before` instructions before the place to `after` after it.
  void print_code(InstructionPlace place, size_t before, size_t after);
  void print_backtrace(const ExecutionState& state) const;
  // The dimensions, and the dims of the active function's inputs and outputs, with formulas.
  void print_dims(const ExecutionState* state) const;
  // One line for each register that is not empty.
  void print_registers(const ExecutionState& state) const;
  // Errors: kInvalidArgument (no such register), and those of copy_tensor().
  Status print_register(const ExecutionState& state, uint32_t index, ElementRange range) const;
  // Type, statistics and elements.
  void print_tensor(const std::string& name, const std::string& pool, const Tensor& tensor,
                    ElementRange range) const;

 private:
  const std::vector<format::assembly::CodeLine>& lines(uint32_t function);
  std::string describe(const RegisterValue& value) const;

  CodeMap& code_;
  format::assembly::References references_;
  std::map<uint32_t, std::vector<format::assembly::CodeLine>> lines_;
  DimensionValues dimensions_;
};

// The first NaN or, if `infinite`, the first infinity of a tensor of floats.
std::optional<int64_t> find_special(const Tensor& tensor, bool infinite);

}  // namespace scopevm::tool
