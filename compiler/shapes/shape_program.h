// ShapeProgram: straight-line int64 code that computes the slots and checks of a frame from the
// dims of the function's inputs. Values that depend on runtime-defined symbols belong to a later
// segment, whose code runs once the symbols are known. That code reads values of earlier segments
// from their slots.
//
//   dim_expr.cpp       expressions
//   shape_program.cpp  expressions -> program, by value numbering
//   evaluate.cpp       program -> numbers, at compile time
//   formulas.cpp       program -> simplified expressions, for reports
//   emit_llvm.cpp      program -> native ShapeFn
//
// Values are numbered in order, and equal computations share one value. A slot is a value that is
// stored in the frame.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "compiler/program/program.h"
#include "scopevm/status.h"

namespace scopevm::compiler {

class ShapeProgram {
 public:
  enum class Op : uint8_t {
    kConstant,
    kInputDim,
    kThreads,
    kRuntime,  // the value that the VM stores in slot `immediate` before it runs the segment
    kAdd,      // this and the following operations are in the order of FormulaOp
    kMul,
    kFloorDiv,
    kMod,
    kMin,
    kMax
  };

  using ValueIndex = isa::Index<struct ShapeValueTag>;
  struct Instruction {
    Op op;
    int64_t immediate = 0;  // kConstant: the value; kInputDim: index into the flattened input dims;
                            // kRuntime: the slot
    ValueIndex a;           // operands of kAdd and all later opcodes
    ValueIndex b;
    SegmentIndex segment;

    bool has_operands() const { return op >= Op::kAdd; }
    // REQUIRES: has_operands().
    format::FormulaOp formula_op() const {
      return static_cast<format::FormulaOp>(static_cast<int>(op) - static_cast<int>(Op::kAdd));
    }
  };
  struct Condition {
    Check::Kind kind;
    ValueIndex lhs;
    ValueIndex rhs;
    SlotIndex lhs_slot;
    SlotIndex rhs_slot;
    SegmentIndex segment;
    std::string message;                // {0} and {1} stand for the slots' values
    std::vector<SlotIndex> more_slots;  // {2} and higher
  };

  // Binds each symbol of the inputs to the first input dim that consists of that symbol. Binds each
  // runtime-defined symbol to the value that the VM stores. Adds checks in this order: tensor
  // elements that define symbols are not negative; input dims match their declarations; dimensions
  // are within their bounds; the function's own checks; no other dim is negative. Errors:
  // kUnsupported if the function depends on a symbol that is not bound, except kThreadsSymbol.
  static Result<ShapeProgram> create(const Function& function);

  // The segment that computes a value.
  SegmentIndex segment_of(ValueIndex value) const { return instructions_[value].segment; }
  // The first segment in which all symbols of `expr` are known.
  SegmentIndex segment_of(DimExpr expr) const;
  // The conditions of one segment; a failed one is reported by its position among them.
  std::vector<const Condition*> conditions_of(SegmentIndex segment) const;
  // The slot that the VM fills for each of the segment's symbols, in their order.
  const std::vector<SlotIndex>& symbol_slots(SegmentIndex segment) const {
    return symbol_slots_[segment];
  }
  // The slot of a value; empty if it has none.
  std::optional<SlotIndex> find_slot(ValueIndex value) const;
  // The value that the VM stores in a slot, as an expression over symbols.
  DimExpr runtime_value(SlotIndex slot) const;
  // The slot that holds the condition of a branch between its load and the branch. REQUIRES: the
  // function has a step with a condition.
  SlotIndex condition_slot() const { return *condition_slot_; }
  // The shape functions write the slots from this one on, and instructions write those before it.
  SlotIndex first_slot() const { return first_slot_; }

  // The value of an expression over the function's symbols. REQUIRES: its symbols are bound.
  ValueIndex value(DimExpr expr);
  ValueIndex constant(int64_t value);
  ValueIndex add(ValueIndex a, ValueIndex b);
  ValueIndex multiply(ValueIndex a, ValueIndex b);
  ValueIndex min(ValueIndex a, ValueIndex b);
  ValueIndex max(ValueIndex a, ValueIndex b);

