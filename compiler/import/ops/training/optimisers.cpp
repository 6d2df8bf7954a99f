// Steps of optimisers, ai.onnx.preview.training: Adagrad, Adam and Momentum. The inputs are the
// learning rate, the number of earlier steps, and for each optimised tensor its value, its gradient
// and the optimiser's state. The results are the new values and states.
#include "compiler/import/node/checks.h"
#include "compiler/import/node/formula.h"
#include "compiler/import/ops/op_table.h"
#include "runtime/quoted.h"

namespace scopevm::compiler::frontend {
namespace {

using namespace graph;  // NOLINT: formulas read better without the prefix

// One optimised tensor. All values have its shape and element type.
struct Optimised {
  Formula x, gradient;
  llvm::SmallVector<Formula, 2> states;
};

class OptimiserStep {
 public:
  explicit OptimiserStep(Node& n, size_t states) : n_(n), states_(states) {}

  // `update` maps a tensor, the learning rate and the number of earlier steps, two scalars of its
  // element type, to the new value followed by the new states.
  template <typename Update>
  Values build(const Update& update) {
    const size_t arrays = 2 + states_,
                 given = n_.input_count() - std::min<size_t>(2, n_.input_count());
    if (given == 0 || given % arrays != 0)
      return n_.fail("the node has " + llvm::Twine(given) +
                     " inputs after T, expected a multiple of " + llvm::Twine(arrays));
    const size_t count = given / arrays;
    llvm::SmallVector<Value> results(count * (1 + states_));
    for (size_t i = 0; i < count; ++i) {
      const Optimised o = read(i, count);
      if (n_.has_failed()) return Value();
      const DType dtype = o.x.dtype();
      const llvm::SmallVector<Formula> updated =
          update(o, Formula(n_, scalar(0, "R")).as(dtype), Formula(n_, scalar(1, "T")).as(dtype));
      for (size_t k = 0; k < updated.size(); ++k) results[k * count + i] = updated[k];
    }
    return {mlir::ValueRange(results)};
  }

 private:
  Value scalar(size_t i, const char* what) {
    const Value x = n_.input(i);
    if (n_.has_failed()) return {};
    return n_.reshape(shaped(n_, x, what, n_.rank(x) == 0 ? Dims() : Dims{1}), {});
  }

  Optimised read(size_t i, size_t count) {
    const Value x = n_.input(2 + i);
    if (!is_float(n_.dtype(x)))
      n_.fail("input " + llvm::Twine(2 + i) + " is " + text_of(n_.type(x)) + ", expected floats");
    auto like_x = [&](size_t group) {
      const size_t index = 2 + group * count + i;
      const Value y = n_.input(index);
      if (!n_.has_failed() && n_.dtype(y) != n_.dtype(x))
        n_.fail("input " + llvm::Twine(index) + " is " + text_of(n_.type(y)) + ", expected " +
                llvm::Twine(name(n_.dtype(x))));
      return Formula(n_, shaped(n_, y, ("input " + llvm::Twine(index)).str(), Dims(n_.shape(x))));
    };
    Optimised o{Formula(n_, x), like_x(1), {}};
    for (size_t state = 0; state < states_; ++state) o.states.push_back(like_x(2 + state));
    // The gradient of norm_coefficient / 2 * x^2 is part of the gradient.
    if (const double norm = n_.number("norm_coefficient", 0); norm != 0)
      o.gradient = o.gradient + norm * o.x;
    return o;
  }

  Node& n_;
  size_t states_;
};

Values adagrad(Node& n) {
  const double decay = n.number("decay_factor", 0), epsilon = n.number("epsilon", 1e-6F);
  return OptimiserStep(n, 1).build([&](const Optimised& o, const Formula& rate, const Formula& t) {
    const Formula squares = o.states[0] + o.gradient * o.gradient;
    const Formula step = rate / (t * decay + 1.0) * o.gradient / (sqrt(squares) + epsilon);
    return llvm::SmallVector<Formula>{o.x - step, squares};
  });
}

Values adam(Node& n) {
  const double alpha = n.number("alpha", 0.9F), beta = n.number("beta", 0.999F),
               epsilon = n.number("epsilon", 1e-6F),
               norm_after = n.number("norm_coefficient_post", 0);
  return OptimiserStep(n, 2).build([&](const Optimised& o, const Formula& rate, const Formula& t) {
    const Formula mean = alpha * o.states[0] + (1 - alpha) * o.gradient;
    const Formula squares = beta * o.states[1] + (1 - beta) * (o.gradient * o.gradient);
    auto powers = [&](double base) { return t.scalar(base).binary<PowOp>(t); };
    const Formula corrected = rate * sqrt(1.0 - powers(beta)) / (1.0 - powers(alpha));
    const Formula step = select(t > 0.0, corrected, rate) * mean / (sqrt(squares) + epsilon);
    return llvm::SmallVector<Formula>{(1 - norm_after) * (o.x - step), mean, squares};
  });
}

Values momentum(Node& n) {
  const std::string mode = n.text("mode", "");
  if (mode != "standard" && mode != "nesterov")
    return n.fail("mode is " + runtime::quoted(mode) + ", expected standard or nesterov");
  for (const char* name : {"alpha", "beta", "norm_coefficient"})
    if (!n.has_attribute(name)) return n.fail("attribute \"" + llvm::Twine(name) + "\" is missing");
  const double alpha = n.number("alpha", 0), beta = n.number("beta", 0);
  return OptimiserStep(n, 1).build([&](const Optimised& o, const Formula& rate, const Formula& t) {
    const Formula weight = select(t > 0.0, t.scalar(beta), t.scalar(1));
    const Formula velocity = alpha * o.states[0] + weight * o.gradient;
    const Formula direction = mode == "nesterov" ? o.gradient + alpha * velocity : velocity;
    return llvm::SmallVector<Formula>{o.x - rate * direction, velocity};
  });
}

}  // namespace

const OpRows kOptimiserOps = {
    {"Adagrad", 1, adagrad},
    {"Adam", 1, adam},
    {"Momentum", 1, momentum},
};

}  // namespace scopevm::compiler::frontend
