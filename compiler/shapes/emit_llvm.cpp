// Translates a shape program to LLVM IR. Small dims cannot overflow, so that their code checks no
// arithmetic: it is optimised. Other dims take the checked code: straight-line code with a sticky
// overflow flag. Most values are known to be non-negative. If a sum of such values overflows, it is
// negative: the code collects the sign bits of these sums in one word instead of setting the flag
// for each sum. After an overflow, values can be wrong, but the code has no undefined behaviour.
#include "compiler/shapes/emit_llvm.h"

#include <limits>
#include <optional>

#include "compiler/shapes/intervals.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Module.h"

namespace scopevm::compiler {
namespace {

using Op = ShapeProgram::Op;
using ValueIndex = ShapeProgram::ValueIndex;

// Instructions of a shape function that LLVM optimises. The time of LLVM's scheduler and register
// allocation is quadratic in the instructions of one block, and in the values that are live at
// once. Code that is not optimised therefore reads dims and slots again for each use.
constexpr size_t kMostOptimised = 2048;

// Small dims are at most 2^kMostBits.
constexpr int kMostBits = 20, kLeastBits = 8;

// Dims with which no arithmetic of segment 0 can overflow.
struct SmallDims {
  int64_t largest = 0;
  Intervals intervals;  // of the values
};

// The largest power of two whose dims are small; empty if there is none.
std::optional<SmallDims> find_small_dims(const ShapeProgram& program) {
  for (int bits = kMostBits; bits >= kLeastBits; --bits)
    if (std::optional<Intervals> found = intervals(program, int64_t{1} << bits))
      return SmallDims{int64_t{1} << bits, *std::move(found)};
  return std::nullopt;
}

llvm::Function* declare(llvm::Module& module, const llvm::Twine& symbol,
                        llvm::GlobalValue::LinkageTypes linkage) {
  llvm::Type* pointer = llvm::PointerType::getUnqual(module.getContext());
  llvm::Type* i64 = llvm::Type::getInt64Ty(module.getContext());
  auto* function = llvm::Function::Create(llvm::FunctionType::get(i64, {pointer, pointer}, false),
                                          linkage, symbol, module);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  return function;
}

class Emitter {
 public:
  // `intervals`: of the values in this code, which then checks no arithmetic; null if unknown.
  Emitter(const ShapeProgram& program, SegmentIndex segment, llvm::Function* function,
          bool is_optimised, const Intervals* intervals)
      : program_(program),
        segment_(segment),
        function_(function),
        is_optimised_(is_optimised),
        intervals_(intervals),
        builder_(function->getContext()) {
    if (!is_optimised) {
      function_->addFnAttr(llvm::Attribute::OptimizeNone);
      function_->addFnAttr(llvm::Attribute::NoInline);
    }
    builder_.SetInsertPoint(block("entry"));
    overflow_ = {builder_.getFalse(), builder_.getInt64(0)};
  }

  // Calls of `function` return its result if a dim or the thread count is not in [1, largest].
  // `largest` is a power of two.
  void call_unless_small(llvm::Function* function, int64_t largest) {
    llvm::Value* bits = builder_.getInt64(0);
    for (uint64_t i = 0; i <= program_.dim_count(); ++i)
      bits = builder_.CreateOr(bits, builder_.CreateSub(load_dim(i), builder_.getInt64(1)));
    llvm::BasicBlock* call = block("call");
    llvm::BasicBlock* small = block("small");
    builder_.CreateCondBr(
        builder_.CreateICmpULT(bits, builder_.getInt64(static_cast<uint64_t>(largest))), small,
        call);
    builder_.SetInsertPoint(call);
    builder_.CreateRet(builder_.CreateCall(function, {function_->getArg(0), function_->getArg(1)}));
    builder_.SetInsertPoint(small);
  }

