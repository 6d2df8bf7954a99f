// Implements shrink.h. Each step creates a smaller candidate from a clone and keeps it if it fails
// in the same way.
#include "tests/property/shrink.h"

#include <cstdio>

#include "compiler/graph/graph_ops.h"
#include "compiler/graph/rewrite/passes.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Verifier.h"

namespace scopevm::compiler::property {
namespace {

std::vector<mlir::Operation*> ops_of(const GraphCase& graph) {
  std::vector<mlir::Operation*> ops;
  for (mlir::Operation& op : graph.main().getBody().front().without_terminator())
    ops.push_back(&op);
  return ops;
}

// All ops of the graph, including those in regions.
std::vector<mlir::Operation*> all_ops_of(const GraphCase& graph) {
  std::vector<mlir::Operation*> ops;
  graph.main().getBody().walk([&](mlir::Operation* op) { ops.push_back(op); });
  return ops;
}

void set_type(mlir::func::FuncOp main) {
  mlir::Block& block = main.getBody().front();
  main.setFunctionType(mlir::FunctionType::get(main.getContext(), block.getArgumentTypes(),
                                               block.getTerminator()->getOperandTypes()));
}

// Removes unused ops and inputs. An unused input remains if one of its dims is a symbol that is a
// dim of no other input.
void remove_dead(GraphCase& graph) {
  mlir::func::FuncOp main = graph.main();
  mlir::Block& block = main.getBody().front();
  graph::remove_unused(main);
  auto is_bound_elsewhere = [&](DimExpr dim, unsigned except) {
    for (mlir::BlockArgument other : block.getArguments())
      if (other.getArgNumber() != except &&
          llvm::is_contained(mlir::cast<graph::TensorType>(other.getType()).getShape(), dim))
        return true;
    return false;
  };
  for (unsigned i = block.getNumArguments(); i-- > 0;) {
    mlir::BlockArgument argument = block.getArgument(i);
    bool is_needed = !argument.use_empty();
    for (DimExpr dim : mlir::cast<graph::TensorType>(argument.getType()).getShape())
      is_needed = is_needed || (!dim.is_constant() && !is_bound_elsewhere(dim, i));
    if (is_needed) continue;
    block.eraseArgument(i);
    for (Request& request : graph.requests) request.inputs.erase(request.inputs.begin() + i);
  }
  set_type(main);
}

class Shrinker {
 public:
  Shrinker(const GraphCase& graph, const Verdict& verdict, const Check& check, int most_checks)
      : best_{graph.clone(), verdict}, check_(check), most_checks_(most_checks) {}

  Shrunk run() {
    using Step = bool (Shrinker::*)();
    bool is_smaller = true;
    while (is_smaller && best_.checks < most_checks_) {
      is_smaller = false;
      for (Step step : {&Shrinker::one_output, &Shrinker::fewer_requests,
                        &Shrinker::numbers_for_symbols, &Shrinker::cut_ops, &Shrinker::bypass_ops,
                        &Shrinker::earlier_outputs, &Shrinker::drop_outputs})
        is_smaller = (this->*step)() || is_smaller;
    }
    return std::move(best_);
  }

 private:
  // Keeps the candidate if it fails with the same kind as the original graph.
  bool keeps_failing(GraphCase candidate) {
    if (best_.checks >= most_checks_) return false;
    remove_dead(candidate);
    if (failed(mlir::verify(*candidate.module))) return false;
    ++best_.checks;
    Verdict verdict = check_(candidate);
    if (verdict.kind() != best_.verdict.kind()) return false;
    best_.graph = std::move(candidate);
    best_.verdict = verdict;
    return true;
  }

  bool one_output() {
    auto count = best_.graph.main().getBody().front().getTerminator()->getNumOperands();
    for (unsigned i = 0; count > 1 && i < count; ++i) {
      GraphCase candidate = best_.graph.clone();
      mlir::Operation* terminator = candidate.main().getBody().front().getTerminator();
      terminator->setOperands(mlir::ValueRange{terminator->getOperand(i)});
      if (keeps_failing(std::move(candidate))) return true;
    }
    return false;
  }

