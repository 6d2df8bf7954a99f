// Dequantises panels, and multiplies few rows by them without storing their numbers: such a product
// is bound by the bytes of the weight.
#include "compiler/kernels/contraction/tile/quantised_panel.h"

#include <bit>

#include "compiler/kernels/builder/code_builder.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace scopevm::compiler::kernels {
namespace {

using schedule::kPanelColumns;

constexpr int64_t kGroup = 16, kLine = 64;  // bytes
// Bytes between a prefetch and its use.
constexpr int64_t kPrefetchBytes = 4096;
constexpr int64_t kSteps = 4;
static_assert(kPanelColumns == 2 * kGroup);

// The numbers q - zero of adjacent columns.
class Numbers {
 public:
  // The columns [first, first + lanes) of panel number `panel`.
  Numbers(CodeBuilder& e, const BlockFormat& format, const QuantisedPanels& from, Term panel,
          int64_t first)
      : e_(e),
        f_(format),
        from_(from),
        lanes_(e.lanes(DType::kF32)),
        first_(first),
        q_at_(panel * from.bytes),
        blocks_at_(panel * from.blocks * kPanelColumns + first) {}

  // Selects a block of the depth.
  void enter(Term block) {
    const Term at = blocks_at_ + block * kPanelColumns;
    scale_ = e_.load(from_.scales, at, lanes_);
    if (!f_.zero) zero_ = e_.load(from_.zeros, at, lanes_);
  }
  Term scale() const { return scale_; }

  // Prefetches what kSteps steps from step k on will read later, also of the next panel. The
  // address can be past the end of the buffer: a prefetch never faults.
  void prefetch(Term k) {
    const int64_t step_bytes = f_.bits * kPanelColumns / 8;
    for (int64_t line = 0; line < kSteps * step_bytes; line += kLine)
      e_.builder().create<mlir::memref::PrefetchOp>(
          from_.q.memref, mlir::ValueRange{q_at_ + k * step_bytes + (kPrefetchBytes + line)},
          /*isWrite=*/false, /*localityHint=*/3, /*isDataCache=*/true);
  }

  // Those of step k + u. k is a multiple of kSteps unless `is_single`; then u is 0.
  Term at(Term k, int64_t u, bool is_single) {
    const int64_t bit = f_.bit_of(u, first_);
    Term group = f_.bits == 2 ? quotient(k, 2) * kGroup : k * (f_.bits * kPanelColumns / 8);
    Term bytes = e_.load(from_.q, q_at_ + group + bit / 8, lanes_);
    Term integers = e_.make<mlir::arith::ExtUIOp>(bytes.like(e_.builder().getI32Type()), bytes);
    if (bit % 8 != 0) integers = shift_right(integers, bit % 8);
    if (f_.bits == 2 && is_single)
      integers = select(remainder(k, 2) == 0, integers, shift_right(integers, 4));
    return number_of(integers);
  }

 private:
  // The number of an integer, which is in the lowest bits.
  Term number_of(Term integers) {
    const bool is_known = f_.zero.has_value();
    // vpermps reads the lowest 4 bits of each lane.
    if (is_known && f_.bits == 4 && lanes_ == kGroup) return table_of(integers);
    if (f_.bits < 8) integers = integers & integers.integer((int64_t{1} << f_.bits) - 1);
    const Term number = convert(integers, e_.builder().getF32Type());
    return number - (is_known ? number.number(*f_.zero) : zero_);
  }

  Term table_of(Term integers) {
    llvm::SmallVector<float> numbers;
    for (int64_t i = 0; i < kGroup; ++i)
      numbers.push_back(static_cast<float>(i) - static_cast<float>(*f_.zero));
    mlir::ImplicitLocOpBuilder& builder = e_.builder();
    const mlir::VectorType type = e_.vector(builder.getF32Type(), kGroup);
    const Term table = e_.make<mlir::arith::ConstantOp>(
        mlir::DenseElementsAttr::get(type, llvm::ArrayRef<float>(numbers)));
    return e_.term(builder
                       .create<mlir::LLVM::CallIntrinsicOp>(
                           type, builder.getStringAttr("llvm.x86.avx512.permvar.sf.512"),
                           mlir::ValueRange{table, integers})
                       .getResult(0));
  }