  void run() {
    const auto& instructions = program_.instructions();
    values_.resize(instructions.size());
    overflow_at_.resize(instructions.size());
    for (ValueIndex v : instructions.indices()) {
      is_natural_.push_back(is_natural(v));
      if (instructions[v].segment != segment_) continue;
      values_[v] = emit(instructions[v]);
      overflow_at_[v] = overflow_;
      if (!is_optimised_) move_to_slot(v);
    }
    // All slots are stored, even if a check fails: the message shows their values.
    const auto& stores = program_.stores();
    for (SlotIndex slot : stores.indices())
      if (stores[slot] && program_.segment_of(*stores[slot]) == segment_)
        builder_.CreateStore(value(*stores[slot]), address(1, slot.value));
    emit_result();
  }

 private:
  llvm::BasicBlock* block(const char* name) {
    return llvm::BasicBlock::Create(function_->getContext(), name, function_);
  }
  llvm::Value* address(unsigned argument, uint64_t index) {
    return builder_.CreateConstGEP1_64(builder_.getInt64Ty(), function_->getArg(argument), index);
  }
  llvm::Value* load_dim(uint64_t index) {
    return builder_.CreateLoad(builder_.getInt64Ty(), address(0, index));
  }
  llvm::Value* load_slot(SlotIndex slot) {
    return builder_.CreateLoad(builder_.getInt64Ty(), address(1, slot.value));
  }

  // Ends the live range of a value that a slot or the dims of the inputs hold.
  void move_to_slot(ValueIndex v) {
    const std::optional<SlotIndex> slot = program_.find_slot(v);
    if (slot && program_.stores()[*slot]) builder_.CreateStore(values_[v], address(1, slot->value));
    if (slot || program_.instructions()[v].op == Op::kInputDim) values_[v] = nullptr;
  }

  // A value of this segment, or a load of a slot.
  llvm::Value* value(ValueIndex index) {
    if (values_[index]) return values_[index];
    const ShapeProgram::Instruction& i = program_.instructions()[index];
    const bool is_known = i.op == Op::kConstant || i.op == Op::kThreads ||
                          (i.op == Op::kInputDim && i.segment == segment_);
    llvm::Value* loaded = is_known ? emit(i) : load_slot(*program_.find_slot(index));
    if (is_optimised_) values_[index] = loaded;
    return loaded;
  }

  // Whether the value cannot be negative unless arithmetic has overflowed before.
  bool is_natural(ValueIndex v) const {
    if (intervals_ != nullptr && (*intervals_)[v].min >= 0) return true;
    const ShapeProgram::Instruction& i = program_.instructions()[v];
    switch (i.op) {
      case Op::kConstant:
        return i.immediate >= 0;
      case Op::kInputDim:
      case Op::kThreads:
      case Op::kMod:
        return true;
      case Op::kRuntime:
        return false;
      case Op::kAdd:
      case Op::kMul:
      case Op::kMin:
        return is_natural_[i.a] && is_natural_[i.b];
      case Op::kFloorDiv:
        return is_natural_[i.a];
      case Op::kMax:
        return is_natural_[i.a] || is_natural_[i.b];
    }
    return false;
  }

  llvm::Value* checked(llvm::Intrinsic::ID intrinsic, llvm::Value* a, llvm::Value* b) {
    llvm::Value* pair = builder_.CreateBinaryIntrinsic(intrinsic, a, b);
    overflow_.flag = builder_.CreateOr(overflow_.flag, builder_.CreateExtractValue(pair, 1));
    return builder_.CreateExtractValue(pair, 0);
  }

  llvm::Value* add(const ShapeProgram::Instruction& i) {
    llvm::Value *a = value(i.a), *b = value(i.b);
    if (intervals_ != nullptr) return builder_.CreateNSWAdd(a, b);
    if (!is_natural_[i.a] || !is_natural_[i.b])
      return checked(llvm::Intrinsic::sadd_with_overflow, a, b);
    llvm::Value* sum = builder_.CreateAdd(a, b);
    overflow_.signs = builder_.CreateOr(overflow_.signs, sum);
    return sum;
  }

  llvm::Value* multiply(const ShapeProgram::Instruction& i) {
    llvm::Value *a = value(i.a), *b = value(i.b);
    if (intervals_ != nullptr) return builder_.CreateNSWMul(a, b);
    return checked(llvm::Intrinsic::smul_with_overflow, a, b);
  }

