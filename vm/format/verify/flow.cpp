// Registers along control flow: a worklist over the blocks that jumps make, each with the state of
// every register at its start.
#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <unordered_map>

#include "vm/format/verify/register_state.h"
#include "vm/format/verify/stages.h"
#include "vm/isa/instruction.h"

namespace scopevm::format {
namespace {

using isa::Instruction;
using isa::IntList;
using isa::Opcode;
using isa::RegisterIndex;
using isa::RegisterList;
using Kind = RegisterState::Kind;
using State = std::vector<RegisterState>;
using isa::decode;
namespace op = isa::op;

// Bounds on what a hostile module costs: about 100 MB, and a few seconds.
constexpr uint64_t kMaxStates = uint64_t{1} << 22;  // blocks times registers
constexpr uint64_t kMaxWork = uint64_t{1} << 28;    // instructions visited and registers merged

bool is_value(Kind kind) {
  return kind == Kind::kStorage || kind == Kind::kTensor || kind == Kind::kList ||
         kind == Kind::kClosure;
}

// For each pool, the first that the same devices reach.
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

// The effect of each opcode on the registers.
class Transfer {
 public:
  Transfer(const ModuleContents& module, const FunctionDecl& function)
      : module_(module), function_(function), reaches_(reaches_of(module)) {
    for (uint32_t i = 0; i < module.pools.size(); ++i)
      if (is_host(i)) {
        host_reach_ = reaches_[i];
        break;
      }
  }

  Status apply(const Instruction& in, State& state) const;

  RegisterState state_of(const TensorDecl& decl) const {
    if (decl.kind == ValueKind::kClosure) return closure();
    return declared_state(decl.dtype, static_cast<uint32_t>(decl.dims.size()),
                          list_depth(decl.kind), reaches_[decl.pool]);
  }

 private:
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

  // The memory that the host addresses: any CPU's.
  bool is_host(uint32_t pool) const {
    return module_.devices[module_.pools[pool].device].kind == kCpuKind;
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
  static Status check_dims(const IntList& dims, DType dtype, int64_t bytes) {
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

  Status alloc_tensor(const op::alloc_tensor& in, State& state) const;
  Status alloc_view(const op::alloc_view& in, State& state) const;
  Status device_copy(const op::device_copy& in, const State& state) const;
  enum class Elements { kTexts, kNumbers };
  Status text_work(RegisterIndex to, Elements made, RegisterIndex from, Elements read,
                   const State& state) const;
  Status launch(const op::launch& in, const State& state) const;
  Status shape_function(const op::shape_function& in, const State& state) const;
  Status call(const op::call& in, State& state) const;
  Status make_closure(const op::make_closure& in, State& state) const;
  Status call_closure(const op::call_closure& in, State& state) const;
  Status expect_element(const State& state, RegisterIndex element, DType dtype,
                        uint32_t depth) const;
  Status make_list(const op::make_list& in, State& state) const;
  Status list_get(const op::list_get& in, State& state) const;
  Status list_insert(RegisterIndex list, RegisterIndex element, const State& state) const;

  const ModuleContents& module_;
  const FunctionDecl& function_;
  std::vector<uint32_t> reaches_;  // by pool
  uint32_t host_reach_ = 0;
};

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
  made = {Kind::kTensor, in.dtype, false, in.dims.size(), storage.pool, storage.reach, bytes};
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
  if (in.to_pool.value == in.from_pool.value)
    return invalid("both tensors lie in pool \"" + module_.pools[in.to_pool.value].scope + "\"");
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
  for (uint32_t i = 0; i < in.arguments.size(); ++i)
    SCOPEVM_RETURN_IF_ERROR(expect(state, in.arguments[i], callee.inputs[i]));
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
  for (uint32_t i = 0; i < in.captured.size(); ++i)
    SCOPEVM_RETURN_IF_ERROR(expect_host(state, in.captured[i]));
  state[in.dst.value] = closure();
  return {};
}

// Which function it is, and whether that takes these arguments and gives these results, only the
// call knows.
Status Transfer::call_closure(const op::call_closure& in, State& state) const {
  SCOPEVM_RETURN_IF_ERROR(expect(state, in.closure, Kind::kClosure));
  for (uint32_t i = 0; i < in.arguments.size(); ++i)
    if (state[in.arguments[i].value].kind != Kind::kClosure)
      SCOPEVM_RETURN_IF_ERROR(expect_host(state, in.arguments[i]));
  for (uint32_t i = 0; i < in.results.size(); ++i) {
    const isa::ValueType type = isa::ValueType::from_word(in.types[i].bits);
    state[in.results[i].value] =
        type.is_closure ? closure() : declared_state(type.dtype, type.rank, 0, host_reach_);
  }
  return {};
}

Status Transfer::expect_element(const State& state, RegisterIndex element, DType dtype,
                                uint32_t depth) const {
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
      for (uint32_t i = 0; i < ret.values.size(); ++i)
        SCOPEVM_RETURN_IF_ERROR(expect(state, ret.values[i], function_.outputs[i]));
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
                                alloc.size.is_slot() ? -1 : alloc.size.immediate_value()};
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

class FlowVerifier {
 public:
  FlowVerifier(const ModuleContents& module, const FunctionDecl& function,
               const std::vector<uint32_t>& starts)
      : function_(function), starts_(starts), transfer_(module, function) {}

