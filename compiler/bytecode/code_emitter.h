// CodeEmitter: one function's steps -> instruction words. Private to compiler/bytecode.
//   code.cpp     values in registers, launches
//   control.cpp  branches, loops, and the stages that begin in them
//   calls.cpp    calls of functions and closures
//
// A stage's planned tensors are views of one storage; results have storage of their own. Registers
// are reused once their value is dead, those of results never, so that the VM can put a caller's
// buffer in their place.
#pragma once

#include <map>

#include "compiler/bytecode/emit.h"
#include "vm/isa/encoder.h"

namespace scopevm::compiler::bytecode {

class CodeEmitter {
 public:
  CodeEmitter(const Machine& machine, const Function& function, PlannedFunction& planned,
              uint32_t shape_functions, std::vector<std::string>& messages);
  Result<Code> run();

 private:
  using ValueIndex = ShapeProgram::ValueIndex;
  static constexpr uint32_t kNone = UINT32_MAX;

  // --- Operands. ---
  isa::Int int_operand(ValueIndex value);
  isa::Int int_operand(DimExpr expr) { return int_operand(shapes_.value(expr)); }
  std::vector<isa::Int> dims_operand(const Value& value);

  // --- Registers. ---
  uint32_t take_register();
  void give_back(ValueId root);
  // The value in whose register another shows: views that begin where their value does have none.
  ValueId shown_in(ValueId id) const;
  uint32_t register_of(ValueId id);
  void release_dead(int64_t at);
  bool holds_reference(ValueId root) const;

  // --- Storages and tensors. ---
  void emit_entry();
  void emit_storage(uint32_t reg, uint32_t pool, isa::Int bytes);
  void emit_tensor(uint32_t reg, uint32_t storage, ValueIndex offset, isa::Int bytes, DType dtype,
                   const std::vector<isa::Int>& dims);
  void emit_tensor(uint32_t reg, uint32_t storage, ValueIndex offset, const Value& value);
  void emit_view(uint32_t reg, uint32_t of, const Value& value);
  void make_result(ValueId id);
  void make_own_storage(ValueId id, uint32_t pool);
  void make_part(ValueId id);
  void release_parts();
  void emit_arenas(int stage);
  uint32_t arena_of(int buffer) const { return arenas_[plan_.arena_of_buffer[buffer]]; }
  isa::PoolIndex host_pool(std::string_view scope) const {
    return {static_cast<uint32_t>(*machine_.find_pool(machine_.host_device(), scope))};
  }
  // Where a value's own storage comes from: what outlives the call is the heap's.
  uint32_t own_pool(ValueId id) const;

  // --- Steps. ---
  void emit_step(const Step& step, int64_t index);
  void emit_kernel_step(const Step& step, int64_t index);
  void emit_copy(ValueId to, ValueId from);
  void emit_launch(const Step& step, const std::vector<isa::RegisterIndex>& buffers);
  void emit_text(TextWork work, isa::RegisterIndex to, isa::RegisterIndex from);
  void emit_return();

  // --- Calls: calls.cpp. ---
  void emit_call(const Step& step);
  void emit_call_of(const Step& step, const std::vector<isa::RegisterIndex>& arguments);

  // --- Lists: lists.cpp. ---
  void emit_list_step(const Step& step, int64_t index);
  void emit_make_list(const Step& step);
  void emit_list_get(const Step& step);
  isa::RegisterIndex with_own_dims(ValueId id);
  void release_views();
  isa::PoolIndex list_pool() const { return host_pool("global"); }
  void take_list(const Step& step, int64_t index);
  bool is_dead_after(ValueId root, int64_t step) const;
  std::vector<int64_t> steps_after(int64_t step) const;

  // --- Control flow: control.cpp. ---
  struct OpenIf {
    isa::Encoder::Label otherwise, end;
  };
  struct OpenLoop {
    isa::Encoder::Label body, check, end;
    uint32_t count_slot = 0;
  };
  void emit_control(const Step& step, int64_t index);
  void load_constants_of_region(int64_t begin);
  void emit_stage(const Step& step);
  void emit_births(const Step& step);
  void emit_assert(const Step& step);
  void begin_if(const Step& step, int64_t index);
  void begin_else(const Step& step);
  void begin_loop(const Step& step, int64_t index);
  void end_loop(const Step& step);
  void emit_move(uint32_t to, uint32_t from);
  isa::Int condition_slot(ValueId condition);
  void finish_growing(const Step& loop);

  const Machine& machine_;
  const Function& function_;
  ShapeProgram& shapes_;
  const memory::Plan& plan_;
  const uint32_t shape_functions_;  // index of stage 0's
  std::vector<std::string>& messages_;
  std::vector<int> outputs_;
  std::vector<std::vector<ValueId>> dying_;  // roots by the step after which they are dead
  std::vector<std::vector<int>> ending_;     // arenas by the step after which they are unused
  std::vector<uint32_t> registers_;          // by value
  std::vector<uint32_t> storages_;           // by value, of those that have one of their own
  std::vector<uint32_t> arenas_;             // storage registers, by arena of the plan
  std::vector<ValueId> parts_;               // of the step at hand
  std::vector<uint32_t> views_;              // likewise
  std::map<int64_t, OpenIf> ifs_;            // by step
  std::map<int64_t, OpenLoop> loops_;
  std::vector<uint32_t> free_;
  int depth_ = 0;
  uint32_t register_count_ = 0;
  isa::Encoder encoder_;
  Code code_;
};

}  // namespace scopevm::compiler::bytecode
