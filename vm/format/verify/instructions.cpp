// Instructions by themselves. Ranges of fields come from their types in the opcode table; only what
// ties two fields, or a field and a table, is written per opcode.
#include <algorithm>
#include <map>

#include "vm/format/layout.h"
#include "vm/format/verify/stages.h"
#include "vm/isa/instruction.h"

namespace scopevm::format {
namespace {

using isa::decode;
using isa::FieldType;
using isa::Instruction;
using isa::Opcode;
namespace op = isa::op;

class InstructionVerifier {
 public:
  InstructionVerifier(const ModuleContents& module, const FunctionDecl& function)
      : module_(module), function_(function), is_start_(function.code.size(), false) {}

  Result<std::vector<uint32_t>> run() {
    SCOPEVM_RETURN_IF_ERROR(cut());
    for (uint32_t start : starts_) {
      Instruction in = *isa::read_instruction(function_.code, start);
      Status status = fields(in);
      if (status.is_ok()) status = relations(in);
      if (!status.is_ok())
        return std::move(status).with_context("word " + std::to_string(in.start) + ": " +
                                              std::string(in.row->name));
    }
    SCOPEVM_RETURN_IF_ERROR(end());
    SCOPEVM_RETURN_IF_ERROR(memory_and_sources());
    return std::move(starts_);
  }

 private:
  Status cut() {
    const std::vector<uint32_t>& code = function_.code;
    for (uint64_t word = 0; word < code.size();) {
      if (word > UINT32_MAX) return invalid("code is too long");
      SCOPEVM_ASSIGN_OR_RETURN(Instruction in,
                               isa::read_instruction(code, static_cast<uint32_t>(word)));
      is_start_[word] = true;
      starts_.push_back(in.start);
      word += in.word_count;
    }
    return {};
  }

  Status fields(const Instruction& in) const {
    for (const Instruction::Field& field : in.fields())
      for (uint32_t word : field.words)
        SCOPEVM_RETURN_IF_ERROR(value(field.type, word).with_context(field.name));
    return {};
  }

  Status value(FieldType type, uint32_t word) const {
    switch (type) {
      case FieldType::dst_field:
      case FieldType::src_field:
      case FieldType::regs_field:
      case FieldType::dsts_field:
        return check_index("register", word, function_.register_count);
      case FieldType::int_field:
      case FieldType::ints_field: {
        isa::Int value = isa::Int::from_word(word);
        if (!value.is_slot()) return {};
        return check_index("slot", value.slot_index().value, function_.slot_count);
      }
      case FieldType::slot_field:
        // One past the last is a start of no slots; `relations` says how many follow.
        return check_index("slot", word, uint64_t{function_.slot_count} + 1);
      case FieldType::function_field:
        return check_index("function", word, module_.functions.size());
      case FieldType::shape_fn_field:
        return check_index("shape function", word, module_.shape_functions.size());
      case FieldType::kernel_field:
        return check_index("kernel", word, module_.kernels.size());
      case FieldType::constant_field:
        return check_index("constant", word, module_.constants.size());
      case FieldType::pool_field:
        return check_index("pool", word, module_.pools.size());
      case FieldType::message_field:
        return check_index("message", word, module_.messages.size());
      case FieldType::dtype_field:
        return check_index("element type", word, kDTypeCount);
      case FieldType::target_field:
        if (word < is_start_.size() && is_start_[word]) return {};
        return invalid("word " + std::to_string(word) + " is not the start of an instruction");
    }
    return invalid("field type is not known");
  }

  static Status check_count(const char* what, uint64_t count, uint64_t expected) {
    if (count == expected) return {};
    return invalid(std::to_string(count) + " " + what + ", expected " + std::to_string(expected));
  }

  Status check_pool(isa::PoolIndex index) const {
    const PoolDecl& pool = module_.pools[index.value];
    if (pool.kind == PoolKind::kConstant)
      return invalid("pool \"" + pool.scope + "\" holds constants only");
    if (pool.kind == PoolKind::kStack)
      return invalid("pool \"" + pool.scope + "\" goes with the frame");
    return {};
  }

  // A frame has bytes of its own for each instruction that takes some of a stack.
  Status storage(const op::alloc_storage& in) {
    const PoolDecl& pool = module_.pools[in.from.value];
    if (pool.kind != PoolKind::kStack) return check_pool(in.from);
    if (in.size.is_slot()) return invalid("size: of a stack it must be an immediate");
    int64_t& taken = taken_[in.from.value];
    taken += static_cast<int64_t>(align_up(static_cast<uint64_t>(in.size.immediate_value())));
    if (taken <= pool.limit) return {};
    return invalid(std::to_string(taken) + " bytes of pool \"" + pool.scope + "\", which has " +
                   std::to_string(pool.limit) + " in a frame");
  }

  // What a closure keeps are tensors, so that none nests in another; what it takes and gives is
  // known by its kind, element type and rank.
  Status closure(const op::make_closure& in) const {
    SCOPEVM_RETURN_IF_ERROR(check_pool(in.from));
    const FunctionDecl& callee = module_.functions[in.callee.value];
    if (in.captured.size() > callee.inputs.size())
      return invalid(std::to_string(in.captured.size()) + " captured, \"" + callee.name +
                     "\" takes " + std::to_string(callee.inputs.size()));
    for (uint32_t i = 0; i < in.captured.size(); ++i)
      if (callee.inputs[i].kind != ValueKind::kTensor)
        return invalid("\"" + callee.inputs[i].name + "\" is no tensor");
    for (const std::vector<TensorDecl>* values : {&callee.inputs, &callee.outputs})
      for (const TensorDecl& value : *values)
        if (list_depth(value.kind) > 0) return invalid("\"" + value.name + "\" is a list");
    return {};
  }

