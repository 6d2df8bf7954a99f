// Verifies instructions individually: the ranges of fields, and the rules of the opcode table that
// depend only on the code and the module's tables. transfer.cpp implements the other rules.
#include <algorithm>
#include <map>

#include "runtime/count_text.h"
#include "vm/format/binary/layout.h"
#include "vm/format/verify/stages.h"
#include "vm/isa/instruction.h"

namespace scopevm::format {
namespace {

using isa::DefinitionKind;
using isa::FieldForm;
using isa::FieldType;
using isa::Instruction;
using isa::Rule;
using isa::RuleKind;
using runtime::count_text;

class InstructionVerifier {
 public:
  InstructionVerifier(const ModuleContents& module, const FunctionDecl& function)
      : module_(module), function_(function), is_start_(function.code.size(), false) {}

  Result<std::vector<uint32_t>> run() {
    // A separate pass finds the starts of all instructions first, because jump targets can be later
    // instructions.
    SCOPEVM_RETURN_IF_ERROR(find_instructions());
    for (uint32_t start : starts_) {
      Instruction in = isa::verified_instruction(function_.code, start);
      Status status = fields(in);
      if (status.ok()) status = rules(in);
      if (!status.ok())
        return std::move(status).with_context("word " + std::to_string(in.start) + ": " +
                                              std::string(in.row->name));
    }
    SCOPEVM_RETURN_IF_ERROR(end());
    SCOPEVM_RETURN_IF_ERROR(memory_and_sources());
    return std::move(starts_);
  }

 private:
  Status find_instructions() {
    const std::vector<uint32_t>& code = function_.code;
    for (uint64_t word = 0; word < code.size();) {
      // Jump targets and sources are words of 32 bits.
      if (word > UINT32_MAX) return invalid("code is too long: the limit is 2^32 words");
      SCOPEVM_ASSIGN_OR_RETURN(Instruction in,
                               isa::read_instruction(code, static_cast<uint32_t>(word)));
      is_start_[word] = true;
      find_computed(in);
      starts_.push_back(in.start);
      word += in.word_count;
    }
    return {};
  }

  // Extends the range of slots that the function's shape functions write.
  void find_computed(const Instruction& in) {
    for (const Instruction::Field& field : in.fields()) {
      if (field.form() != FieldForm::shape_fn_form) continue;
      if (field.words[0] >= module_.shape_functions.size()) continue;  // rejected by value()
      const ShapeFunctionDecl& shapes = module_.shape_functions[field.words[0]];
      first_computed_ = std::min(first_computed_, shapes.first_slot);
      end_computed_ = std::max(end_computed_, shapes.slot_count);
    }
  }

  Status fields(const Instruction& in) const {
    for (const Instruction::Field& field : in.fields())
      for (uint32_t word : field.words)
        SCOPEVM_RETURN_IF_ERROR(value(field.row->type, word).with_context(field.name()));
    return {};
  }

  Status value(FieldType type, uint32_t word) const {
    switch (isa::form(type)) {
      case FieldForm::reg_form:
      case FieldForm::regs_form:
        return check_index("register", word, function_.register_count);
      case FieldForm::int_form:
      case FieldForm::ints_form: {
        if (type == FieldType::types_field) return value_type(word);
        isa::Int value = isa::Int::from_word(word);
        if (!value.is_slot()) return {};
        return check_index("slot", value.slot_index().value, function_.slot_count);
      }
      case FieldForm::slot_form:
        return check_index("slot", word, function_.slot_count);
      case FieldForm::function_form:
        return check_index("function", word, module_.functions.size());
      case FieldForm::shape_fn_form: {
        SCOPEVM_RETURN_IF_ERROR(
            check_index("shape function", word, module_.shape_functions.size()));
        // A shape function writes slots from 0 on, without the VM's bounds checks.
        const uint32_t slots = module_.shape_functions[word].slot_count;
        if (slots <= function_.slot_count) return {};
        return invalid("writes " + count_text(slots, "slot") + ", the frame has " +
                       std::to_string(function_.slot_count));
      }
      case FieldForm::launch_form:
        return check_index("launch", word, module_.launches.size());
      case FieldForm::constant_form:
        return check_index("constant", word, module_.constants.size());
      case FieldForm::pool_form:
        return check_index("pool", word, module_.pools.size());
      case FieldForm::message_form:
        return check_index("message", word, module_.messages.size());
      case FieldForm::dtype_form:
        return check_index("element type", word, kDTypeCount);
      case FieldForm::target_form:
        if (word < is_start_.size() && is_start_[word]) return {};
        return invalid("word " + std::to_string(word) + " is not the start of an instruction");
    }
    return invalid("unknown field form");
  }