  Status run() {
    find_blocks();
    if (blocks_.size() * uint64_t{function_.register_count} > kMaxStates) return too_large();
    State entry(function_.register_count);
    for (size_t i = 0; i < function_.inputs.size(); ++i) {
      entry[i] = transfer_.state_of(function_.inputs[i]);
    }
    SCOPEVM_RETURN_IF_ERROR(reach(0, entry));
    while (!pending_.empty()) {
      Block& block = blocks_[pending_.front()];
      pending_.pop_front();
      block.is_pending = false;
      SCOPEVM_RETURN_IF_ERROR(walk(block));
    }
    return {};
  }

 private:
  struct Block {
    size_t first = 0;  // index of its first instruction
    bool is_reached = false;
    bool is_pending = false;
    State at_start;
  };

  static Status too_large() {
    return Status(StatusCode::kUnsupported, "control flow is too large to verify");
  }

  // Cheap: views of the code. Kept ones would outgrow it many times.
  Instruction instruction(uint32_t start) const {
    return *isa::read_instruction(function_.code, start);
  }

  // A block starts at the entry and wherever a jump leads.
  void find_blocks() {
    std::vector<uint32_t> words = {0};
    for (uint32_t start : starts_) {
      const Instruction in = instruction(start);
      for (const Instruction::Field& field : in.fields())
        if (field.type == isa::FieldType::target_field) words.push_back(field.words[0]);
    }
    std::ranges::sort(words);
    words.erase(std::ranges::unique(words).begin(), words.end());
    for (size_t i = 0, next = 0; i < starts_.size() && next < words.size(); ++i) {
      if (starts_[i] != words[next]) continue;
      block_at_[words[next++]] = blocks_.size();
      blocks_.push_back({i});
    }
  }

  // Control comes to the block at `word` with `state`.
  Status reach(uint32_t word, const State& state) {
    size_t index = block_at_.at(word);
    Block& block = blocks_[index];
    bool has_changed = !block.is_reached;
    if (!block.is_reached) {
      block.at_start = state;
    } else {
      for (size_t i = 0; i < state.size(); ++i) {
        RegisterState merged = merge(block.at_start[i], state[i]);
        has_changed = has_changed || merged != block.at_start[i];
        block.at_start[i] = merged;
      }
    }
    block.is_reached = true;
    if (has_changed && !block.is_pending) {
      block.is_pending = true;
      pending_.push_back(index);
    }
    return spend(state.size() + 1);
  }

  Status walk(const Block& block) {
    State state = block.at_start;
    for (size_t i = block.first; i < starts_.size(); ++i) {
      const Instruction in = instruction(starts_[i]);
      if (i != block.first && block_at_.contains(in.start)) return reach(in.start, state);
      Status status = transfer_.apply(in, state);
      if (!status.is_ok())
        return std::move(status).with_context("word " + std::to_string(in.start) + ": " +
                                              std::string(in.row->name));
      SCOPEVM_RETURN_IF_ERROR(spend(in.word_count));
      if (in.row->opcode == Opcode::ret || in.row->opcode == Opcode::fail) return {};
      bool has_jumped = false;
      for (const Instruction::Field& field : in.fields()) {
        if (field.type != isa::FieldType::target_field) continue;
        has_jumped = true;
        SCOPEVM_RETURN_IF_ERROR(reach(field.words[0], state));
      }
      if (has_jumped) return {};
    }
    return {};
  }

  Status spend(uint64_t work) {
    work_ += work;
    return work_ > kMaxWork ? too_large() : Status();
  }

  const FunctionDecl& function_;
  const std::vector<uint32_t>& starts_;
  Transfer transfer_;
  std::vector<Block> blocks_;
  std::unordered_map<uint32_t, size_t> block_at_;
  std::deque<size_t> pending_;
  uint64_t work_ = 0;
};

}  // namespace

Status verify_flow(const ModuleContents& module, const FunctionDecl& function,
                   const std::vector<uint32_t>& starts) {
  return FlowVerifier(module, function, starts).run();
}

}  // namespace scopevm::format