  Status relations(const Instruction& in) {
    const uint32_t* at = &function_.code[in.start];
    switch (in.row->opcode) {
      case Opcode::ret:
        return check_count("values", decode<op::ret>(at).values.size(), function_.outputs.size());
      case Opcode::call: {
        auto call = decode<op::call>(at);
        const FunctionDecl& callee = module_.functions[call.callee.value];
        SCOPEVM_RETURN_IF_ERROR(
            check_count("arguments", call.arguments.size(), callee.inputs.size()));
        return check_count("results", call.results.size(), callee.outputs.size());
      }
      case Opcode::make_closure:
        return closure(decode<op::make_closure>(at));
      case Opcode::call_closure: {
        auto call = decode<op::call_closure>(at);
        for (uint32_t i = 0; i < call.types.size(); ++i)
          if (!isa::ValueType::is_valid(call.types[i].bits, kMaxElementRank))
            return invalid("types: " + std::to_string(call.types[i].bits) + " is none");
        return check_count("results", call.results.size(), call.types.size());
      }
      case Opcode::alloc_storage:
        return storage(decode<op::alloc_storage>(at));
      case Opcode::launch: {
        auto launch = decode<op::launch>(at);
        const KernelDecl& kernel = module_.kernels[launch.kernel.value];
        SCOPEVM_RETURN_IF_ERROR(check_count("buffers", launch.buffers.size(), kernel.buffer_count));
        if (uint64_t{launch.params.value} + kernel.param_count <= function_.slot_count) return {};
        return invalid("slots from " + std::to_string(launch.params.value) + " on do not hold " +
                       std::to_string(kernel.param_count) + " params");
      }
      case Opcode::shape_function: {
        uint32_t shape = decode<op::shape_function>(at).function.value;
        uint32_t slots = module_.shape_functions[shape].slot_count;
        if (slots <= function_.slot_count) return {};
        return invalid("writes " + std::to_string(slots) + " slots, the frame has " +
                       std::to_string(function_.slot_count));
      }
      case Opcode::load_dim:
        return check_index("slot", decode<op::load_dim>(at).dst.value, function_.slot_count);
      case Opcode::load_element:
        return check_index("slot", decode<op::load_element>(at).dst.value, function_.slot_count);
      case Opcode::set_slot:
        return check_index("slot", decode<op::set_slot>(at).dst.value, function_.slot_count);
      case Opcode::add_slot:
        return check_index("slot", decode<op::add_slot>(at).dst.value, function_.slot_count);
      case Opcode::grow_storage:
        return check_pool(decode<op::grow_storage>(at).from);
      case Opcode::make_list:
        return check_pool(decode<op::make_list>(at).from);
      case Opcode::list_insert:
        return check_pool(decode<op::list_insert>(at).from);
      case Opcode::list_append:
        return check_pool(decode<op::list_append>(at).from);
      case Opcode::list_erase:
        return check_pool(decode<op::list_erase>(at).from);
      case Opcode::list_size:
        return check_index("slot", decode<op::list_size>(at).dst.value, function_.slot_count);
      default:
        return {};
    }
  }

  Status end() const {
    if (starts_.empty()) return invalid("has no code");
    Instruction last = *isa::read_instruction(function_.code, starts_.back());
    if (ends_block(last.row->opcode)) return {};
    return invalid("word " + std::to_string(last.start) + ": " + std::string(last.row->name) +
                   ": control runs off the end of the code");
  }

  static bool ends_block(Opcode opcode) {
    return opcode == Opcode::ret || opcode == Opcode::jump || opcode == Opcode::branch ||
           opcode == Opcode::branch_less || opcode == Opcode::fail;
  }

  Status memory_and_sources() const {
    for (const MemoryDecl& memory : function_.memory) {
      std::string context = "memory \"" + memory.what + "\"";
      SCOPEVM_RETURN_IF_ERROR(
          check_index("pool", memory.pool, module_.pools.size()).with_context(context));
      if (memory.is_result && module_.pools[memory.pool].kind == PoolKind::kStack)
        return invalid(context + ": a result does not lie in a frame");
      for (uint32_t slot : {memory.bytes_slot, memory.lower_bound_slot})
        SCOPEVM_RETURN_IF_ERROR(
            check_index("slot", slot, function_.slot_count).with_context(context));
    }
    uint32_t previous = 0;
    for (const SourceDecl& source : function_.sources) {
      if (source.word >= is_start_.size() || !is_start_[source.word] || source.word < previous)
        return invalid("source \"" + source.name + "\": word " + std::to_string(source.word) +
                       " is not an instruction, or not in order");
      previous = source.word;
    }
    return {};
  }

  const ModuleContents& module_;
  const FunctionDecl& function_;
  std::vector<bool> is_start_;  // by word
  std::vector<uint32_t> starts_;
  std::map<uint32_t, int64_t> taken_;  // by pool of kind stack
};

}  // namespace

Result<std::vector<uint32_t>> verify_instructions(const ModuleContents& module,
                                                  const FunctionDecl& function) {
  return InstructionVerifier(module, function).run();
}

}  // namespace scopevm::format