  // Returns operands of the last ops instead of their results.
  bool earlier_outputs() {
    bool any = false;
    const auto replace_one = [&] {
      mlir::Operation* terminator = best_.graph.main().getBody().front().getTerminator();
      for (unsigned i = 0; i < terminator->getNumOperands(); ++i) {
        mlir::Operation* last = terminator->getOperand(i).getDefiningOp();
        for (unsigned k = 0; last && k < last->getNumOperands(); ++k) {
          GraphCase candidate = best_.graph.clone();
          mlir::Operation* end = candidate.main().getBody().front().getTerminator();
          end->setOperand(i, end->getOperand(i).getDefiningOp()->getOperand(k));
          if (keeps_failing(std::move(candidate))) return true;
        }
      }
      return false;
    };
    while (replace_one()) any = true;
    return any;
  }

  bool drop_outputs() {
    bool any = false;
    for (unsigned i = 0;; ++i) {
      GraphCase candidate = best_.graph.clone();
      mlir::Operation* terminator = candidate.main().getBody().front().getTerminator();
      if (terminator->getNumOperands() < 2 || i >= terminator->getNumOperands()) return any;
      terminator->eraseOperand(i);
      if (!keeps_failing(std::move(candidate))) continue;
      any = true;
      --i;
    }
  }

  bool fewer_requests() {
    for (size_t i = 0; best_.graph.requests.size() > 1 && i < best_.graph.requests.size(); ++i) {
      GraphCase candidate = best_.graph.clone();
      candidate.requests = {best_.graph.requests[i]};
      if (keeps_failing(std::move(candidate))) return true;
    }
    return false;
  }

  // The values of all ops for every request, in op order. Empty if the reference rejects an op.
  std::vector<std::vector<Arrays>> all_values() {
    std::vector<std::vector<Arrays>> values;
    for (const Request& request : best_.graph.requests) {
      Environment environment;
      environment.symbols = request.symbols;
      for (mlir::BlockArgument argument : best_.graph.main().getArguments())
        environment.values[argument] = request.inputs[argument.getArgNumber()];
      std::vector<Arrays>& results = values.emplace_back();
      for (mlir::Operation* op : ops_of(best_.graph)) {
        if (!execute(op, environment).ok()) return {};
        Arrays& arrays = results.emplace_back();
        for (mlir::Value result : op->getResults()) arrays.push_back(environment.values[result]);
      }
    }
    return values;
  }

  // Replaces the results of ops by inputs. Starts at the last op, because this makes the most ops
  // unused.
  bool cut_ops() {
    bool any = false;
    auto values = all_values();
    for (size_t i = ops_of(best_.graph).size(); i-- > 0 && !values.empty();) {
      GraphCase candidate = best_.graph.clone();
      mlir::Operation* op = ops_of(candidate)[i];
      if (mlir::isa<graph::ConstantOp>(op) && op->getResult(0).use_empty()) continue;
      for (mlir::OpResult result : op->getResults()) {
        if (result.use_empty()) continue;
        mlir::Block& block = candidate.main().getBody().front();
        result.replaceAllUsesWith(block.addArgument(result.getType(), op->getLoc()));
        for (size_t r = 0; r < candidate.requests.size(); ++r)
          candidate.requests[r].inputs.push_back(as_input(values[r][i][result.getResultNumber()]));
      }
      if (!keeps_failing(std::move(candidate))) continue;
      any = true;
      values = all_values();
      i = std::min(i, ops_of(best_.graph).size());
    }
    return any;
  }

  // Converts an array to valid input elements: rounds them to the type and replaces unknown
  // elements by 0.
  static Array as_input(Array array) {
    for (Number& number : array.elements) {
      if (!number.is_known()) number.value = 0;
      if (is_float(array.dtype)) number.value = rounded(array.dtype, number.value);
      number.error = 0;
    }
    return array;
  }

