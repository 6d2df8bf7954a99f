// Implements the rules of vm/isa/rules.def on register contents; see transfer.h.
#include "vm/format/verify/transfer.h"

#include <algorithm>
#include <map>
#include <set>

#include "runtime/count_text.h"

namespace scopevm::format {

using isa::Access;
using isa::Instruction;
using isa::Rule;
using isa::RuleKind;
using runtime::count_text;

namespace {

using Kind = RegisterState::Kind;

bool is_value(Kind kind) {
  return kind == Kind::kStorage || kind == Kind::kTensor || kind == Kind::kList ||
         kind == Kind::kClosure;
}

std::string register_text(uint32_t reg) { return "register " + std::to_string(reg); }

std::string type_text(const RegisterState& state) {
  std::string text;
  for (uint32_t i = 0; i < state.depth; ++i) text += "list of ";
  text += name(state.dtype);
  return state.depth > 0 ? text : text + " of rank " + std::to_string(state.rank);
}

}  // namespace

std::vector<uint32_t> reaches_of(const ModuleContents& module) {
  std::map<std::set<uint32_t>, uint32_t> first;
  std::vector<uint32_t> reaches;
  for (uint32_t i = 0; i < module.pools.size(); ++i) {
    const PoolDecl& pool = module.pools[i];
    std::set<uint32_t> devices(pool.shared_with.begin(), pool.shared_with.end());
    devices.insert(pool.device);
    // Pools that the same devices can access have one index, so that these sets are compared as
    // integers.
    reaches.push_back(first.try_emplace(std::move(devices), i).first->second);
  }
  return reaches;
}

bool is_host_pool(const ModuleContents& module, uint32_t pool) {
  return module.devices[module.pools[pool].device].is_host();
}

std::string device_text(const ModuleContents& module, uint32_t pool) {
  return "device \"" + module.devices[module.pools[pool].device].name + "\"";
}

Transfer::Transfer(const ModuleContents& module, const FunctionDecl& function,
                   const FlowTables& tables)
    : module_(module),
      function_(function),
      reaches_(tables.reaches),
      shape_functions_(tables.shape_functions) {
  for (uint32_t i = 0; i < module.pools.size(); ++i)
    if (is_host_pool(module_, i)) {
      // Lists and closures are allocated in host memory.
      host_reach_ = reaches_[i];
      break;
    }
}

RegisterState Transfer::state_of(const TensorDecl& decl) const {
  if (decl.kind == ValueKind::kClosure) return closure();
  RegisterState state = declared_state(decl.dtype, static_cast<uint32_t>(decl.dims.size()),
                                       list_depth(decl.kind), reaches_[decl.pool]);
  state.is_on_stack = is_stack(decl.pool);
  return state;
}

RegisterState Transfer::closure() const {
  RegisterState state = closure_state();
  state.reach = host_reach_;
  return state;
}

// All operands are read before a register is written, so the definitions are applied last.
Status Transfer::apply(const Instruction& in, State& state) {
  for (const Field& field : in.fields())
    for (const Rule& rule : field.row->rules())
      SCOPEVM_RETURN_IF_ERROR(check(in, field, rule, state));
  defined_.clear();
  for (const Field& field : in.fields()) {
    if (!is_written(field.access())) continue;
    for (uint32_t i = 0; i < field.words.size(); ++i) {
      SCOPEVM_ASSIGN_OR_RETURN(RegisterState defined, define(in, field, i, state));
      defined_.emplace_back(field.words[i], defined);
    }
  }
  for (const Field& field : in.fields())
    // Released before the definitions, because an instruction may release a register and write it
    // again.
    if (field.access() == Access::kRelease)
      for (uint32_t reg : field.words) state[reg] = {};
  for (const auto& [reg, defined] : defined_) state[reg] = defined;
  for (const Field& field : in.fields())
    if (field.form() == isa::FieldForm::shape_fn_form)
      state.shape_function = static_cast<int32_t>(field.words[0]);
  return {};
}

Status Transfer::check(const Instruction& in, const Field& field, const Rule& rule,
                       const State& state) const {
  if (!field.is_register()) return check_field(in, field, rule, state);
  if (rule.kind == RuleKind::dims_of)
    return check_total_rank(field, state, module_.shape_functions[in.word(rule, 0)].dim_count);
  for (uint32_t i = 0; i < field.words.size(); ++i) {
    const uint32_t reg = field.words[i];
    SCOPEVM_RETURN_IF_ERROR(check_operand(in, rule, {reg, i, state[reg]}, state));
  }
  return {};
}

// The other rules of these fields do not depend on the state: see instructions.cpp.
Status Transfer::check_field(const Instruction& in, const Field& field, const Rule& rule,
                             const State& state) const {
  const uint32_t word = field.words[0];
  if (rule.kind == RuleKind::follows)
    return expect_in_effect(shape_functions_.parent(static_cast<int32_t>(word)), state);
  if (rule.kind == RuleKind::computed)
    return expect_in_effect(module_.launches[word].shape_function, state);
  if (rule.kind == RuleKind::axis_of)
    return check_index(field.name(), word, state[in.word(rule, 0)].rank);
  return {};
}

Status Transfer::check_operand(const Instruction& in, const Rule& rule, const Operand& operand,
                               const State& state) const {
  switch (rule.kind) {
    case RuleKind::holds_value:
      return expect_any(operand);
    case RuleKind::holds_storage:
      return expect(operand, Kind::kStorage);
    case RuleKind::holds_tensor:
      return expect(operand, Kind::kTensor);
    case RuleKind::holds_list:
      return expect(operand, Kind::kList);
    case RuleKind::holds_closure:
      return expect(operand, Kind::kClosure);
    case RuleKind::holds_tensor_or_closure:
      return operand.held.kind == Kind::kClosure ? Status() : expect(operand, Kind::kTensor);
    case RuleKind::element_of: {
      // The field of the list is checked first (refers_to_earlier_registers in vm/isa/opcodes.cpp),
      // so the depth of the list is at least 1.
      const RegisterState& list = state[in.word(rule, 0)];
      return expect_element(operand, list.dtype, list.depth - 1);
    }
    case RuleKind::element_typed: {
      const auto depth = static_cast<uint32_t>(in.integer(rule, 1).immediate_value());
      return expect_element(operand, static_cast<DType>(in.word(rule, 0)), depth - 1);
    }
    case RuleKind::returned:
      SCOPEVM_RETURN_IF_ERROR(expect_declared(operand, function_.outputs[operand.index]));
      return expect_not_in_frame(operand);
    case RuleKind::passed_to: {
      const TensorDecl& input = module_.functions[in.word(rule, 0)].inputs[operand.index];
      SCOPEVM_RETURN_IF_ERROR(expect_declared(operand, input));
      // The callee keeps no reference to a parameter in a stack pool: its own verification ensures
      // this.
      return is_stack(input.pool) ? Status() : expect_not_in_frame(operand);
    }
    case RuleKind::bound_to:
      return expect_declared(operand, module_.functions[in.word(rule, 0)].inputs[operand.index]);
    case RuleKind::on_host:
      return expect_on_host(operand);
    case RuleKind::in_pool:
      return expect_in_pool(operand, in.word(rule, 0));
    case RuleKind::reached_by:
      return expect_reached(operand, kernel_of(in.word(rule, 0)).device);
    case RuleKind::not_in_frame:
      return expect_not_in_frame(operand);
    case RuleKind::writable:
      return expect_writable(operand);
    case RuleKind::writable_in:
      return operand.index < module_.launches[in.word(rule, 0)].read_only
                 ? Status()
                 : expect_writable(operand);
    case RuleKind::of_strings:
      return expect_strings(operand, true);
    case RuleKind::of_numbers:
      return expect_strings(operand, false);
    case RuleKind::of_integers:
      return expect_integers(operand);
    case RuleKind::typed_by:
      return expect_external_type(operand, *kernel_of(in.word(rule, 0)).external);
    case RuleKind::buffers_of:  // depends on the code only: see instructions.cpp
    case RuleKind::dims_of:     // of all operands together: see check()
    case RuleKind::follows:     // of other fields: see check_field()
    case RuleKind::computed:
    case RuleKind::axis_of:
    case RuleKind::immediate:
    case RuleKind::in_image:
    case RuleKind::external:
    case RuleKind::not_computed:
    case RuleKind::allocates:
    case RuleKind::host_heap:
    case RuleKind::copied_with:
    case RuleKind::closed_over:
      return {};
  }
  return invalid("unknown rule");
}

Status Transfer::expect_any(const Operand& operand) {
  if (is_value(operand.held.kind)) return {};
  return invalid(register_text(operand.reg) + " " + describe(operand.held.kind) +
                 ", expected a value");
}

Status Transfer::expect(const Operand& operand, Kind kind) {
  if (operand.held.kind == kind) return {};
  const char* needed = kind == Kind::kStorage   ? "storage"
                       : kind == Kind::kTensor  ? "tensor"
                       : kind == Kind::kClosure ? "closure"
                                                : "list";
  return invalid(register_text(operand.reg) + " " + describe(operand.held.kind) + ", expected a " +
                 needed);
}

// Checks the type of a value and, for a tensor, that the same devices can access it.
Status Transfer::expect_value(const Operand& operand, const RegisterState& expected,
                              const std::string& what) const {
  SCOPEVM_RETURN_IF_ERROR(expect(operand, expected.kind));
  const RegisterState& held = operand.held;
  if (held.reach != expected.reach && held.kind == Kind::kTensor)
    return invalid(register_text(operand.reg) + " is stored in memory of " +
                   device_text(module_, held.reach) + ", expected memory of " +
                   device_text(module_, expected.reach) + " for " + what);
  if (held.dtype == expected.dtype && held.rank == expected.rank && held.depth == expected.depth)
    return {};
  return invalid(register_text(operand.reg) + " holds " + type_text(held) + ", expected " +
                 type_text(expected) + " for " + what);
}

Status Transfer::expect_declared(const Operand& operand, const TensorDecl& decl) const {
  return expect_value(operand, state_of(decl), "\"" + decl.name + "\"");
}

// List elements can have any rank.
Status Transfer::expect_element(const Operand& operand, DType dtype, uint32_t depth) const {
  return expect_value(operand, declared_state(dtype, operand.held.rank, depth, host_reach_),
                      "the element");
}

Status Transfer::expect_not_in_frame(const Operand& operand) {
  if (!operand.held.is_on_stack) return {};
  return invalid(register_text(operand.reg) +
                 " may be stored in a frame, but a reference to it can outlive the frame");
}

// The VM itself accesses the bytes of such an operand. A closure has no bytes that an instruction
// can access.
Status Transfer::expect_on_host(const Operand& operand) const {
  const uint32_t reach = operand.held.reach;
  if (operand.held.kind == Kind::kClosure || is_host_pool(module_, reach)) return {};
  return invalid(register_text(operand.reg) + " is stored in memory of " +
                 device_text(module_, reach) + ", which the host cannot access");
}

// If the exact pool is unknown, only the devices that can access it are compared. The VM then uses
// the pool that the instruction names.
Status Transfer::expect_in_pool(const Operand& operand, uint32_t pool) const {
  const RegisterState& held = operand.held;
  if (held.reach == reaches_[pool] &&
      (held.pool == RegisterState::kUnknownPool || held.pool == pool))
    return {};
  return invalid(register_text(operand.reg) + " is not stored in pool \"" +
                 module_.pools[pool].scope + "\" of " + device_text(module_, pool));
}

Status Transfer::expect_reached(const Operand& operand, uint32_t device) const {
  const PoolDecl& pool = module_.pools[operand.held.reach];
  if (pool.device == device ||
      std::ranges::find(pool.shared_with, device) != pool.shared_with.end())
    return {};
  return invalid(register_text(operand.reg) + " is stored in memory of " +
                 device_text(module_, operand.held.reach) + ", which the kernel's device \"" +
                 module_.devices[device].name + "\" cannot access");
}

Status Transfer::expect_writable(const Operand& operand) {
  if (!operand.held.is_read_only) return {};
  return invalid(register_text(operand.reg) + " holds a constant or an input, which is read-only");
}

Status Transfer::expect_strings(const Operand& operand, bool are_strings) {
  const DType dtype = operand.held.dtype;
  if ((dtype == DType::kStr) == are_strings && !is_small(dtype)) return {};
  return invalid(register_text(operand.reg) + " holds " + std::string(name(dtype)) +
                 " elements, expected " + (are_strings ? "strings" : "numbers"));
}

Status Transfer::expect_integers(const Operand& operand) {
  const DType dtype = operand.held.dtype;
  if (!is_float(dtype) && dtype != DType::kStr && !is_small(dtype)) return {};
  return invalid("elements are " + std::string(name(dtype)) + ", expected integers");
}

// The workspace, the last buffer if there is one, can have any type.
Status Transfer::expect_external_type(const Operand& operand, const ExternalDecl& external) {
  if (operand.index >= external.tensor_count()) return {};
  const ExternalTensor& tensor = external.tensor(operand.index);
  if (operand.held.dtype == tensor.dtype && operand.held.rank == tensor.rank) return {};
  const bool is_operand = operand.index < external.operands.size();
  return invalid(
      register_text(operand.reg) + " holds " + type_text(operand.held) + ", expected " +
      type_text(declared_state(tensor.dtype, tensor.rank, 0, operand.held.reach)) + " for " +
      (is_operand ? "operand " : "result ") +
      std::to_string(is_operand ? operand.index : operand.index - external.operands.size()));
}

Status Transfer::expect_in_effect(int32_t function, const State& state) const {
  if (shape_functions_.is_in_effect(function, state.shape_function)) return {};
  const auto name = [this](int32_t index) {
    return "\"" + module_.shape_functions[static_cast<size_t>(index)].symbol + "\"";
  };
  return invalid("shape function " + name(function) + " is not in effect: " +
                 (state.shape_function == ShapeFunctionTree::kNone
                      ? "no shape function is, on every path"
                      : "the last one on every path is " + name(state.shape_function)));
}

Status Transfer::check_total_rank(const Field& field, const State& state, uint32_t expected) {
  uint64_t dims = 0;
  // The VM copies these dims to an area of the frame that layout_of() sized.
  for (uint32_t reg : field.words) dims += state[reg].rank;
  if (dims == expected) return {};
  return invalid(std::string(field.name()) + " have " + count_text(dims, "dim") + ", expected " +
                 std::to_string(expected));
}

}  // namespace scopevm::format
