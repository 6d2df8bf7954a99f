#include "tests/property/random/tuples.h"

#include <random>
#include <set>

#include "compiler/graph/control/tuples.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace scopevm::compiler::property {
namespace {

using Types = llvm::SmallVector<mlir::Type>;
using Values = llvm::SmallVector<mlir::Value>;

class Tupler {
 public:
  Tupler(mlir::ModuleOp module, uint64_t seed)
      : module_(module), random_(seed), builder_(module.getContext()) {}

  void run() {
    llvm::SmallVector<mlir::Operation*> ops;
    module_.walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation* op) { ops.push_back(op); });
    // First the signatures, which the calls follow.
    for (mlir::Operation* op : ops)
      if (auto function = mlir::dyn_cast<mlir::func::FuncOp>(op)) choose_signature(function);
    for (mlir::Operation* op : ops) add_tuples(op);
  }

 private:
  bool one_in(int count) { return random_() % count == 0; }

  // Random nested tuples of the types, in this order.
  Types grouped(llvm::ArrayRef<mlir::Type> types, int depth = 0) {
    Types result;
    while (!types.empty()) {
      if (depth == 3 || !one_in(3)) {
        result.push_back(types.front());
        types = types.drop_front();
        continue;
      }
      const size_t count = random_() % (types.size() + 1);
      result.push_back(
          mlir::TupleType::get(builder_.getContext(), grouped(types.take_front(count), depth + 1)));
      types = types.drop_front(count);
    }
    return result;
  }

  // Groups `flat` as `groups` are. Consumes the types that it uses.
  Types grouped_as(mlir::TypeRange groups, mlir::TypeRange& flat) {
    Types result;
    for (mlir::Type group : groups) {
      if (auto tuple = mlir::dyn_cast<mlir::TupleType>(group)) {
        result.push_back(
            mlir::TupleType::get(builder_.getContext(), grouped_as(tuple.getTypes(), flat)));
        continue;
      }
      result.push_back(flat.front());
      flat = flat.drop_front();
    }
    return result;
  }
  Types grouped_as_all(mlir::TypeRange groups, mlir::TypeRange flat) {
    return grouped_as(groups, flat);
  }

  Values pack(mlir::TypeRange groups, mlir::ValueRange& flat) {
    Values result;
    for (mlir::Type group : groups) {
      if (auto tuple = mlir::dyn_cast<mlir::TupleType>(group)) {
        const Values elements = pack(tuple.getTypes(), flat);
        result.push_back(builder_.create<graph::TupleOp>(
            builder_.getUnknownLoc(),
            mlir::TupleType::get(builder_.getContext(),
                                 mlir::TypeRange(mlir::ValueRange(elements))),
            elements));
        continue;
      }
      result.push_back(flat.front());
      flat = flat.drop_front();
    }
    return result;
  }
  Values pack_all(mlir::TypeRange groups, mlir::ValueRange flat) { return pack(groups, flat); }

  void unpack(mlir::ValueRange groups, Values& flat) {
    for (mlir::Value group : groups) {
      auto tuple = mlir::dyn_cast<mlir::TupleType>(group.getType());
      if (!tuple) flat.push_back(group);
      for (size_t i = 0; tuple && i < tuple.size(); ++i)
        unpack(builder_.create<graph::TupleGetOp>(builder_.getUnknownLoc(), group, i)->getResults(),
               flat);
    }
  }

  // A closure binds whole parameters. If it is only called, its type is not part of other types.
  void choose_signature(mlir::func::FuncOp function) {
    std::set<size_t> ends = {function.getNumArguments()};
    bool is_only_called = true;
    module_.walk([&](graph::ClosureOp closure) {
      if (closure.getCallee() != function.getName()) return;
      ends.insert(closure.getCaptured().size());
      is_only_called =
          is_only_called && llvm::all_of(closure->getUsers(), llvm::IsaPred<graph::CallClosureOp>);
    });
    if (!is_only_called) return;
    Types inputs;
    size_t begin = 0;
    for (size_t end : ends) {
      inputs.append(grouped(function.getArgumentTypes().slice(begin, end - begin)));
      begin = end;
    }
    function.setType(builder_.getFunctionType(inputs, grouped(function.getResultTypes())));
  }

  void add_tuples(mlir::Operation* op) {
    if (auto function = mlir::dyn_cast<mlir::func::FuncOp>(op)) {
      replace_arguments(function.getBody().front(), function.getArgumentTypes());
      pack_operands(function.getBody().front().getTerminator(), 0, function.getResultTypes());
    } else if (auto call = mlir::dyn_cast<graph::CallOp>(op)) {
      const mlir::FunctionType type = signature(call.getCallee());
      pack_operands(call, 0, type.getInputs());
      replace(call, grouped_as_all(type.getResults(), call->getResultTypes()));
    } else if (auto closure = mlir::dyn_cast<graph::ClosureOp>(op)) {
      add_tuples(closure);
    } else if (auto call = mlir::dyn_cast<graph::CallClosureOp>(op)) {
      const mlir::FunctionType type = call.getClosure().getType().getSignature();
      pack_operands(call, 1, type.getInputs());
      replace(call, grouped_as_all(type.getResults(), call->getResultTypes()));
    } else if (auto branch = mlir::dyn_cast<graph::IfOp>(op)) {
      const Types types = grouped(llvm::to_vector(branch->getResultTypes()));
      for (mlir::Region& region : branch->getRegions())
        pack_operands(region.front().getTerminator(), 0, types);
      replace(branch, types);
    } else if (auto loop = mlir::dyn_cast<graph::LoopOp>(op)) {
      add_tuples(loop);
    }
  }

  void add_tuples(graph::ClosureOp closure) {
    const mlir::FunctionType type = signature(closure.getCallee());
    size_t bound = 0;
    for (size_t left = closure.getCaptured().size(); left > 0 || is_empty(type, bound); ++bound)
      left -= graph::leaves_of(type.getInput(static_cast<unsigned>(bound))).size();
    const mlir::FunctionType old = closure.getResult().getType().getSignature();
    const auto own = builder_.getFunctionType(
        grouped_as_all(type.getInputs().drop_front(bound), old.getInputs()),
        grouped_as_all(type.getResults(), old.getResults()));
    pack_operands(closure, 0, type.getInputs().take_front(bound));
    closure.getResult().setType(graph::ClosureType::get(builder_.getContext(), own));
  }

  // Whether parameter `i` exists and is a tuple without values.
  static bool is_empty(mlir::FunctionType type, size_t i) {
    return i < type.getNumInputs() &&
           graph::leaves_of(type.getInput(static_cast<unsigned>(i))).empty();
  }

  void add_tuples(graph::LoopOp loop) {
    mlir::Block& body = loop.getBody().front();
    const unsigned first = loop.getHasCondition() ? 1 : 0;
    const auto carried = static_cast<unsigned>(loop.getInitial().size());
    Types types = llvm::to_vector(loop->getResultTypes());
    const Types kept = grouped(llvm::ArrayRef(types).take_front(carried));
    Types groups = kept;
    groups.append(grouped(llvm::ArrayRef(types).drop_front(carried)));
    pack_operands(body.getTerminator(), first, groups);
    replace_arguments(body, grouped_as_all(kept, body.getArgumentTypes()));
    pack_operands(loop, 0, kept);
    replace(loop, groups);
  }

  mlir::FunctionType signature(llvm::StringRef name) {
    return module_.lookupSymbol<mlir::func::FuncOp>(name).getFunctionType();
  }

  // Packs the operands from `first` on.
  void pack_operands(mlir::Operation* op, unsigned first, mlir::TypeRange groups) {
    builder_.setInsertionPoint(op);
    Values operands = llvm::to_vector(op->getOperands().take_front(first));
    operands.append(pack_all(groups, op->getOperands().drop_front(first)));
    op->setOperands(operands);
  }

  void replace_arguments(mlir::Block& block, mlir::TypeRange types) {
    const unsigned count = block.getNumArguments();
    for (mlir::Type type : types) block.addArgument(type, builder_.getUnknownLoc());
    builder_.setInsertionPointToStart(&block);
    Values flat;
    unpack(block.getArguments().drop_front(count), flat);
    for (unsigned i = 0; i < count; ++i) block.getArgument(i).replaceAllUsesWith(flat[i]);
    block.eraseArguments(0, count);
  }

  void replace(mlir::Operation* op, mlir::TypeRange types) {
    builder_.setInsertionPoint(op);
    mlir::OperationState state(op->getLoc(), op->getName(), op->getOperands(), types,
                               op->getAttrs());
    for (mlir::Region& region : op->getRegions()) state.addRegion()->takeBody(region);
    mlir::Operation* made = builder_.create(state);
    builder_.setInsertionPointAfter(made);
    Values flat;
    unpack(made->getResults(), flat);
    op->replaceAllUsesWith(flat);
    op->erase();
  }

  mlir::ModuleOp module_;
  std::mt19937_64 random_;
  mlir::OpBuilder builder_;
};

}  // namespace

void add_tuples(mlir::ModuleOp module, uint64_t seed) { Tupler(module, seed).run(); }

}  // namespace scopevm::compiler::property
