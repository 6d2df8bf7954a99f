// CodeEmitter: translates one function's steps to instruction words. Private to compiler/bytecode.
//   code_emitter.cpp  registers, storages, launches, copies
//   control.cpp       branches, loops, and the segments that begin in them
//   calls.cpp         calls of functions and closures
//   lists.cpp         operations on lists
//
// The planned tensors of a segment are views of one storage in each pool. Each result has its own
// storage. A register is reused after its value is dead. The register of a result is never reused,
// because the VM can replace its storage by a buffer of the caller.
#pragma once

#include <map>
#include <set>
#include <string>

#include "compiler/bytecode/emit.h"
#include "vm/isa/encoder.h"

namespace scopevm::compiler::bytecode {

using memory::ArenaIndex;
using memory::BufferIndex;

class CodeEmitter {
 public:
  CodeEmitter(const Machine& machine, const Function& function, PlannedFunction& planned,
              format::ModuleContents& module);
  Result<Code> run();

 private:
  using ValueIndex = ShapeProgram::ValueIndex;
  using Register = isa::RegisterIndex;

  // --- Operands. ---
  isa::Int int_operand(ValueIndex value);
  isa::Int int_operand(DimExpr expr) { return int_operand(shapes_.value(expr)); }
  std::vector<isa::Int> dims_operand(const Value& value);

  // --- Registers. ---
  // A register that is never reused.
  Register new_register() { return {register_count_++}; }
  // A register from the free list, or else a new one.
  Register take_register();
  // Returns the register to the free list and empties `reg`. If owns_memory, emits the release of
  // the register's storage first.
  void free_register(std::optional<Register>& reg, bool owns_memory);
  void release(ValueId root);
  // The value whose register `id` uses: a view without an offset shares the register of its source.
  ValueId shown_in(ValueId id) const;
  Register register_of(ValueId id);
  void release_dead(int64_t at);
  bool holds_reference(ValueId root) const;

  // --- Storages and tensors. ---
  void emit_entry();
  void emit_storage(Register reg, PoolIndex pool, isa::Int bytes);
  void emit_tensor(Register reg, Register storage, ValueIndex offset, isa::Int bytes, DType dtype,
                   const std::vector<isa::Int>& dims);
  void emit_tensor(Register reg, Register storage, ValueIndex offset, const Value& value);
  void emit_view(Register reg, Register of, const Value& value);
  void make_result(ValueId id);
  void make_own_storage(ValueId id, PoolIndex pool);
  void make_part(ValueId id);
  void release_parts();
  void emit_arenas(SegmentIndex segment);
  Register arena_of(BufferIndex buffer) const { return *arenas_[plan_.arena_of_buffer[buffer]]; }
  PoolIndex host_pool(std::string_view scope) const {
    return *machine_.find_pool(machine_.host_device(), scope);
  }
  // The pool of a value's own storage. For a result of the function, this is result_pool().
  PoolIndex own_pool(ValueId id) const;

  // --- Steps. ---
  void emit_step(const Step& step, int64_t index);
  void emit_kernel_step(const Step& step, int64_t index);
  std::vector<Register> emit_temporaries(int64_t index);
  void emit_copy(ValueId to, ValueId from);
  void emit_launch(const Step& step, int64_t index, const std::vector<Register>& buffers);
  void emit_string_work(const step::StringWork& work, const std::vector<Register>& buffers);
  void emit_split(const step::StringWork& work, Register from, Register delimiter, Register to);
  void emit_return();

  // --- Calls: calls.cpp. ---
  void emit_call(const Step& step);
  void emit_call_of(const Step& step, const std::vector<Register>& arguments);

  // --- Lists: lists.cpp. ---
  void emit_list_step(const Step& step, int64_t index);
  void emit_make_list(const Step& step);
  void emit_list_get(const Step& step, DimExpr at);
  void emit_list_insert(const Step& step, const std::optional<DimExpr>& at, int64_t index);
  void emit_list_erase(const Step& step, DimExpr at, int64_t index);
  Register with_own_dims(ValueId id);
  void release_views();
  PoolIndex list_pool() const { return host_pool("global"); }
  void take_list(const Step& step, int64_t index);
  bool is_dead_after(ValueId root, int64_t step) const;
  std::vector<int64_t> steps_after(int64_t step) const;

  // --- Control flow: control.cpp. ---
  struct OpenIf {
    isa::Encoder::Label otherwise, end;
    isa::ShapeFunctionIndex in_effect;
  };
  struct OpenLoop {
    isa::Encoder::Label body, check, end;
    SlotIndex count_slot;
    isa::ShapeFunctionIndex in_effect;
  };
  void emit_control(const Step& step, int64_t index);
  void load_constants_of_region(int64_t begin);
  void begin_segment(const Step& step);
  void emit_symbols(const Step& step);
  void emit_assert(const Step& step, const std::string& message);
  void begin_if(const Step& step, int64_t index);
  void begin_else(const Step& step, int64_t begin);
  void begin_loop(const Step& step, int64_t index);
  void end_loop(const Step& step, const step::EndLoop& end, int64_t index);
  void release_condition(ValueId condition, int64_t begin, int64_t end);
  void emit_move_step(const Step& step);
  void emit_swap(const Step& step);
  void emit_move(Register to, Register from);
  isa::Int condition_slot(ValueId condition);
  void finish_accumulators(const Step& loop);

  const Machine& machine_;
  const Function& function_;
  ShapeProgram& shapes_;
  const memory::Plan& plan_;
  format::ModuleContents& module_;  // receives the launches and the messages of assertions
  const isa::ShapeFunctionIndex first_shape_function_;  // of segment 0; later ones have the next
  // At the current instruction: the last shape function that has run on every path.
  isa::ShapeFunctionIndex in_effect_;
  const IndexedVector<ValueId, bool> is_output_;
  const std::set<std::string> used_symbols_;  // in sizes and expressions of the function
  std::vector<std::vector<ValueId>> dying_;   // root values, by the step after which they are dead
  std::vector<std::vector<ArenaIndex>> ending_;  // arenas, by the step after which they are unused
  IndexedVector<ValueId, std::optional<Register>> registers_;
  IndexedVector<ValueId, std::optional<Register>> storages_;  // for values with their own storage
  IndexedVector<ArenaIndex, std::optional<Register>> arenas_;
  std::vector<ValueId> parts_;     // of the current step
  std::vector<Register> views_;    // of the current step
  std::map<int64_t, OpenIf> ifs_;  // by the index of the step that opens the branch
  std::map<int64_t, OpenLoop> loops_;
  std::vector<Register> free_;
  int depth_ = 0;  // nesting of open branches and loops
  uint32_t register_count_ = 0;
  isa::Encoder encoder_;
  Code code_;
};

}  // namespace scopevm::compiler::bytecode