  static Status value_type(uint32_t word) {
    if (isa::ValueType::is_valid(word)) return {};
    return invalid("invalid type " + std::to_string(word));
  }

  Status rules(const Instruction& in) {
    for (const Instruction::Field& field : in.fields()) {
      for (const Rule& each : field.row->rules()) SCOPEVM_RETURN_IF_ERROR(rule(in, field, each));
      if (field.row->definition) SCOPEVM_RETURN_IF_ERROR(definition_count(in, field));
    }
    return {};
  }

  Status rule(const Instruction& in, const Instruction::Field& field, const Rule& rule) {
    switch (rule.kind) {
      case RuleKind::returned:
        return check_count(field, function_.outputs.size());
      case RuleKind::passed_to:
        return check_count(field, module_.functions[in.word(rule, 0)].inputs.size());
      case RuleKind::bound_to:
        return bound(module_.functions[in.word(rule, 0)], field.words.size());
      case RuleKind::buffers_of:
        return check_count(field, module_.launches[in.word(rule, 0)].bytes.size());
      case RuleKind::not_computed:
        return not_computed(field.words[0]);
      case RuleKind::immediate:
        return immediate(field, rule.arguments[0], rule.arguments[1]);
      case RuleKind::axis_of:
        // Transfer::check() compares the axis with the rank, so the axis must be known.
        if (!isa::Int::from_word(field.words[0]).is_slot()) return {};
        return invalid(std::string(field.name()) + " must be an immediate, given a slot");
      case RuleKind::in_image:
        return kernel_kind(field.words[0], false);
      case RuleKind::external:
        return kernel_kind(field.words[0], true);
      case RuleKind::allocates:
        return allocation_pool(field.words[0], in.field(rule, 0));
      case RuleKind::host_heap:
        return host_heap(field.words[0]);
      case RuleKind::copied_with:
        return copied(in.word(rule, 0), field.words[0]);
      case RuleKind::closed_over:
        return closed_over(module_.functions[field.words[0]]);
      case RuleKind::holds_value:  // register contents: see Transfer::check
      case RuleKind::holds_storage:
      case RuleKind::holds_tensor:
      case RuleKind::holds_list:
      case RuleKind::holds_closure:
      case RuleKind::holds_tensor_or_closure:
      case RuleKind::element_of:
      case RuleKind::element_typed:
      case RuleKind::on_host:
      case RuleKind::in_pool:
      case RuleKind::reached_by:
      case RuleKind::not_in_frame:
      case RuleKind::writable:
      case RuleKind::writable_in:
      case RuleKind::of_strings:
      case RuleKind::of_numbers:
      case RuleKind::of_integers:
      case RuleKind::typed_by:
      case RuleKind::dims_of:
      case RuleKind::follows:  // shape functions in effect: see Transfer::check
      case RuleKind::computed:
        return {};
    }
    return invalid("unknown rule");
  }

