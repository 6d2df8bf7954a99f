// ShapeProgram: every size that a frame needs, as straight-line code over int64: from the dims of a
// function's inputs to its slots and checks. What depends on symbols that are born during the call
// is a later stage: code of its own, that runs when they are known and finds the values of earlier
// stages in their slots.
//
//   dim_expr.cpp       expressions
//   shape_program.cpp  expressions -> program (value numbered)
//   evaluate.cpp       program -> numbers, at compile time
//   emit_llvm.cpp      program -> native ShapeFn
//
// Values are numbered in order; equal computations are one value. Slots are what the frame sees.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "compiler/program.h"
#include "scopevm/status.h"

namespace scopevm::compiler {

class ShapeProgram {
 public:
  enum class Op : uint8_t {
    kConstant,
    kInputDim,
    kThreads,
    kBorn,  // what the VM put into slot `immediate` before it runs the stage
    kAdd,
    kMul,
    kFloorDiv,
    kMod,
    kMin,
    kMax
  };

  using ValueIndex = int32_t;
  struct Instruction {
    Op op;
    int64_t immediate = 0;  // kConstant: the value; kInputDim: index into the flattened input dims
    ValueIndex a = -1;
    ValueIndex b = -1;
    int stage = 0;
  };
  struct Condition {
    Check::Kind kind;
    ValueIndex lhs;
    ValueIndex rhs;
    uint32_t lhs_slot;
    uint32_t rhs_slot;
    int stage;
    std::string message;               // with {0} and {1} for the values of the slots
    std::vector<uint32_t> more_slots;  // {2} and on
  };

  // Binds each symbol to the first input dim that is that symbol. Checks, in this order: that input
  // dims are what the inputs declare, that dimensions are within their bounds, the function's own
  // checks, and that no result's dim is negative. Errors: kUnsupported when a size of the function
  // depends on a symbol that no input dim is.
  static Result<ShapeProgram> create(const Function& function);

  int stage_count() const { return stage_count_; }
  // The stage at whose end a value is known.
  int stage_of(ValueIndex value) const { return instructions_[value].stage; }
  // The first stage in which all symbols of `expr` are known.
  int stage_of(DimExpr expr) const;
  // The conditions of one stage; a failed one is reported by its place among them.
  std::vector<const Condition*> conditions_of(int stage) const;
  // The slot that the VM fills for births[birth] of a stage.
  uint32_t birth_slot(int stage, int birth) const { return birth_slots_[stage][birth]; }
  // The slot of a value that has one.
  std::optional<uint32_t> find_slot(ValueIndex value) const;
  // What the VM puts into a slot, in symbols.
  DimExpr born_value(int64_t slot) const;
  // A slot that no stage writes.
  uint32_t new_slot();

  // The value of an expression over the function's symbols. REQUIRES: its symbols are bound.
  ValueIndex value(DimExpr expr);
  ValueIndex constant(int64_t value);
  ValueIndex add(ValueIndex a, ValueIndex b);
  ValueIndex max(ValueIndex a, ValueIndex b);

  // What `value` of `callee`, whose inputs have these dims one after the other, is to the caller.
  // REQUIRES: it belongs to stage 0 of `callee`.
  ValueIndex value_in_call(const ShapeProgram& callee, ValueIndex value,
                           std::span<const ValueIndex> dims);

  // The slot that holds a value: made on first demand, and shared from then on.
  uint32_t slot_of(ValueIndex value);
  // Consecutive slots that hold `values`, for a launch's parameters. Equal lists share one block.
  uint32_t block_of(const std::vector<ValueIndex>& values);
  std::optional<int64_t> constant_of(ValueIndex value) const;

  const std::vector<Instruction>& instructions() const { return instructions_; }
  const std::vector<Condition>& conditions() const { return conditions_; }
  // stores()[i] is the value of slot i; -1 where the VM writes it.
  const std::vector<ValueIndex>& stores() const { return stores_; }
  uint32_t dim_count() const { return static_cast<uint32_t>(dims_.size()); }

  // Message of the check that fails when arithmetic overflows; its index is conditions().size().
  static constexpr char kOverflowMessage[] =
      "the sizes that this request needs exceed 64-bit arithmetic";

  // Every value for given symbols, born ones among them. Empty when arithmetic overflows or divides
  // by a value below 1.
  std::optional<std::vector<int64_t>> evaluate(const std::map<std::string, int64_t>& symbols,
                                               int64_t threads) const;

  // One instruction, store or check a line.
  std::string str() const;

 private:
  ValueIndex instruction(Instruction instruction);
  void slot_from_earlier(ValueIndex value);
  void condition(Check::Kind kind, ValueIndex lhs, ValueIndex rhs, std::string message,
                 int scope = 0);
  void bind_inputs(const Function& function);
  void bind_births(const Function& function);
  ValueIndex part_of(ValueIndex value, const Birth& birth, int stage);
  void check_inputs(const Function& function);
  void tell_symbols(DimExpr dim, Condition& condition);
  void check_dimension(const Dimension& dimension);
  void check_results(const Function& function);
  Status require_bound(const Function& function) const;

  std::vector<Instruction> instructions_;
  std::map<std::tuple<Op, int64_t, ValueIndex, ValueIndex>, ValueIndex> numbered_;
  std::map<DimExpr, ValueIndex> exprs_;
  // A symbol is the first input dim that is that symbol.
  struct Binding {
    ValueIndex value;
    std::string where;  // `input "x" dim 0`
    int stage = 0;
  };
  std::map<std::string, Binding, std::less<>> symbols_;
  std::vector<DimExpr> dims_;  // the inputs' dims, flattened
  int stage_count_ = 1;
  std::vector<std::vector<uint32_t>> birth_slots_;  // by stage
  // What a born value is made of, by its slot: the sum of these symbols, each with its sign.
  std::map<int64_t, std::vector<std::pair<std::string, int>>> born_;
  std::vector<Condition> conditions_;
  std::vector<ValueIndex> stores_;
  std::map<ValueIndex, uint32_t> slots_;
  std::map<std::vector<ValueIndex>, uint32_t> blocks_;
};

}  // namespace scopevm::compiler