  // Translates `value` of `callee` to a value of the caller. `dims` are the dims of the callee's
  // inputs, flattened, as values of the caller. REQUIRES: `value` belongs to segment 0 of `callee`.
  ValueIndex value_in_call(const ShapeProgram& callee, ValueIndex value,
                           std::span<const ValueIndex> dims);

  // The slot that holds a value. Allocated on the first call and shared by later ones.
  SlotIndex slot_of(ValueIndex value);
  // Consecutive slots that hold `values`, for a launch's parameters. Equal lists share one block.
  SlotIndex block_of(const std::vector<ValueIndex>& values);
  std::optional<int64_t> constant_of(ValueIndex value) const;

  const IndexedVector<ValueIndex, Instruction>& instructions() const { return instructions_; }
  const std::vector<Condition>& conditions() const { return conditions_; }
  // The value of each slot; empty for slots that the VM writes.
  const IndexedVector<SlotIndex, std::optional<ValueIndex>>& stores() const { return stores_; }
  const std::vector<DimExpr>& input_dims() const { return dims_; }
  uint32_t dim_count() const { return static_cast<uint32_t>(dims_.size()); }

  // Every value for the given symbols, which include runtime-defined ones. Empty if a symbol has no
  // value, arithmetic overflows or a divisor is below 1.
  using Values = IndexedVector<ValueIndex, int64_t>;
  std::optional<Values> evaluate(const std::map<std::string, int64_t>& symbols,
                                 int64_t threads) const;

  // Each value as a simplified expression over dims, threads and runtime-defined symbols, valid for
  // all dims that pass the checks. Equal parts of the results are one node.
  std::vector<DimExpr> formulas(std::span<const ValueIndex> values) const;

  // One line per instruction, store and check.
  std::string str() const;

 private:
  ValueIndex instruction(Instruction instruction);
  SlotIndex new_slot();
  DimExpr formula(const Instruction& instruction, DimExpr a, DimExpr b) const;
  std::vector<Values> sample_values() const;
  void slot_from_earlier(ValueIndex value);
  void condition(Check::Kind kind, ValueIndex lhs, ValueIndex rhs, std::string message,
                 SegmentIndex segment = {});
  void bind_inputs(const Function& function);
  void take_instruction_slots(const Function& function);
  void bind_symbols(const Function& function);
  ValueIndex part_of(ValueIndex value, const RuntimeSymbol& symbol, SegmentIndex segment);
  void check_inputs(const Function& function);
  void add_symbols(DimExpr dim, Condition& condition);
  void check_dimension(const Dimension& dimension);
  void check_results(const Function& function);
  Status require_bound(const Function& function) const;

  IndexedVector<ValueIndex, Instruction> instructions_;
  std::map<std::tuple<Op, int64_t, ValueIndex, ValueIndex>, ValueIndex> numbered_;
  std::map<DimExpr, ValueIndex> exprs_;
  // The definition of a symbol: the first input dim that consists of it, or a value that the VM
  // stores.
  struct Binding {
    ValueIndex value;
    std::string where;  // for messages: `input "x" dim 0`
    SegmentIndex segment = {};
  };
  std::map<std::string, Binding, std::less<>> symbols_;
  std::vector<DimExpr> dims_;  // the inputs' dims, flattened
  IndexedVector<SegmentIndex, std::vector<SlotIndex>> symbol_slots_;
  std::optional<SlotIndex> condition_slot_;
  SlotIndex first_slot_;
  // For each slot that the VM writes: its value as a sum of symbols, each with its sign.
  std::map<SlotIndex, std::vector<std::pair<std::string, int>>> runtime_values_;
  std::vector<Condition> conditions_;
  IndexedVector<SlotIndex, std::optional<ValueIndex>> stores_;
  std::map<ValueIndex, SlotIndex> slots_;
  std::map<std::vector<ValueIndex>, SlotIndex> blocks_;
};

}  // namespace scopevm::compiler