  // A list of written registers has one register per value of the definition.
  Status definition_count(const Instruction& in, const Instruction::Field& field) const {
    const isa::Definition& definition = *field.row->definition;
    switch (definition.kind) {
      case DefinitionKind::makes_outputs:
        return check_count(field, module_.functions[in.word(definition, 0)].outputs.size());
      case DefinitionKind::makes_types:
        return check_count(field, in.field(definition, 0).words.size());
      case DefinitionKind::makes_storage:
      case DefinitionKind::makes_tensor:
      case DefinitionKind::makes_view:
      case DefinitionKind::makes_copy:
      case DefinitionKind::makes_constant:
      case DefinitionKind::makes_list:
      case DefinitionKind::makes_element:
      case DefinitionKind::makes_closure:
      case DefinitionKind::enlarged:
      case DefinitionKind::changed:
        return {};
    }
    return invalid("unknown definition");
  }

  Status kernel_kind(uint32_t launch, bool is_external) const {
    const KernelDecl& kernel = module_.kernels[module_.launches[launch].kernel];
    if (kernel.external.has_value() == is_external) return {};
    return invalid("\"" + kernel.symbol + "\" is " +
                   (is_external ? "a kernel of an image, expected an external function"
                                : "an external function, expected a kernel of an image"));
  }

  static Status check_count(const Instruction::Field& field, uint64_t expected) {
    if (field.words.size() == expected) return {};
    return invalid("the number of " + std::string(field.name()) + " is " +
                   std::to_string(field.words.size()) + ", expected " + std::to_string(expected));
  }

  static Status immediate(const Instruction::Field& field, int64_t min, int64_t max) {
    const isa::Int value = isa::Int::from_word(field.words[0]);
    if (!value.is_slot() && value.immediate_value() >= min && value.immediate_value() <= max)
      return {};
    return invalid(std::string(field.name()) + " must be an immediate from " + std::to_string(min) +
                   " to " + std::to_string(max) + ", given " +
                   (value.is_slot() ? "a slot" : std::to_string(value.immediate_value())));
  }

  // An instruction must not change what a shape function has computed and checked.
  Status not_computed(uint32_t slot) const {
    if (slot < first_computed_ || slot >= end_computed_) return {};
    return invalid("slot " + std::to_string(slot) +
                   " is among those that the function's shape functions write, [" +
                   std::to_string(first_computed_) + ", " + std::to_string(end_computed_) + ")");
  }

  Status check_pool(uint32_t index) const {
    const PoolDecl& pool = module_.pools[index];
    if (pool.kind == PoolKind::kConstant)
      return invalid("pool \"" + pool.scope + "\" holds constants only");
    if (pool.kind == PoolKind::kStack)
      return invalid("pool \"" + pool.scope + "\" is owned by the frame");
    return {};
  }

  // Verifies a pool from which an instruction allocates. A frame reserves bytes for every
  // instruction that allocates from a stack pool, so their sizes must be immediates.
  Status allocation_pool(uint32_t index, const Instruction::Field& size_field) {
    const PoolDecl& pool = module_.pools[index];
    if (pool.kind != PoolKind::kStack) return check_pool(index);
    const isa::Int size = isa::Int::from_word(size_field.words[0]);
    if (size.is_slot())
      return invalid(std::string(size_field.name()) +
                     " must be an immediate for a stack pool, given a slot");
    int64_t& bytes = stack_bytes_[index];
    // A frame aligns each storage, as in find_stacks() (vm/load/frame_storages.cpp).
    bytes += static_cast<int64_t>(align_up(static_cast<uint64_t>(size.immediate_value())));
    if (bytes <= pool.limit) return {};
    return invalid(count_text(bytes, "byte") + " in pool \"" + pool.scope + "\", the limit is " +
                   std::to_string(pool.limit) + " per frame");
  }

  // Verifies a pool for lists, closures and storages that grow: host memory, neither a stack nor
  // for constants.
  Status host_heap(uint32_t index) const {
    SCOPEVM_RETURN_IF_ERROR(check_pool(index));
    if (is_host_pool(module_, index)) return {};
    return invalid("pool \"" + module_.pools[index].scope + "\" of " + device_text(module_, index) +
                   " is not in host memory");
  }

