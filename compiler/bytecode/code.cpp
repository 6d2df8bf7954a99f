// One function's steps -> instruction words. Tensors in the workspace are views of one storage;
// results have storage of their own. Registers are reused once their value is dead, those of
// results never, so that the VM can put a caller's buffer in their place.
#include <algorithm>

#include "compiler/bytecode/emit.h"
#include "vm/isa/encoder.h"

namespace scopevm::bytecode {
namespace {

using isa::Encoder;
using isa::Int;
using isa::RegisterIndex;
namespace op = isa::op;
using ValueIndex = ShapeProgram::ValueIndex;

class CodeEmitter {
 public:
  CodeEmitter(const Function& function, PlannedFunction& planned)
      : function_(function),
        shapes_(planned.shapes),
        plan_(planned.plan),
        outputs_(memory::output_of_root(function)),
        last_uses_(memory::last_uses(function)),
        registers_(function.values.size(), kNone) {}

  Result<Code> run(uint32_t shape_function) {
    emit_entry(shape_function);
    for (size_t i = 0; i < function_.steps.size(); ++i) {
      emit_step(function_.steps[i], i);
      release_dead(function_.steps[i], static_cast<int64_t>(i));
    }
    emit_return();
    SCOPEVM_ASSIGN_OR_RETURN(code_.words, encoder_.finish());
    code_.register_count = register_count_;
    return std::move(code_);
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  uint32_t take_register() {
    if (free_.empty()) return register_count_++;
    uint32_t reg = free_.back();
    free_.pop_back();
    return reg;
  }

  // An operand of type int: an immediate when it is a small constant, else a slot.
  Int int_operand(ValueIndex value) {
    std::optional<int64_t> constant = shapes_.constant_of(value);
    if (constant && *constant >= 0 && *constant <= Int::kMaxImmediate)
      return Int::immediate(*constant);
    return Int::slot({shapes_.slot_of(value)});
  }
  Int int_operand(DimExpr expr) { return int_operand(shapes_.value(expr)); }

  std::vector<Int> dims_operand(const Value& value) {
    std::vector<Int> dims;
    for (DimExpr dim : value.shape) dims.push_back(int_operand(dim));
    return dims;
  }

  void emit_entry(uint32_t shape_function) {
    std::vector<RegisterIndex> inputs;
    for (ValueId input : function_.inputs) {
      registers_[input] = register_count_;
      inputs.push_back({register_count_++});
    }
    encoder_.emit(op::shape_function{.function = {shape_function}, .inputs = inputs});
    if (plan_.liveness.buffers.empty()) return;
    workspace_ = register_count_++;
    emit_storage(workspace_, kPoolWorkspace, int_operand(plan_.height));
  }

  // The register that holds the bytes of a value: a view's is its root's.
  uint32_t register_of(ValueId id) {
    ValueId root = memory::root_of(function_, id);
    const Value& value = function_.values[root];
    if (registers_[root] == kNone && value.origin == ValueOrigin::kConstant) {
      registers_[root] = take_register();
      encoder_.emit(op::load_const{.dst = {registers_[root]},
                                   .constant = {static_cast<uint32_t>(value.constant)}});
    }
    return registers_[root];
  }

  void emit_storage(uint32_t reg, uint32_t pool, Int bytes) {
    encoder_.emit(op::alloc_storage{.dst = {reg}, .from = {pool}, .size = bytes});
  }

  void emit_tensor(uint32_t reg, uint32_t storage, ValueIndex offset, Int bytes, DType dtype,
                   const std::vector<Int>& dims) {
    encoder_.emit(op::alloc_tensor{.dst = {reg},
                                   .storage = {storage},
                                   .offset = int_operand(offset),
                                   .bytes = bytes,
                                   .dtype = dtype,
                                   .dims = dims});
  }
  void emit_tensor(uint32_t reg, uint32_t storage, ValueIndex offset, const Value& value) {
    Int bytes = int_operand(value.bytes());
    emit_tensor(reg, storage, offset, bytes, value.dtype, dims_operand(value));
  }

  void make_result(ValueId id) {
    const Value& value = function_.values[id];
    int output = outputs_[id];
    if (output < 0) {
      registers_[id] = take_register();
      emit_tensor(registers_[id], workspace_, plan_.offsets[plan_.liveness.buffer_of_value[id]],
                  value);
      return;
    }
    uint32_t storage = register_count_++;
    registers_[id] = register_count_++;
    emit_storage(storage, kPoolGlobal, int_operand(value.bytes()));
    emit_tensor(registers_[id], storage, shapes_.constant(0), value);
  }

  void emit_step(const Step& step, size_t index) {
    std::vector<RegisterIndex> buffers;
    for (ValueId operand : step.operands) buffers.push_back({register_of(operand)});
    for (ValueId result : step.results) {
      make_result(result);
      buffers.push_back({registers_[result]});
    }
    temporaries_.clear();
    for (size_t t = 0; t < step.temporaries.size(); ++t) {
      int buffer = plan_.liveness.buffer_of_temporary[index][t];
      uint32_t reg = take_register();
      Int bytes = int_operand(plan_.liveness.buffers[buffer].bytes);
      emit_tensor(reg, workspace_, plan_.offsets[buffer], bytes, DType::kU8, {bytes});
      temporaries_.push_back(reg);
      buffers.push_back({reg});
    }
    code_.sources.push_back({encoder_.size(), step.name});
    if (step.kind == StepKind::kCopy)
      encoder_.emit(op::device_copy{.to = {registers_[step.results[0]]},
                                    .from = {register_of(step.operands[0])}});
    else
      emit_launch(step, buffers);
    free_.insert(free_.end(), temporaries_.begin(), temporaries_.end());
  }

  void emit_launch(const Step& step, const std::vector<RegisterIndex>& buffers) {
    std::vector<ValueIndex> params;
    for (DimExpr param : step.params) params.push_back(shapes_.value(param));
    uint32_t block = params.empty() ? 0 : shapes_.block_of(params);
    encoder_.emit(op::launch{.kernel = {static_cast<uint32_t>(step.kernel)},
                             .params = {block},
                             .grid = int_operand(step.grid),
                             .grain = int_operand(step.grain),
                             .buffers = buffers});
  }

  // Gives back the registers of what this step read last, or made for nobody.
  void release_dead(const Step& step, int64_t at) {
    auto release = [&](ValueId id) {
      ValueId root = memory::root_of(function_, id);
      ValueOrigin origin = function_.values[root].origin;
      if (last_uses_[root] > at || outputs_[root] >= 0 || origin == ValueOrigin::kInput) return;
      if (registers_[root] == kNone) return;
      free_.push_back(registers_[root]);
      registers_[root] = kNone;
    };
    for (ValueId operand : step.operands) release(operand);
    for (ValueId result : step.results) release(result);
  }

  void emit_return() {
    std::vector<RegisterIndex> results;
    for (ValueId output : function_.outputs) {
      const Value& value = function_.values[output];
      uint32_t reg = register_of(output);
      if (value.origin == ValueOrigin::kView) {
        uint32_t view = register_count_++;
        std::vector<Int> dims = dims_operand(value);
        encoder_.emit(
            op::alloc_view{.dst = {view}, .of = {reg}, .dtype = value.dtype, .dims = dims});
        reg = view;
      }
      results.push_back({reg});
      code_.result_bytes_slots.push_back(shapes_.slot_of(shapes_.value(value.bytes())));
    }
    encoder_.emit(op::ret{.values = results});
  }

  const Function& function_;
  ShapeProgram& shapes_;
  const memory::Plan& plan_;
  std::vector<int> outputs_;
  std::vector<int64_t> last_uses_;
  std::vector<uint32_t> registers_;  // by root value
  std::vector<uint32_t> free_;
  std::vector<uint32_t> temporaries_;
  uint32_t register_count_ = 0;
  uint32_t workspace_ = kNone;
  Encoder encoder_;
  Code code_;
};

}  // namespace

Result<Code> emit_code(const Function& function, PlannedFunction& planned,
                       uint32_t shape_function) {
  return CodeEmitter(function, planned).run(shape_function);
}

}  // namespace scopevm::bytecode
