// CodeBuilder: constants and control flow.
#include "compiler/kernels/builder/code_builder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace scopevm::compiler::kernels {

namespace scf = mlir::scf;

mlir::MemRefType buffer_type(mlir::Type element) {
  return mlir::MemRefType::get({mlir::ShapedType::kDynamic}, element);
}

CodeBuilder::CodeBuilder(mlir::OpBuilder& builder, mlir::Location location,
                         const schedule::Target& target)
    : builder_(location, builder), target_(target) {}

Terms CodeBuilder::terms(mlir::ValueRange values) {
  Terms terms;
  for (mlir::Value value : values) terms.push_back(term(value));
  return terms;
}

Term CodeBuilder::index(int64_t value) { return make<mlir::arith::ConstantIndexOp>(value); }
Term CodeBuilder::boolean(bool value) {
  return make<mlir::arith::ConstantOp>(builder_.getBoolAttr(value));
}
Term CodeBuilder::zero(mlir::Type type) {
  return make<mlir::arith::ConstantOp>(builder_.getZeroAttr(type));
}

void CodeBuilder::loop(Term low, Term high, int64_t step, llvm::function_ref<void(Term)> body) {
  loop(low, high, step, {}, [&](Term i, llvm::ArrayRef<Term>) {
    body(i);
    return Terms{};
  });
}

Terms CodeBuilder::loop(Term low, Term high, int64_t step, llvm::ArrayRef<Term> initial,
                        llvm::function_ref<Terms(Term, llvm::ArrayRef<Term>)> body) {
  auto op = builder_.create<scf::ForOp>(low, high, index(step), values_of(initial));
  mlir::OpBuilder::InsertionGuard guard(builder_);
  builder_.setInsertionPointToStart(op.getBody());
  Terms next = body(term(op.getInductionVar()), terms(op.getRegionIterArgs()));
  // MLIR adds the yield itself if the loop carries no values.
  if (!next.empty()) builder_.create<scf::YieldOp>(values_of(next));
  return terms(op.getResults());
}

Terms CodeBuilder::loop_while(llvm::ArrayRef<Term> initial,
                              llvm::function_ref<Term(llvm::ArrayRef<Term>)> condition,
                              llvm::function_ref<Terms(llvm::ArrayRef<Term>)> body) {
  llvm::SmallVector<mlir::Value> values = values_of(initial);
  mlir::TypeRange types = mlir::ValueRange(values).getTypes();
  auto op = builder_.create<scf::WhileOp>(types, values);
  llvm::SmallVector<mlir::Location> locations(values.size(), builder_.getLoc());
  mlir::OpBuilder::InsertionGuard guard(builder_);
  mlir::Block* before = builder_.createBlock(&op.getBefore(), {}, types, locations);
  Term goes_on = condition(terms(before->getArguments()));
  builder_.create<scf::ConditionOp>(goes_on, before->getArguments());
  mlir::Block* after = builder_.createBlock(&op.getAfter(), {}, types, locations);
  Terms next = body(terms(after->getArguments()));
  builder_.create<scf::YieldOp>(values_of(next));
  return terms(op.getResults());
}

void CodeBuilder::when(Term condition, llvm::function_ref<void()> then,
                       llvm::function_ref<void()> otherwise) {
  auto op = builder_.create<scf::IfOp>(condition, static_cast<bool>(otherwise));
  mlir::OpBuilder::InsertionGuard guard(builder_);
  builder_.setInsertionPointToStart(op.thenBlock());
  then();
  if (!otherwise) return;
  builder_.setInsertionPointToStart(op.elseBlock());
  otherwise();
}

Terms CodeBuilder::branch(Term condition, mlir::TypeRange types, llvm::function_ref<Terms()> then,
                          llvm::function_ref<Terms()> otherwise) {
  auto op = builder_.create<scf::IfOp>(types, condition, /*withElseRegion=*/true);
  mlir::OpBuilder::InsertionGuard guard(builder_);
  builder_.setInsertionPointToStart(op.thenBlock());
  builder_.create<scf::YieldOp>(values_of(then()));
  builder_.setInsertionPointToStart(op.elseBlock());
  builder_.create<scf::YieldOp>(values_of(otherwise()));
  return terms(op.getResults());
}

void CodeBuilder::switch_index(Term selector, int64_t count,
                               llvm::function_ref<void(int64_t)> cases) {
  if (count == 1) return cases(0);
  llvm::SmallVector<int64_t> values;
  for (int64_t i = 0; i + 1 < count; ++i) values.push_back(i);
  auto op = builder_.create<scf::IndexSwitchOp>(mlir::TypeRange(), selector, values, values.size());
  mlir::OpBuilder::InsertionGuard guard(builder_);
  for (int64_t i = 0; i < count; ++i) {
    bool is_last = i + 1 == count;  // the last case is the default
    builder_.createBlock(is_last ? &op.getDefaultRegion() : &op.getCaseRegions()[i]);
    cases(i);
    builder_.create<scf::YieldOp>();
  }
}

void CodeBuilder::for_lanes(Term length, int64_t lanes, Tail tail,
                            llvm::function_ref<void(const Lanes&)> body) {
  Term rest = remainder(length, index(lanes)), whole = length - rest;
  loop(index(0), whole, lanes, [&](Term i) { body({lanes, i, {}}); });
  emit_tail(length, whole, lanes, tail, body);
}

// The elements after the first `whole`, a number of full vectors.
void CodeBuilder::emit_tail(Term length, Term whole, int64_t lanes, Tail tail,
                            llvm::function_ref<void(const Lanes&)> body) {
  Term rest = length - whole;
  if (tail == Tail::kMasked || target_.has_masks) {
    when(rest != 0, [&] { body({lanes, whole, mask(rest, lanes)}); });
    return;
  }
  when(
      // The last vector ends at the last element, so it overlaps the vector before it.
      index(lanes) <= length, [&] { body({lanes, length - lanes, {}}); },
      [&] { loop(index(0), rest, 1, [&](Term i) { body({1, i, {}}); }); });
}

void CodeBuilder::call(mlir::func::FuncOp callee, mlir::ValueRange arguments) {
  builder_.create<mlir::func::CallOp>(callee, arguments);
}

}  // namespace scopevm::compiler::kernels