  Status copied(uint32_t to, uint32_t from) const {
    // Messages are between memories of CPUs.
    if (module_.rank_of(to) != module_.rank_of(from) &&
        !(is_host_pool(module_, to) && is_host_pool(module_, from)))
      return invalid("from " + device_text(module_, from) + " to " + device_text(module_, to) +
                     " of another rank: both must be CPUs");
    // A driver copies within its device, or from and to host memory.
    if (module_.pools[to].device == module_.pools[from].device || is_host_pool(module_, to) ||
        is_host_pool(module_, from))
      return {};
    return invalid("from " + device_text(module_, from) + " to " + device_text(module_, to) +
                   ": one of them must be a CPU");
  }

  // An instruction that calls a closure declares only kinds, element types and ranks. These cannot
  // describe lists.
  static Status closed_over(const FunctionDecl& callee) {
    for (const std::vector<TensorDecl>* values : {&callee.inputs, &callee.outputs})
      for (const TensorDecl& value : *values)
        if (list_depth(value.kind) > 0)
          return invalid("\"" + value.name + "\" is a list; a closure cannot take or return lists");
    return {};
  }

  // A closure captures only tensors, so closures do not nest.
  static Status bound(const FunctionDecl& callee, size_t count) {
    if (count > callee.inputs.size())
      return invalid(count_text(count, "captured value") + ", but \"" + callee.name + "\" has " +
                     count_text(callee.inputs.size(), "input"));
    for (size_t i = 0; i < count; ++i)
      if (callee.inputs[i].kind != ValueKind::kTensor)
        return invalid("captured input \"" + callee.inputs[i].name + "\" must be a tensor, given " +
                       std::string(name(callee.inputs[i].kind)));
    return {};
  }

  Status end() const {
    if (starts_.empty()) return invalid("the function has no code");
    Instruction last = isa::verified_instruction(function_.code, starts_.back());
    if (last.row->has(isa::Trait::no_fall_through)) return {};
    return invalid("word " + std::to_string(last.start) + ": " + std::string(last.row->name) +
                   ": control reaches the end of the code");
  }

  Status memory_and_sources() const {
    for (const MemoryDecl& memory : function_.memory) {
      std::string context = "memory \"" + memory.what + "\"";
      SCOPEVM_RETURN_IF_ERROR(
          check_index("pool", memory.pool, module_.pools.size()).with_context(context));
      if (memory.is_result && module_.pools[memory.pool].kind == PoolKind::kStack)
        return invalid(context + ": stack pool: a result cannot be stored in a frame");
      // record_bounds() reads these slots without a check.
      for (uint32_t slot : {memory.bytes_slot, memory.lower_bound_slot})
        SCOPEVM_RETURN_IF_ERROR(
            check_index("slot", slot, function_.slot_count).with_context(context));
    }
    uint32_t previous = 0;
    for (const SourceDecl& source : function_.sources) {
      // Sources must be in ascending order, because LoadedModule::source_name() uses a binary
      // search.
      if (source.word >= is_start_.size() || !is_start_[source.word] || source.word < previous)
        return invalid(
            "source \"" + source.name + "\": word " + std::to_string(source.word) +
            " is not the start of an instruction, or precedes that of the previous source");
      previous = source.word;
    }
    return {};
  }

  const ModuleContents& module_;
  const FunctionDecl& function_;
  std::vector<bool> is_start_;  // by word: whether an instruction starts at it
  std::vector<uint32_t> starts_;
  // The slots that the function's shape functions write, and those between them.
  uint32_t first_computed_ = UINT32_MAX;
  uint32_t end_computed_ = 0;
  std::map<uint32_t, int64_t> stack_bytes_;  // bytes by stack pool
};

}  // namespace

Result<std::vector<uint32_t>> verify_instructions(const ModuleContents& module,
                                                  const FunctionDecl& function) {
  return InstructionVerifier(module, function).run();
}

}  // namespace scopevm::format
