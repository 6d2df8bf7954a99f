// Adds checks to loops. A check is a call of kIsStopped; return_early.cpp reads its result.
//
// The work between two checks is bounded in two ways:
// - An innermost loop is divided into parts of at most kWorkPerCheck, as in the strip mining of
//   loops with safepoint polls. There is a check after each part but the last one. A loop of one
//   part therefore executes a single comparison more, and the code of its body is unchanged.
// - A function with nested loops counts its work in a local variable. The end of an innermost loop
//   adds the work of all iterations, and the end of an iteration of an outer loop adds the work of
//   its other ops. If the sum is at least kWorkPerCheck, there is a check and the sum restarts at
//   0. An outer loop is divided instead if the loops in its body check the sum themselves.
// Loops with few iterations at compile time are left as they are. A function that kernels call
// counts its work from 0 and returns it, and its callers add it.
#include <algorithm>

#include "compiler/codegen/cpu/stop_checks/passes.h"
#include "compiler/codegen/cpu/stop_checks/work.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Pass/Pass.h"

namespace scopevm::compiler::codegen {
namespace {

namespace arith = mlir::arith;
namespace scf = mlir::scf;
using mlir::Value;
using mlir::func::CallOp;
using mlir::func::FuncOp;

// Takes 5 to 200 us; a check takes up to 30 ns.
constexpr int64_t kWorkPerCheck = 1 << 16;
// A loop that never has more work than this is not divided.
constexpr int64_t kShortLoop = 4 * kWorkPerCheck;

// The work of a piece of code.
struct Work {
  int64_t fixed = 0;          // of the code that the variable does not count
  bool is_counted = false;    // the code adds to the variable
  bool is_unchecked = false;  // the last addition can be without a check of the sum

  void operator+=(const Work& other) {
    fixed += other.fixed;
    is_counted |= other.is_counted;
    is_unchecked |= other.is_unchecked;
  }
};

Work larger(const Work& a, const Work& b) {
  return {std::max(a.fixed, b.fixed), a.is_counted || b.is_counted,
          a.is_unchecked || b.is_unchecked};
}

// Adds checks to one function, after the functions that it calls.
class FunctionChecks {
 public:
  FunctionChecks(FuncOp function, const Calls& calls,
                 const llvm::DenseMap<mlir::Operation*, Work>& callees)
      : function_(function), calls_(calls), callees_(callees) {}

  Work run() {
    const Work work = visit(function_.getBody(), /*is_repeated=*/is_callee());
    if (work.is_counted && is_callee()) return_work(work.fixed);
    return work;
  }

 private:
  bool is_callee() const { return calls_.contains(function_); }

  Work visit(mlir::Region& region, bool is_repeated) {
    Work work;
    for (mlir::Block& block : region)
      for (mlir::Operation& op : llvm::make_early_inc_range(block)) work += visit(op, is_repeated);
    return work;
  }

  // `is_repeated`: the op is in a loop, or in a function that kernels call.
  Work visit(mlir::Operation& op, bool is_repeated) {
    if (auto loop = mlir::dyn_cast<scf::ForOp>(op)) return visit_for(loop, is_repeated);
    if (auto loop = mlir::dyn_cast<scf::WhileOp>(op)) return visit_while(loop);
    if (auto call = mlir::dyn_cast<CallOp>(op)) return visit_call(call);
    if (op.getNumRegions() == 0) return {work_of(&op)};
    Work work;
    for (mlir::Region& region : op.getRegions()) work = larger(work, visit(region, is_repeated));
    return work;
  }

  Work visit_for(scf::ForOp loop, bool is_repeated) {
    const Work body = visit(loop.getRegion(), /*is_repeated=*/true);
    const int64_t fixed = std::max<int64_t>(body.fixed, 1);
    if (!body.is_counted) {
      const auto iterations = most_iterations(loop, calls_);
      if (iterations && *iterations <= kShortLoop / fixed) return {*iterations * fixed};
    }
    // A part has several iterations.
    if (body.is_unchecked || fixed > kWorkPerCheck / 4) {
      auto builder = at_end_of(*loop.getBody());
      count(builder, constant(builder, fixed));
      return {0, true};
    }
    divide(loop, fixed, is_repeated);
    return {0, body.is_counted || is_repeated, is_repeated};
  }

