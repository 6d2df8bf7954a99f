// What an instruction asks of the registers, and what it leaves in them.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "vm/format/verify/register_state.h"
#include "vm/format/verify/stages.h"
#include "vm/isa/instruction.h"

namespace scopevm::format {

// The effect of each opcode on the registers.
class Transfer {
 public:
  using State = std::vector<RegisterState>;

  // `reaches`: reaches_of(module).
  Transfer(const ModuleContents& module, const FunctionDecl& function,
           const std::vector<uint32_t>& reaches)
      : module_(module), function_(function), reaches_(reaches) {
    for (uint32_t i = 0; i < module.pools.size(); ++i)
      if (is_host(i)) {
        host_reach_ = reaches_[i];
        break;
      }
  }

  Status apply(const isa::Instruction& in, State& state) const;

  RegisterState state_of(const TensorDecl& decl) const {
    if (decl.kind == ValueKind::kClosure) return closure();
    RegisterState state = declared_state(decl.dtype, static_cast<uint32_t>(decl.dims.size()),
                                         list_depth(decl.kind), reaches_[decl.pool]);
    state.is_on_stack = is_stack(decl.pool);
    return state;
  }

 private:
  using Kind = RegisterState::Kind;
  using RegisterIndex = isa::RegisterIndex;

  Status expect(const State& state, RegisterIndex reg, Kind kind) const {
    const RegisterState& held = state[reg.value];
    if (held.kind == kind) return {};
    const char* needed = kind == Kind::kStorage   ? "storage"
                         : kind == Kind::kTensor  ? "tensor"
                         : kind == Kind::kClosure ? "closure"
                                                  : "list";
    return invalid("register " + std::to_string(reg.value) + " " + describe(held.kind) + ", a " +
                   needed + " is needed");
  }

  // What registers, arguments and elements of lists may hold alike.
  Status expect_value(const State& state, RegisterIndex reg, const RegisterState& expected,
                      const std::string& what) const {
    SCOPEVM_RETURN_IF_ERROR(expect(state, reg, expected.kind));
    const RegisterState& held = state[reg.value];
    if (held.reach != expected.reach && held.kind == Kind::kTensor)
      return invalid("register " + std::to_string(reg.value) + " lies in memory of " +
                     place_text(held.reach) + ", " + what + " in that of " +
                     place_text(expected.reach));
    if (held.dtype == expected.dtype && held.rank == expected.rank && held.depth == expected.depth)
      return {};
    return invalid("register " + std::to_string(reg.value) + " holds " + type_text(held) + ", " +
                   what + " is " + type_text(expected));
  }

  static Status check_written(RegisterIndex reg, const RegisterState& held) {
    if (!held.is_read_only) return {};
    return invalid("register " + std::to_string(reg.value) +
                   " holds a constant or an input, which is never written");
  }

  // A value of the declared kind, element type and rank.
  Status expect(const State& state, RegisterIndex reg, const TensorDecl& decl) const {
    return expect_value(state, reg, state_of(decl), "\"" + decl.name + "\"");
  }

  bool is_stack(uint32_t pool) const { return module_.pools[pool].kind == PoolKind::kStack; }
  // What keeps the value may live longer than the frame in which it lies.
  static Status check_kept(const State& state, RegisterIndex reg, const std::string& by) {
    if (!state[reg.value].is_on_stack) return {};
    return invalid("register " + std::to_string(reg.value) + " may lie in a frame, which " + by +
                   " outlives");
  }

  // The memory that the host addresses: any CPU's.
  bool is_host(uint32_t pool) const {
    return module_.devices[module_.pools[pool].device].is_host();
  }
  bool is_reached(uint32_t pool, uint32_t device) const {
    const PoolDecl& decl = module_.pools[pool];
    return decl.device == device ||
           std::ranges::find(decl.shared_with, device) != decl.shared_with.end();
  }
  std::string place_text(uint32_t pool) const {
    return "device \"" + module_.devices[module_.pools[pool].device].name + "\"";
  }
  // The VM itself reads and copies such tensors.
  Status expect_host(const State& state, RegisterIndex reg) const {
    SCOPEVM_RETURN_IF_ERROR(expect(state, reg, Kind::kTensor));
    const uint32_t reach = state[reg.value].reach;
    if (is_host(reach)) return {};
    return invalid("register " + std::to_string(reg.value) + " lies in memory of " +
                   place_text(reach) + ", which the host does not read");
  }
  Status expect_host_pool(isa::PoolIndex pool) const {
    if (is_host(pool.value)) return {};
    return invalid("pool \"" + module_.pools[pool.value].scope + "\" of " + place_text(pool.value) +
                   " is not the host's");
  }
  RegisterState closure() const {
    RegisterState state = closure_state();
    state.reach = host_reach_;
    return state;
  }

  static std::string type_text(const RegisterState& state) {
    std::string text;
    for (uint32_t i = 0; i < state.depth; ++i) text += "list of ";
    text += name(state.dtype);
    return state.depth > 0 ? text : text + " of rank " + std::to_string(state.rank);
  }

  // Dims known now do not take more than `bytes`, unless that is unknown (-1).
  static Status check_dims(const isa::IntList& dims, DType dtype, int64_t bytes) {
    std::vector<int64_t> values;
    for (uint32_t i = 0; i < dims.size(); ++i) {
      if (dims[i].is_slot()) return {};
      values.push_back(dims[i].immediate_value());
    }
    int64_t needed = checked_byte_size(values, dtype);
    if (needed < 0) return invalid("dims are too large");
    if (bytes < 0 || needed <= bytes) return {};
    return invalid("dims take " + std::to_string(needed) + " bytes of " + std::to_string(bytes));
  }

  Status alloc_tensor(const isa::op::alloc_tensor& in, State& state) const;
  Status alloc_view(const isa::op::alloc_view& in, State& state) const;
  Status device_copy(const isa::op::device_copy& in, const State& state) const;
  enum class Elements { kTexts, kNumbers };
  Status text_work(RegisterIndex to, Elements made, RegisterIndex from, Elements read,
                   const State& state) const;
  Status launch(const isa::op::launch& in, const State& state) const;
  Status shape_function(const isa::op::shape_function& in, const State& state) const;
  Status call(const isa::op::call& in, State& state) const;
  Status make_closure(const isa::op::make_closure& in, State& state) const;
  Status call_closure(const isa::op::call_closure& in, State& state) const;
  Status expect_element(const State& state, RegisterIndex element, DType dtype,
                        uint32_t depth) const;
  Status make_list(const isa::op::make_list& in, State& state) const;
  Status list_get(const isa::op::list_get& in, State& state) const;
  Status list_insert(RegisterIndex list, RegisterIndex element, const State& state) const;

  const ModuleContents& module_;
  const FunctionDecl& function_;
  const std::vector<uint32_t>& reaches_;  // by pool
  uint32_t host_reach_ = 0;
};

}  // namespace scopevm::format