  // A divisor that is at least 1. A divisor below 1 sets the overflow flag.
  llvm::Value* divisor(ValueIndex index) {
    llvm::Value* b = value(index);
    if (intervals_ != nullptr && (*intervals_)[index].min >= 1) return b;
    llvm::Value* is_bad = builder_.CreateICmpSLT(b, builder_.getInt64(1));
    // Branch-free: the division uses a valid divisor, and the sticky flag discards the result.
    overflow_.flag = builder_.CreateOr(overflow_.flag, is_bad);
    return builder_.CreateSelect(is_bad, builder_.getInt64(1), b);
  }

  // The quotient of two values that are not negative. A 64-bit division takes several times as long
  // as a 32-bit one.
  llvm::Value* quotient_of(ValueIndex dividend, llvm::Value* a, ValueIndex divisor,
                           llvm::Value* b) {
    constexpr int64_t kMost = std::numeric_limits<uint32_t>::max();
    if (intervals_ == nullptr || (*intervals_)[dividend].max > kMost ||
        (*intervals_)[divisor].max > kMost)
      return builder_.CreateUDiv(a, b);
    llvm::Type* i32 = builder_.getInt32Ty();
    return builder_.CreateZExt(
        builder_.CreateUDiv(builder_.CreateTrunc(a, i32), builder_.CreateTrunc(b, i32)),
        builder_.getInt64Ty());
  }

  llvm::Value* floordiv(ValueIndex dividend, ValueIndex by, llvm::Value** remainder) {
    llvm::Value *a = value(dividend), *b = divisor(by);
    if (is_natural_[dividend]) {
      llvm::Value* quotient = quotient_of(dividend, a, by, b);
      *remainder = builder_.CreateSub(a, builder_.CreateMul(quotient, b));
      return quotient;
    }
    llvm::Value* quotient = builder_.CreateSDiv(a, b);
    llvm::Value* rest = builder_.CreateSub(a, builder_.CreateMul(quotient, b));
    llvm::Value* is_negative = builder_.CreateICmpSLT(rest, builder_.getInt64(0));
    // SDiv truncates. For a negative remainder, the floor is one less and the remainder is b more.
    *remainder = builder_.CreateSelect(is_negative, builder_.CreateAdd(rest, b), rest);
    return builder_.CreateSub(quotient, builder_.CreateZExt(is_negative, builder_.getInt64Ty()));
  }

  llvm::Value* emit(const ShapeProgram::Instruction& i) {
    llvm::Value* remainder = nullptr;
    switch (i.op) {
      case Op::kConstant:
        return builder_.getInt64(static_cast<uint64_t>(i.immediate));
      case Op::kInputDim:
        return load_dim(static_cast<uint64_t>(i.immediate));
      case Op::kThreads:
        // The thread count follows the dims of the inputs, which only the first segment takes.
        return load_dim(segment_.value == 0 ? program_.dim_count() : 0);
      case Op::kRuntime:
        return load_slot({static_cast<uint32_t>(i.immediate)});
      case Op::kAdd:
        return add(i);
      case Op::kMul:
        return multiply(i);
      case Op::kFloorDiv:
        return floordiv(i.a, i.b, &remainder);
      case Op::kMod:
        floordiv(i.a, i.b, &remainder);
        return remainder;
      case Op::kMin:
        return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, value(i.a), value(i.b));
      case Op::kMax:
        return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, value(i.a), value(i.b));
    }
    return nullptr;
  }

  llvm::Value* holds(const ShapeProgram::Condition& c) {
    llvm::Value *lhs = value(c.lhs), *rhs = value(c.rhs), *remainder = nullptr;
    llvm::Value* one = builder_.getInt64(1);
    switch (c.kind) {
      case Check::Kind::kEqual:
        return builder_.CreateICmpEQ(lhs, rhs);
      case Check::Kind::kBroadcastable:
        return builder_.CreateOr(
            builder_.CreateICmpEQ(lhs, rhs),
            builder_.CreateOr(builder_.CreateICmpEQ(lhs, one), builder_.CreateICmpEQ(rhs, one)));
      case Check::Kind::kAtLeast:
        return builder_.CreateICmpSGE(lhs, rhs);
      case Check::Kind::kMultipleOf:
        floordiv(c.lhs, c.rhs, &remainder);
        return builder_.CreateICmpEQ(remainder, builder_.getInt64(0));
    }
    return nullptr;
  }