  Work visit_while(scf::WhileOp loop) {
    const Work condition = visit(loop.getBefore(), /*is_repeated=*/true);
    const Work body = visit(loop.getAfter(), /*is_repeated=*/true);
    auto builder = at_end_of(*loop.getAfterBody());
    count(builder, constant(builder, condition.fixed + body.fixed + 1));
    return {0, true};
  }

  Work visit_call(CallOp call) {
    const auto callee =
        function_->getParentOfType<mlir::ModuleOp>().lookupSymbol<FuncOp>(call.getCallee());
    const auto found = callees_.find(callee);
    if (found == callees_.end()) return {work_of(call)};
    if (!found->second.is_counted) return found->second;
    mlir::ImplicitLocOpBuilder builder(call.getLoc(), call->getBlock(),
                                       std::next(call->getIterator()));
    auto counted = builder.create<CallOp>(callee, call.getOperands());
    call.replaceAllUsesWith(counted.getResults().drop_back());
    call.erase();
    count(builder, counted.getResults().back());
    return {0, true};
  }

  // Divides the loop, whose iterations have `work` each, into parts.
  void divide(scf::ForOp loop, int64_t work, bool is_repeated) {
    mlir::ImplicitLocOpBuilder builder(loop.getLoc(), loop);
    llvm::APInt step(64, 1);
    mlir::matchPattern(loop.getStep(), mlir::m_ConstantInt(&step));
    const Value low = loop.getLowerBound(), high = loop.getUpperBound();
    const Value part = constant(builder, kWorkPerCheck / work * step.getSExtValue());
    const auto end_of = [&](mlir::OpBuilder& at, mlir::Location location, Value begin) -> Value {
      Value end = at.create<arith::AddIOp>(location, begin, part);
      return at.create<arith::MinSIOp>(location, end, high);
    };
    // The parts are the iterations of a do-while loop. It carries the begin and the end of a part,
    // and the values that the loop carries. The first end is often the same in all iterations of an
    // outer loop.
    llvm::SmallVector<Value> initial = {low, end_of(builder, loop.getLoc(), low)};
    llvm::append_range(initial, loop.getInitArgs());
    llvm::SmallVector<mlir::Type> types = {builder.getIndexType()};
    llvm::append_range(types, loop.getResultTypes());
    auto parts = builder.create<scf::WhileOp>(
        types, initial,
        [&](mlir::OpBuilder& at, mlir::Location location, mlir::ValueRange state) {
          const Value end = state[1];
          auto inner = mlir::cast<scf::ForOp>(at.clone(*loop));
          inner.setLowerBound(state[0]);
          inner.setUpperBound(end);
          inner.getInitArgsMutable().assign(state.drop_front(2));
          const Value is_left =
              at.create<arith::CmpIOp>(location, arith::CmpIPredicate::slt, end, high);
          at.create<scf::IfOp>(location, is_left, [&](mlir::OpBuilder& then, mlir::Location) {
            check(then, location);
            then.create<scf::YieldOp>(location);
          });
          llvm::SmallVector<Value> next = {end};
          llvm::append_range(next, inner.getResults());
          at.create<scf::ConditionOp>(location, is_left, next);
        },
        [&](mlir::OpBuilder& at, mlir::Location location, mlir::ValueRange state) {
          llvm::SmallVector<Value> next = {state[0], end_of(at, location, state[0])};
          llvm::append_range(next, state.drop_front());
          at.create<scf::YieldOp>(location, next);
        });
    loop.replaceAllUsesWith(parts.getResults().drop_front());
    loop.erase();
    if (!is_repeated) return;
    builder.setInsertionPointAfter(parts);
    const int64_t per_element = (work - 1) / step.getSExtValue() + 1;
    Value length = builder.create<arith::SubIOp>(high, low);
    length = builder.create<arith::MaxSIOp>(length, constant(builder, 0));
    add(builder, builder.create<arith::MulIOp>(length, constant(builder, per_element)));
  }

  mlir::ImplicitLocOpBuilder at_end_of(mlir::Block& block) {
    return {block.getTerminator()->getLoc(), block.getTerminator()};
  }

  static Value constant(mlir::ImplicitLocOpBuilder& builder, int64_t value) {
    return builder.create<arith::ConstantIndexOp>(value);
  }