  CodeBuilder& e_;
  const BlockFormat& f_;
  const QuantisedPanels& from_;
  int64_t lanes_, first_;
  Term q_at_, blocks_at_, scale_, zero_;
};

// Emits all blocks of the depth. `step` emits step k + u of `block` and updates the values that the
// steps of a block carry; k is a multiple of kSteps unless `is_single`. `finish` adds these values,
// which start at 0, to the `totals`, which blocks carry, and receives the block.
struct BlockLoop {
  using Step = llvm::function_ref<void(Term k, int64_t u, bool is_single,
                                       llvm::MutableArrayRef<Term> carried)>;
  using Finish =
      llvm::function_ref<Terms(llvm::ArrayRef<Term> carried, llvm::ArrayRef<Term> totals)>;

  CodeBuilder& e;
  const BlockFormat& format;
  const QuantisedPanels& from;
  llvm::function_ref<void(Term block)> enter;
  Step step;
  Finish finish;

  Terms emit(llvm::ArrayRef<Term> zeros, llvm::ArrayRef<Term> totals) {
    // Whole blocks have loops with constant bounds.
    const Term whole = quotient(from.depth, format.block);
    const Terms now =
        e.loop(e.index(0), whole, 1, totals, [&](Term block, llvm::ArrayRef<Term> before) {
          enter(block);
          const Term begin = block * format.block;
          return finish(four_at_a_time(begin, e.index(format.block), zeros), before);
        });
    return e.loop(whole, from.blocks, 1, now, [&](Term block, llvm::ArrayRef<Term> before) {
      enter(block);
      const Term begin = block * format.block, steps = from.depth - begin;
      const Term whole_steps = quotient(steps, kSteps) * kSteps;
      const Terms carried =
          e.loop(begin + whole_steps, from.depth, 1, four_at_a_time(begin, whole_steps, zeros),
                 [&](Term k, llvm::ArrayRef<Term> earlier) {
                   Terms next(earlier);
                   step(k, 0, true, next);
                   return next;
                 });
      return finish(carried, before);
    });
  }

 private:
  Terms four_at_a_time(Term begin, Term steps, llvm::ArrayRef<Term> carried) {
    return e.loop(e.index(0), steps, kSteps, carried, [&](Term i, llvm::ArrayRef<Term> before) {
      Terms next(before);
      for (int64_t u = 0; u < kSteps; ++u) step(begin + i, u, false, next);
      return next;
    });
  }
};

// The product of some rows with two vectors of the columns of a panel. The scale of a block
// multiplies a sum of up to `block` products, which can overflow where scaled numbers do not.
class Dot {
 public:
  Dot(CodeBuilder& e, const BlockFormat& format, int64_t rows)
      : e_(e), f_(format), rows_(rows), sets_(std::max<int64_t>(1, kSteps / rows)) {}

  struct Operands {
    Buffer a;
    Term a_at;
    QuantisedPanels b;
    Term panel;
    Buffer c;
    Term c_at;
  };

  void emit(const Operands& o, int64_t first) {
    const int64_t lanes = e_.lanes(DType::kF32);
    Numbers left(e_, f_, o.b, o.panel, first), right(e_, f_, o.b, o.panel, first + lanes);
    const Term zero = e_.zero(e_.vector(o.c.element(), lanes));
    const auto enter = [&](Term block) {
      left.enter(block);
      right.enter(block);
    };
    const auto step = [&](Term k, int64_t u, bool is_single, llvm::MutableArrayRef<Term> next) {
      if (u == 0 && !is_single && first == 0) left.prefetch(k);
      const Term numbers[] = {left.at(k, u, is_single), right.at(k, u, is_single)};
      for (int64_t row = 0; row < rows_; ++row) {
        const Term a = e_.splat(e_.load(o.a, o.a_at + o.b.depth * row + k + u), lanes);
        for (int64_t v = 0; v < 2; ++v) {
          Term& sum = next[(u % sets_) * set_size() + row * 2 + v];
          sum = multiply_add(a, numbers[v], sum);
        }
      }
    };
    const auto finish = [&](llvm::ArrayRef<Term> sums, llvm::ArrayRef<Term> before) {
      Terms next(before);
      for (int64_t i = 0; i < set_size(); ++i) {
        Term sum = sums[i];
        for (int64_t set = 1; set < sets_; ++set) sum = sum + sums[set * set_size() + i];
        next[i] = multiply_add(sum, i % 2 == 0 ? left.scale() : right.scale(), next[i]);
      }
      return next;
    };
    const Terms totals = BlockLoop{e_, f_, o.b, enter, step, finish}.emit(
        Terms(sets_ * set_size(), zero), Terms(set_size(), zero));
    for (int64_t row = 0; row < rows_; ++row)
      for (int64_t v = 0; v < 2; ++v)
        e_.store(o.c, o.c_at + (row * kPanelColumns + first + v * lanes), totals[row * 2 + v]);
  }

