// The rules, opcode by opcode; see transfer.h.
#include "vm/format/verify/transfer.h"

#include <map>
#include <set>

namespace scopevm::format {

using isa::decode;
using isa::Instruction;
using isa::IntList;
using isa::Opcode;
using isa::RegisterIndex;
namespace op = isa::op;

namespace {

using Kind = RegisterState::Kind;

bool is_value(Kind kind) {
  return kind == Kind::kStorage || kind == Kind::kTensor || kind == Kind::kList ||
         kind == Kind::kClosure;
}

}  // namespace

std::vector<uint32_t> reaches_of(const ModuleContents& module) {
  std::map<std::set<uint32_t>, uint32_t> first;
  std::vector<uint32_t> reaches;
  for (uint32_t i = 0; i < module.pools.size(); ++i) {
    const PoolDecl& pool = module.pools[i];
    std::set<uint32_t> devices(pool.shared_with.begin(), pool.shared_with.end());
    devices.insert(pool.device);
    reaches.push_back(first.try_emplace(std::move(devices), i).first->second);
  }
  return reaches;
}

Status Transfer::alloc_tensor(const op::alloc_tensor& in, State& state) const {
  SCOPEVM_RETURN_IF_ERROR(expect(state, in.storage, Kind::kStorage));
  const RegisterState& storage = state[in.storage.value];
  int64_t bytes = in.bytes.is_slot() ? -1 : in.bytes.immediate_value();
  if (storage.bytes >= 0 && !in.offset.is_slot() && bytes >= 0 &&
      in.offset.immediate_value() + bytes > storage.bytes)
    return invalid("bytes " + std::to_string(in.offset.immediate_value()) + " to " +
                   std::to_string(in.offset.immediate_value() + bytes) + " of a storage of " +
                   std::to_string(storage.bytes));
  SCOPEVM_RETURN_IF_ERROR(check_dims(in.dims, in.dtype, bytes));
  RegisterState& made = state[in.dst.value];
  made = {Kind::kTensor, in.dtype, false, in.dims.size(),     storage.pool,
          storage.reach, bytes,    0,     storage.is_on_stack};
  return {};
}

Status Transfer::alloc_view(const op::alloc_view& in, State& state) const {
  SCOPEVM_RETURN_IF_ERROR(expect(state, in.of, Kind::kTensor));
  RegisterState view = state[in.of.value];
  SCOPEVM_RETURN_IF_ERROR(check_dims(in.dims, in.dtype, view.bytes));
  view.dtype = in.dtype;
  view.rank = in.dims.size();
  state[in.dst.value] = view;
  return {};
}

// The pools that the instruction names are those that the tensors lie in, as far as that is known;
// the VM goes by them.
Status Transfer::device_copy(const op::device_copy& in, const State& state) const {
  for (auto [reg, pool] : {std::pair(in.to, in.to_pool), std::pair(in.from, in.from_pool)}) {
    SCOPEVM_RETURN_IF_ERROR(expect(state, reg, Kind::kTensor));
    const RegisterState& held = state[reg.value];
    if (held.reach != reaches_[pool.value] ||
        (held.pool != RegisterState::kUnknownPool && held.pool != pool.value))
      return invalid("register " + std::to_string(reg.value) + " does not lie in pool \"" +
                     module_.pools[pool.value].scope + "\" of " + place_text(pool.value));
  }
  SCOPEVM_RETURN_IF_ERROR(check_written(in.to, state[in.to.value]));
  if (module_.pools[in.to_pool.value].device == module_.pools[in.from_pool.value].device ||
      is_host(in.to_pool.value) || is_host(in.from_pool.value))
    return {};
  return invalid("from " + place_text(in.from_pool.value) + " to " + place_text(in.to_pool.value) +
                 ": one of them must be a CPU");
}

Status Transfer::text_work(RegisterIndex to, Elements made, RegisterIndex from, Elements read,
                           const State& state) const {
  for (auto [reg, elements] : {std::pair(to, made), std::pair(from, read)}) {
    SCOPEVM_RETURN_IF_ERROR(expect_host(state, reg));
    const DType dtype = state[reg.value].dtype;
    if ((dtype == DType::kStr) != (elements == Elements::kTexts))
      return invalid("register " + std::to_string(reg.value) + " holds " +
                     std::string(name(dtype)) + " elements, not " +
                     (elements == Elements::kTexts ? "texts" : "numbers"));
  }
  return check_written(to, state[to.value]);
}

// The kernel's device reaches every buffer.
Status Transfer::launch(const op::launch& in, const State& state) const {
  const uint32_t device = module_.kernels[in.kernel.value].device;
  for (uint32_t i = 0; i < in.buffers.size(); ++i) {
    SCOPEVM_RETURN_IF_ERROR(expect(state, in.buffers[i], Kind::kTensor));
    const uint32_t reach = state[in.buffers[i].value].reach;
    if (!is_reached(reach, device))
      return invalid("register " + std::to_string(in.buffers[i].value) + " lies in memory of " +
                     place_text(reach) + ", which the kernel's device \"" +
                     module_.devices[device].name + "\" does not reach");
  }
  return {};
}

Status Transfer::shape_function(const op::shape_function& in, const State& state) const {
  uint64_t dims = 0;
  for (uint32_t i = 0; i < in.inputs.size(); ++i) {
    SCOPEVM_RETURN_IF_ERROR(expect(state, in.inputs[i], Kind::kTensor));
    dims += state[in.inputs[i].value].rank;
  }
  uint32_t expected = module_.shape_functions[in.function.value].dim_count;
  if (dims == expected) return {};
  return invalid("inputs have " + std::to_string(dims) + " dims, expected " +
                 std::to_string(expected));
}

Status Transfer::call(const op::call& in, State& state) const {
  const FunctionDecl& callee = module_.functions[in.callee.value];
  for (uint32_t i = 0; i < in.arguments.size(); ++i) {
    SCOPEVM_RETURN_IF_ERROR(expect(state, in.arguments[i], callee.inputs[i]));
    if (!is_stack(callee.inputs[i].pool))
      SCOPEVM_RETURN_IF_ERROR(check_kept(state, in.arguments[i], "what the callee may make of it"));
  }
  for (uint32_t i = 0; i < in.results.size(); ++i) {
    // A callee may return its argument or a constant.
    state[in.results[i].value] = state_of(callee.outputs[i]);
  }
  return {};
}

Status Transfer::make_closure(const op::make_closure& in, State& state) const {
  const FunctionDecl& callee = module_.functions[in.callee.value];
  for (uint32_t i = 0; i < in.captured.size(); ++i)
    SCOPEVM_RETURN_IF_ERROR(expect(state, in.captured[i], callee.inputs[i]));
  SCOPEVM_RETURN_IF_ERROR(expect_host_pool(in.from));
  for (uint32_t i = 0; i < in.captured.size(); ++i) {
    SCOPEVM_RETURN_IF_ERROR(expect_host(state, in.captured[i]));
    SCOPEVM_RETURN_IF_ERROR(check_kept(state, in.captured[i], "the closure"));
  }
  state[in.dst.value] = closure();
  return {};
}

// Which function it is, and whether that takes these arguments and gives these results, only the
// call knows.
Status Transfer::call_closure(const op::call_closure& in, State& state) const {
  SCOPEVM_RETURN_IF_ERROR(expect(state, in.closure, Kind::kClosure));
  for (uint32_t i = 0; i < in.arguments.size(); ++i) {
    if (state[in.arguments[i].value].kind != Kind::kClosure)
      SCOPEVM_RETURN_IF_ERROR(expect_host(state, in.arguments[i]));
    SCOPEVM_RETURN_IF_ERROR(
        check_kept(state, in.arguments[i], "what a function that nobody knows may make of it"));
  }
  for (uint32_t i = 0; i < in.results.size(); ++i) {
    const isa::ValueType type = isa::ValueType::from_word(in.types[i].bits);
    state[in.results[i].value] =
        type.is_closure ? closure() : declared_state(type.dtype, type.rank, 0, host_reach_);
  }
  return {};
}

Status Transfer::expect_element(const State& state, RegisterIndex element, DType dtype,
                                uint32_t depth) const {
  SCOPEVM_RETURN_IF_ERROR(check_kept(state, element, "the list"));
  // Of a tensor, any rank is right: its own.
  return expect_value(state, element,
                      declared_state(dtype, state[element.value].rank, depth, host_reach_),
                      "the element");
}

Status Transfer::make_list(const op::make_list& in, State& state) const {
  if (in.depth.is_slot() || in.depth.bits < 1 || in.depth.bits > kMaxListDepth)
    return invalid("depth must be an immediate from 1 to " + std::to_string(kMaxListDepth));
  for (uint32_t i = 0; i < in.elements.size(); ++i)
    SCOPEVM_RETURN_IF_ERROR(expect_element(state, in.elements[i], in.dtype, in.depth.bits - 1));
  SCOPEVM_RETURN_IF_ERROR(expect_host_pool(in.from));
  state[in.dst.value] = declared_state(in.dtype, 0, in.depth.bits, host_reach_);
  return {};
}

Status Transfer::list_get(const op::list_get& in, State& state) const {
  SCOPEVM_RETURN_IF_ERROR(expect(state, in.list, Kind::kList));
  if (in.rank.is_slot() || in.rank.bits > kMaxElementRank)
    return invalid("rank must be an immediate of at most " + std::to_string(kMaxElementRank));
  const RegisterState& list = state[in.list.value];
  if (list.depth > 1 && in.rank.bits != 0) return invalid("an element is a list, of rank 0");
  state[in.dst.value] = declared_state(list.dtype, in.rank.bits, list.depth - 1, host_reach_);
  return {};
}

Status Transfer::list_insert(RegisterIndex list, RegisterIndex element, const State& state) const {
  SCOPEVM_RETURN_IF_ERROR(expect(state, list, Kind::kList));
  const RegisterState& held = state[list.value];
  return expect_element(state, element, held.dtype, held.depth - 1);
}

Status Transfer::apply(const Instruction& in, State& state) const {
  const uint32_t* at = &function_.code[in.start];
  switch (in.row->opcode) {
    case Opcode::jump:
    case Opcode::branch:
    case Opcode::branch_less:
    case Opcode::fail:
    case Opcode::set_slot:
    case Opcode::add_slot:
      return {};
    case Opcode::ret: {
      auto ret = decode<op::ret>(at);
      for (uint32_t i = 0; i < ret.values.size(); ++i) {
        SCOPEVM_RETURN_IF_ERROR(expect(state, ret.values[i], function_.outputs[i]));
        SCOPEVM_RETURN_IF_ERROR(check_kept(state, ret.values[i], "the result"));
      }
      return {};
    }
    case Opcode::call:
      return call(decode<op::call>(at), state);
    case Opcode::make_closure:
      return make_closure(decode<op::make_closure>(at), state);
    case Opcode::call_closure:
      return call_closure(decode<op::call_closure>(at), state);
    case Opcode::alloc_storage: {
      auto alloc = decode<op::alloc_storage>(at);
      state[alloc.dst.value] = {Kind::kStorage,
                                DType::kU8,
                                false,
                                0,
                                alloc.from.value,
                                reaches_[alloc.from.value],
                                alloc.size.is_slot() ? -1 : alloc.size.immediate_value(),
                                0,
                                is_stack(alloc.from.value)};
      return {};
    }
    case Opcode::alloc_tensor:
      return alloc_tensor(decode<op::alloc_tensor>(at), state);
    case Opcode::alloc_view:
      return alloc_view(decode<op::alloc_view>(at), state);
    case Opcode::kill: {
      RegisterState& held = state[decode<op::kill>(at).value.value];
      if (!is_value(held.kind))
        return invalid("register " + std::to_string(at[1]) + " " + describe(held.kind));
      held = {};
      return {};
    }
    case Opcode::device_copy:
      return device_copy(decode<op::device_copy>(at), state);
    case Opcode::launch:
      return launch(decode<op::launch>(at), state);
    case Opcode::parse_text: {
      auto parse = decode<op::parse_text>(at);
      return text_work(parse.to, Elements::kNumbers, parse.from, Elements::kTexts, state);
    }
    case Opcode::format_text: {
      auto format = decode<op::format_text>(at);
      return text_work(format.to, Elements::kTexts, format.from, Elements::kNumbers, state);
    }
    case Opcode::change_case: {
      auto change = decode<op::change_case>(at);
      return text_work(change.to, Elements::kTexts, change.from, Elements::kTexts, state);
    }
    case Opcode::shape_function:
      return shape_function(decode<op::shape_function>(at), state);
    case Opcode::load_dim: {
      auto load = decode<op::load_dim>(at);
      SCOPEVM_RETURN_IF_ERROR(expect(state, load.of, Kind::kTensor));
      if (load.axis.is_slot()) return invalid("axis must be an immediate");
      return check_index("axis", load.axis.bits, state[load.of.value].rank);
    }
    case Opcode::load_element: {
      auto load = decode<op::load_element>(at);
      SCOPEVM_RETURN_IF_ERROR(expect_host(state, load.of));
      DType dtype = state[load.of.value].dtype;
      if (!is_float(dtype) && dtype != DType::kStr) return {};
      return invalid("elements are " + std::string(name(dtype)) + ", not integers");
    }
    case Opcode::grow_storage: {
      auto grow = decode<op::grow_storage>(at);
      SCOPEVM_RETURN_IF_ERROR(expect(state, grow.storage, Kind::kStorage));
      RegisterState& held = state[grow.storage.value];
      if (held.pool != RegisterState::kUnknownPool && held.pool != grow.from.value)
        return invalid("the storage is of another pool");
      held.bytes = -1;
      return expect_host_pool(grow.from);
    }
    case Opcode::move: {
      auto move = decode<op::move>(at);
      const RegisterState& held = state[move.from.value];
      if (!is_value(held.kind))
        return invalid("register " + std::to_string(move.from.value) + " " + describe(held.kind));
      state[move.dst.value] = held;
      return {};
    }
    case Opcode::load_const: {
      auto load = decode<op::load_const>(at);
      const ConstantDecl& constant = module_.constants[load.constant.value];
      state[load.dst.value] = {Kind::kTensor,
                               constant.dtype,
                               true,
                               static_cast<uint32_t>(constant.dims.size()),
                               constant.pool,
                               reaches_[constant.pool],
                               static_cast<int64_t>(constant.bytes.size)};
      return {};
    }
    case Opcode::make_list:
      return make_list(decode<op::make_list>(at), state);
    case Opcode::list_get:
      return list_get(decode<op::list_get>(at), state);
    case Opcode::list_insert: {
      auto insert = decode<op::list_insert>(at);
      SCOPEVM_RETURN_IF_ERROR(expect_host_pool(insert.from));
      return list_insert(insert.list, insert.element, state);
    }
    case Opcode::list_append: {
      auto append = decode<op::list_append>(at);
      SCOPEVM_RETURN_IF_ERROR(expect_host_pool(append.from));
      return list_insert(append.list, append.element, state);
    }
    case Opcode::list_erase: {
      auto erase = decode<op::list_erase>(at);
      SCOPEVM_RETURN_IF_ERROR(expect_host_pool(erase.from));
      return expect(state, erase.list, Kind::kList);
    }
    case Opcode::list_size:
      return expect(state, decode<op::list_size>(at).list, Kind::kList);
  }
  return invalid("opcode is not known to the verifier");
}

}  // namespace scopevm::format