  // What has overflowed up to a point of the function.
  struct Overflow {
    llvm::Value* flag = nullptr;   // i1
    llvm::Value* signs = nullptr;  // i64; negative: a sum has overflowed
  };
  llvm::Value* has_overflowed(const Overflow& overflow) {
    return builder_.CreateOr(overflow.flag,
                             builder_.CreateICmpSLT(overflow.signs, builder_.getInt64(0)));
  }

  // Whether arithmetic of this segment has overflowed before an operand of the check was computed.
  llvm::Value* has_overflowed_before(const ShapeProgram::Condition& c) {
    llvm::Value* result = builder_.getFalse();
    for (ValueIndex v : {c.lhs, c.rhs})
      if (program_.instructions()[v].has_operands() && overflow_at_[v].flag)
        result = builder_.CreateOr(result, has_overflowed(overflow_at_[v]));
    return result;
  }

  // The first failed check, selected from the last to the first. A check after an overflow has
  // wrong operands, so it is not reported. A check before an overflow may explain it.
  void emit_result() {
    const std::vector<const ShapeProgram::Condition*> conditions = program_.conditions_of(segment_);
    llvm::Value* const none = builder_.getInt64(-1);
    llvm::Value* failed = none;
    for (size_t i = conditions.size(); i-- > 0;)
      failed = builder_.CreateSelect(
          builder_.CreateOr(holds(*conditions[i]), has_overflowed_before(*conditions[i])), failed,
          builder_.getInt64(i));
    // After the checks: the division of a multiple-of check may set the flag.
    llvm::Value* overflowed = builder_.CreateSelect(has_overflowed(overflow_),
                                                    builder_.getInt64(conditions.size()), none);
    llvm::Value* has_failed = builder_.CreateICmpNE(failed, none);
    builder_.CreateRet(builder_.CreateSelect(has_failed, failed, overflowed));
  }

  const ShapeProgram& program_;
  const SegmentIndex segment_;
  llvm::Function* const function_;
  const bool is_optimised_;
  const Intervals* const intervals_;
  llvm::IRBuilder<> builder_;
  Overflow overflow_;
  IndexedVector<ValueIndex, llvm::Value*> values_;
  IndexedVector<ValueIndex, Overflow> overflow_at_;  // overflow_ after each instruction
  IndexedVector<ValueIndex, bool> is_natural_;       // for each value, also of earlier segments
};

}  // namespace

void emit_shape_function(const ShapeProgram& program, SegmentIndex segment, std::string_view symbol,
                         llvm::Module& module) {
  const llvm::StringRef name(symbol.data(), symbol.size());
  llvm::Function* function = declare(module, name, llvm::GlobalValue::ExternalLinkage);
  const bool is_optimised = program.instructions().size() <= kMostOptimised;
  const std::optional<SmallDims> small =
      is_optimised && segment.value == 0 ? find_small_dims(program) : std::nullopt;
  if (!small) {
    Emitter(program, segment, function, is_optimised, nullptr).run();
    return;
  }
  llvm::Function* checked = declare(module, name + ".checked", llvm::GlobalValue::InternalLinkage);
  Emitter(program, segment, checked, /*is_optimised=*/false, nullptr).run();
  Emitter emitter(program, segment, function, is_optimised, &small->intervals);
  emitter.call_unless_small(checked, small->largest);
  emitter.run();
}

void emit_number(std::string_view symbol, uint64_t value, llvm::Module& module) {
  auto* number = llvm::ConstantInt::get(llvm::Type::getInt64Ty(module.getContext()), value);
  // The module owns it.
  new llvm::GlobalVariable(module, number->getType(), /*isConstant=*/true,
                           llvm::GlobalValue::ExternalLinkage, number,
                           llvm::StringRef(symbol.data(), symbol.size()));
}

}  // namespace scopevm::compiler