 private:
  int64_t set_size() const { return rows_ * 2; }

  Term multiply_add(Term a, Term b, Term sum) {
    return e_.target().has_fma() ? e_.make<mlir::vector::FMAOp>(a, b, sum) : a * b + sum;
  }

  CodeBuilder& e_;
  const BlockFormat& f_;
  int64_t rows_, sets_;
};

}  // namespace

int64_t BlockFormat::panel_bytes(int64_t depth) const {
  const int64_t bits_of_panel = depth * bits * kPanelColumns;
  return (bits_of_panel + 8 * kGroup - 1) / (8 * kGroup) * kGroup;
}

int64_t BlockFormat::bit_of(int64_t step, int64_t column) const {
  const int64_t half = column / kGroup, element = 2 * step + half;  // among those of byte column
  const int64_t per_byte = 8 / bits;
  const int64_t byte = element / per_byte * kGroup + column % kGroup;
  return byte * 8 + element % per_byte * bits;
}

void emit_dequantised_panel(CodeBuilder& e, const BlockFormat& format, const QuantisedPanels& from,
                            Term panel, const Buffer& to, Term to_at) {
  const int64_t lanes = e.lanes(DType::kF32);
  for (int64_t first = 0; first < kPanelColumns; first += lanes) {
    Numbers numbers(e, format, from, panel, first);
    const auto enter = [&](Term block) { numbers.enter(block); };
    const auto step = [&](Term k, int64_t u, bool is_single, auto) {
      e.store(to, to_at + k * kPanelColumns + (u * kPanelColumns + first),
              numbers.at(k, u, is_single) * numbers.scale());
    };
    BlockLoop{e, format, from, enter, step, [](auto, auto) { return Terms(); }}.emit({}, {});
  }
}

mlir::func::FuncOp dot_function(KernelModule& module, const BlockFormat& format, int64_t rows) {
  std::string name = "quantised_dot_" + std::to_string(rows) + "_" + std::to_string(format.bits) +
                     "_" + std::to_string(format.block);
  if (format.zero)  // its bits
    name += "_" + std::to_string(std::bit_cast<uint32_t>(static_cast<float>(*format.zero)));
  return module.shared(name, [&](mlir::OpBuilder& builder) {
    mlir::OpBuilder::InsertionGuard guard(builder);
    const mlir::Location location = builder.getUnknownLoc();
    const mlir::Type f32 = buffer_type(builder.getF32Type()), index = builder.getIndexType();
    const mlir::Type bytes = buffer_type(builder.getI8Type());
    auto function = builder.create<mlir::func::FuncOp>(
        location, name,
        builder.getFunctionType(
            {f32, index, bytes, f32, f32, index, index, index, index, f32, index}, {}));
    function->setAttr("passthrough", builder.getArrayAttr({builder.getStringAttr("noinline")}));
    builder.setInsertionPointToStart(function.addEntryBlock());
    CodeBuilder e(builder, location, module.target());
    const auto buffer = [&](unsigned i, DType dtype = DType::kF32) {
      return Buffer{function.getArgument(i), dtype};
    };
    const auto term = [&](unsigned i) { return e.term(function.getArgument(i)); };
    const Dot::Operands operands{
        .a = buffer(0),
        .a_at = term(1),
        .b = {buffer(2, DType::kU8), buffer(3), buffer(4), term(5), term(6), term(7)},
        .panel = term(8),
        .c = buffer(9),
        .c_at = term(10)};
    Dot dot(e, format, rows);
    for (int64_t first = 0; first < kPanelColumns; first += 2 * e.lanes(DType::kF32))
      dot.emit(operands, first);
    builder.create<mlir::func::ReturnOp>(location);
    return function;
  });
}

}  // namespace scopevm::compiler::kernels
