// Implements the definitions of vm/isa/rules.def: the contents of registers that an instruction
// writes. See transfer.h.
#include "runtime/count_text.h"
#include "vm/format/verify/defined_rank.h"
#include "vm/format/verify/transfer.h"

namespace scopevm::format {

using isa::DefinitionKind;
using isa::Instruction;
using runtime::count_text;

namespace {

using Kind = RegisterState::Kind;

int64_t known_bytes(isa::Int bytes) { return bytes.is_slot() ? -1 : bytes.immediate_value(); }

// Checks that the dims take at most `bytes`, if all of them are immediates. If `bytes` is unknown
// (-1), checks only that the size does not overflow.
Status check_dims(std::span<const uint32_t> dims, DType dtype, int64_t bytes) {
  std::vector<int64_t> values;
  for (uint32_t word : dims) {
    const isa::Int dim = isa::Int::from_word(word);
    if (dim.is_slot()) return {};
    values.push_back(dim.immediate_value());
  }
  // Dims in slots are known only at run time: the shape function checks them.
  int64_t needed = checked_byte_size(values, dtype);
  if (needed < 0) return invalid("dims are too large");
  if (bytes < 0 || needed <= bytes) return {};
  return invalid("dims require " + count_text(needed, "byte") + ", given " + std::to_string(bytes));
}

}  // namespace

Result<RegisterState> Transfer::define(const Instruction& in, const Field& field, uint32_t i,
                                       const State& state) const {
  const isa::Definition& definition = *field.row->definition;
  const uint32_t rank = defined_rank(module_, in, field, i);
  switch (definition.kind) {
    case DefinitionKind::makes_storage: {
      const uint32_t pool = in.word(definition, 0);
      return RegisterState{Kind::kStorage,
                           DType::kU8,
                           false,
                           0,
                           pool,
                           reaches_[pool],
                           known_bytes(in.integer(definition, 1)),
                           0,
                           is_stack(pool)};
    }
    case DefinitionKind::makes_tensor:
      return define_tensor(in, definition, rank, state[in.word(definition, 0)]);
    case DefinitionKind::makes_view:
      return define_view(in, definition, rank, state[in.word(definition, 0)]);
    case DefinitionKind::makes_copy:
      return state[in.word(definition, 0)];
    case DefinitionKind::makes_constant: {
      const ConstantDecl& constant = module_.constants[in.word(definition, 0)];
      return RegisterState{Kind::kTensor,
                           constant.dtype,
                           true,
                           rank,
                           constant.pool,
                           reaches_[constant.pool],
                           static_cast<int64_t>(constant.bytes.size)};
    }
    case DefinitionKind::makes_list:
      return declared_state(static_cast<DType>(in.word(definition, 0)), rank,
                            static_cast<uint32_t>(in.integer(definition, 1).immediate_value()),
                            host_reach_);
    case DefinitionKind::makes_element: {
      const RegisterState& list = state[in.word(definition, 0)];
      // The rank determines the space for the dims of the destination register. A list has no dims.
      if (list.depth > 1 && rank != 0)
        return invalid("rank must be 0 for an element that is a list, given " +
                       std::to_string(rank));
      return declared_state(list.dtype, rank, list.depth - 1, host_reach_);
    }
    case DefinitionKind::makes_closure:
      return closure();
    case DefinitionKind::makes_outputs:
      // Only the declaration is known: a callee can return an argument or a constant.
      return state_of(module_.functions[in.word(definition, 0)].outputs[i]);
    case DefinitionKind::makes_types: {
      const auto type = isa::ValueType::from_word(in.field(definition, 0).words[i]);
      return type.is_closure ? closure() : declared_state(type.dtype, rank, 0, host_reach_);
    }
    case DefinitionKind::enlarged: {
      RegisterState storage = state[field.words[i]];
      // The storage may be larger now, so its exact size is unknown.
      storage.bytes = -1;
      return storage;
    }
    case DefinitionKind::changed:
      return state[field.words[i]];
  }
  return invalid("unknown definition");
}

Result<RegisterState> Transfer::define_tensor(const Instruction& in,
                                              const isa::Definition& definition, uint32_t rank,
                                              const RegisterState& storage) const {
  const isa::Int offset = in.integer(definition, 1);
  const int64_t bytes = known_bytes(in.integer(definition, 2));
  const auto dtype = static_cast<DType>(in.word(definition, 3));
  // Immediates have 31 bits, so their sum does not overflow.
  if (storage.bytes >= 0 && !offset.is_slot() && bytes >= 0 &&
      offset.immediate_value() + bytes > storage.bytes)
    return invalid("bytes [" + std::to_string(offset.immediate_value()) + ", " +
                   std::to_string(offset.immediate_value() + bytes) +
                   ") are outside of a storage of " + count_text(storage.bytes, "byte"));
  SCOPEVM_RETURN_IF_ERROR(check_dims(in.field(definition, 4).words, dtype, bytes));
  return RegisterState{Kind::kTensor,      dtype,         false, rank,
                       storage.pool,       storage.reach, bytes, 0,
                       storage.is_on_stack};
}

Result<RegisterState> Transfer::define_view(const Instruction& in,
                                            const isa::Definition& definition, uint32_t rank,
                                            RegisterState view) const {
  view.dtype = static_cast<DType>(in.word(definition, 1));
  view.rank = rank;
  SCOPEVM_RETURN_IF_ERROR(check_dims(in.field(definition, 2).words, view.dtype, view.bytes));
  return view;
}

}  // namespace scopevm::format