  // The variable, a local buffer that LLVM replaces by a register.
  Value variable() {
    if (variable_) return variable_;
    auto builder =
        mlir::ImplicitLocOpBuilder::atBlockBegin(function_.getLoc(), &function_.getBody().front());
    variable_ =
        builder.create<mlir::memref::AllocaOp>(mlir::MemRefType::get({}, builder.getIndexType()));
    builder.create<mlir::memref::StoreOp>(constant(builder, 0), variable_);
    return variable_;
  }

  // Adds to the variable and returns the sum.
  Value add(mlir::ImplicitLocOpBuilder& builder, Value work) {
    const Value done = builder.create<mlir::memref::LoadOp>(variable());
    const Value sum = builder.create<arith::AddIOp>(done, work);
    builder.create<mlir::memref::StoreOp>(sum, variable());
    return sum;
  }

  // Adds to the variable, and checks if it reaches the limit.
  void count(mlir::ImplicitLocOpBuilder& builder, Value work) {
    const Value sum = add(builder, work);
    const Value is_due = builder.create<arith::CmpIOp>(arith::CmpIPredicate::sge, sum,
                                                       constant(builder, kWorkPerCheck));
    auto branch = builder.create<scf::IfOp>(is_due, /*withElseRegion=*/false);
    mlir::OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    builder.create<mlir::memref::StoreOp>(constant(builder, 0), variable());
    check(builder, builder.getLoc());
  }

  static void check(mlir::OpBuilder& builder, mlir::Location location) {
    builder.create<CallOp>(location, kIsStopped, builder.getI1Type(), mlir::ValueRange());
  }

  // Returns the variable as the last result of the function.
  void return_work(int64_t fixed) {
    mlir::Operation* end = function_.getBody().front().getTerminator();
    mlir::ImplicitLocOpBuilder builder(end->getLoc(), end);
    const Value sum = add(builder, constant(builder, fixed));
    end->insertOperands(end->getNumOperands(), sum);
    llvm::SmallVector<mlir::Type> results(function_.getResultTypes());
    results.push_back(sum.getType());
    function_.setFunctionType(builder.getFunctionType(function_.getArgumentTypes(), results));
  }

  FuncOp function_;
  const Calls& calls_;
  const llvm::DenseMap<mlir::Operation*, Work>& callees_;
  Value variable_;
};

struct AddStopChecksPass
    : mlir::PassWrapper<AddStopChecksPass, mlir::OperationPass<mlir::ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(AddStopChecksPass)

  llvm::StringRef getArgument() const override { return "sv-add-stop-checks"; }
  void getDependentDialects(mlir::DialectRegistry& registry) const override {
    registry.insert<arith::ArithDialect, mlir::func::FuncDialect, mlir::memref::MemRefDialect,
                    scf::SCFDialect>();
  }
  void runOnOperation() override {
    mlir::ModuleOp module = getOperation();
    calls_.clear();
    works_.clear();
    llvm::SmallVector<FuncOp> functions;
    for (FuncOp function : module.getOps<FuncOp>())
      if (!function.isExternal()) functions.push_back(function);
    module.walk([&](CallOp call) {
      auto callee = module.lookupSymbol<FuncOp>(call.getCallee());
      if (callee && !callee.isExternal()) calls_[callee].push_back(call);
    });
    auto builder = mlir::OpBuilder::atBlockBegin(module.getBody());
    auto check = builder.create<FuncOp>(module.getLoc(), kIsStopped,
                                        builder.getFunctionType({}, {builder.getI1Type()}));
    check.setPrivate();
    for (FuncOp function : functions) visit(function);
    if (mlir::SymbolTable::symbolKnownUseEmpty(check, module)) check.erase();
  }

  // Callees first.
  void visit(FuncOp function) {
    if (works_.contains(function)) return;
    llvm::SmallVector<FuncOp> callees;
    function.walk([&](CallOp call) {
      auto callee = getOperation().lookupSymbol<FuncOp>(call.getCallee());
      if (callee && !callee.isExternal()) callees.push_back(callee);
    });
    for (FuncOp callee : callees) visit(callee);
    works_[function] = FunctionChecks(function, calls_, works_).run();
  }

  Calls calls_;
  llvm::DenseMap<mlir::Operation*, Work> works_;
};

}  // namespace

std::unique_ptr<mlir::Pass> create_add_stop_checks_pass() {
  return std::make_unique<AddStopChecksPass>();
}

}  // namespace scopevm::compiler::codegen