  // Replaces the first result of an op by an operand of the same type.
  bool bypass_ops() {
    bool any = false;
    for (size_t i = all_ops_of(best_.graph).size(); i-- > 0;) {
      mlir::Operation* original = all_ops_of(best_.graph)[i];
      if (original->getNumResults() == 0) continue;
      for (unsigned k = 0; k < original->getNumOperands(); ++k) {
        if (original->getOperand(k).getType() != original->getResult(0).getType()) continue;
        GraphCase candidate = best_.graph.clone();
        mlir::Operation* op = all_ops_of(candidate)[i];
        op->getResult(0).replaceAllUsesWith(op->getOperand(k));
        if (!keeps_failing(std::move(candidate))) continue;
        any = true;
        i = std::min(i, all_ops_of(best_.graph).size());
        break;
      }
    }
    return any;
  }

  bool numbers_for_symbols() {
    if (best_.graph.requests.size() != 1) return false;
    bool any = false;
    for (const auto& [name, value] : Symbols(best_.graph.requests[0].symbols)) {
      GraphCase candidate = best_.graph.clone();
      substitute(candidate, name, value);
      candidate.requests[0].symbols.erase(name);
      any = keeps_failing(std::move(candidate)) || any;
    }
    return any;
  }

  static void substitute(GraphCase& graph, std::string_view name, int64_t number) {
    auto substituted = [&](llvm::ArrayRef<DimExpr> dims) {
      llvm::SmallVector<DimExpr> changed;
      for (DimExpr dim : dims)
        changed.push_back(dim.substitute([&](std::string_view symbol) -> std::optional<DimExpr> {
          return symbol == name ? std::optional<DimExpr>(number) : std::nullopt;
        }));
      return changed;
    };
    mlir::AttrTypeReplacer replacer;
    replacer.addReplacement([&](graph::TensorType type) -> mlir::Type {
      return type.withShape(substituted(type.getShape()));
    });
    replacer.addReplacement([&](graph::DimsAttr dims) -> mlir::Attribute {
      return graph::DimsAttr::get(dims.getContext(), substituted(dims.getValue()));
    });
    replacer.recursivelyReplaceElementsIn(*graph.module, /*replaceAttrs=*/true,
                                          /*replaceLocs=*/false, /*replaceTypes=*/true);
  }

  Shrunk best_;
  const Check& check_;
  int most_checks_;
};

std::string str(const Array& array) {
  constexpr size_t kMostPrinted = 64;
  std::string text(scopevm::name(array.dtype));
  text += "[";
  for (size_t i = 0; i < array.dims.size(); ++i)
    text += (i ? ", " : "") + std::to_string(array.dims[i]);
  text += "] =";
  for (size_t i = 0; i < array.elements.size() && i < kMostPrinted; ++i) {
    char number[48];
    std::snprintf(number, sizeof number, " %.9Lg", array.elements[i].value);
    text += number;
  }
  return text + (array.elements.size() > kMostPrinted ? " ..." : "");
}

}  // namespace

Shrunk shrink(const GraphCase& graph, const Verdict& verdict, const Check& check, int most_checks) {
  return Shrinker(graph, verdict, check, most_checks).run();
}

std::string report(uint64_t seed, const GraphCase& graph, const Verdict& verdict) {
  std::string text = "// seed " + std::to_string(seed);
  if (verdict.finding != Finding::kAgrees)
    text += std::string(": ") + name(verdict.finding) + ": " + verdict.detail;
  text += "\n";
  for (const Request& request : graph.requests) {
    text += "// dims:";
    for (const auto& [name, value] : request.symbols)
      text += " " + name + "=" + std::to_string(value);
    text += "\n";
    for (size_t i = 0; i < request.inputs.size(); ++i)
      text += "//   input" + std::to_string(i) + ": " + str(request.inputs[i]) + "\n";
  }
  return text + graph.text();
}

}  // namespace scopevm::compiler::property
