// The transfer function of the verifier's data-flow analysis: the preconditions of an instruction
// on the contents of registers, and the contents after the instruction.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "vm/format/verify/register_state.h"
#include "vm/format/verify/stages.h"
#include "vm/isa/instruction.h"

namespace scopevm::format {

// Evaluates the rules and definitions of each opcode's row in the opcode table.
class Transfer {
 public:
  struct State {
    std::vector<RegisterState> registers;
    // The shape function that ran last, and with those that it follows is in effect. kNone: none.
    int32_t shape_function = ShapeFunctionTree::kNone;

    RegisterState& operator[](uint32_t reg) { return registers[reg]; }
    const RegisterState& operator[](uint32_t reg) const { return registers[reg]; }
  };

  Transfer(const ModuleContents& module, const FunctionDecl& function, const FlowTables& tables);

  // Fails unless `state` satisfies the instruction's rules and definitions; else updates it to the
  // state after the instruction.
  Status apply(const isa::Instruction& in, State& state);

  RegisterState state_of(const TensorDecl& decl) const;

 private:
  using Kind = RegisterState::Kind;
  using Field = isa::Instruction::Field;

  // A register that an instruction reads, with its state.
  struct Operand {
    uint32_t reg;
    uint32_t index;  // position in its field
    const RegisterState& held;
  };

  Status check(const isa::Instruction& in, const Field& field, const isa::Rule& rule,
               const State& state) const;
  Status check_field(const isa::Instruction& in, const Field& field, const isa::Rule& rule,
                     const State& state) const;
  Status check_operand(const isa::Instruction& in, const isa::Rule& rule, const Operand& operand,
                       const State& state) const;
  static Status expect_any(const Operand& operand);
  static Status expect(const Operand& operand, Kind kind);
  Status expect_value(const Operand& operand, const RegisterState& expected,
                      const std::string& what) const;
  // Fails unless the operand has the kind, element type and rank of `decl`. A tensor must also be
  // in memory that exactly the devices of its declared pool can access.
  Status expect_declared(const Operand& operand, const TensorDecl& decl) const;
  Status expect_element(const Operand& operand, DType dtype, uint32_t depth) const;
  static Status expect_not_in_frame(const Operand& operand);
  Status expect_on_host(const Operand& operand) const;
  Status expect_in_pool(const Operand& operand, uint32_t pool) const;
  Status expect_reached(const Operand& operand, uint32_t device) const;
  static Status expect_writable(const Operand& operand);
  static Status expect_strings(const Operand& operand, bool are_strings);
  static Status expect_integers(const Operand& operand);
  static Status expect_external_type(const Operand& operand, const ExternalDecl& external);
  Status expect_in_effect(int32_t function, const State& state) const;
  static Status check_total_rank(const Field& field, const State& state, uint32_t expected);

  // The state of register `i` of a written field after the instruction.
  Result<RegisterState> define(const isa::Instruction& in, const Field& field, uint32_t i,
                               const State& state) const;
  Result<RegisterState> define_tensor(const isa::Instruction& in, const isa::Definition& definition,
                                      uint32_t rank, const RegisterState& storage) const;
  Result<RegisterState> define_view(const isa::Instruction& in, const isa::Definition& definition,
                                    uint32_t rank, RegisterState view) const;

  bool is_stack(uint32_t pool) const { return module_.pools[pool].kind == PoolKind::kStack; }
  const KernelDecl& kernel_of(uint32_t launch) const {
    return module_.kernels[module_.launches[launch].kernel];
  }
  RegisterState closure() const;

  const ModuleContents& module_;
  const FunctionDecl& function_;
  const std::vector<uint32_t>& reaches_;  // by pool
  const ShapeFunctionTree& shape_functions_;
  uint32_t host_reach_ = 0;
  std::vector<std::pair<uint32_t, RegisterState>> defined_;  // scratch space of apply()
};

}  // namespace scopevm::format
