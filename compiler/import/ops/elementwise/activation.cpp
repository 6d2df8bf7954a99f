// Activation functions -> formulas; see activation.h.
#include "compiler/import/ops/elementwise/activation.h"

#include <numbers>

#include "runtime/count_text.h"
#include "runtime/quoted.h"

namespace scopevm::compiler::frontend {
namespace {

using namespace graph;  // NOLINT: formulas read better without the prefix

Value scaled(Node& n, Value x, float factor) {
  return factor == 1 ? x : n.emit<MulOp>({x, n.scalar(factor, x)});
}

Value affine(Node& n, Value x, const Activation& a) {
  return n.emit<AddOp>({scaled(n, x, a.alpha), n.scalar(a.beta, x)});
}
Value elu(Node& n, Value x, const Activation& a) {
  Value zero = n.scalar(0, x);
  // The minimum prevents an overflow in the operand that the select does not use.
  Value low = n.emit<SubOp>({n.emit<ExpOp>({n.emit<MinOp>({x, zero})}), n.scalar(1, x)});
  return n.emit<SelectOp>({n.emit<LessOp>({x, zero}), scaled(n, low, a.alpha), x});
}
Value hard_sigmoid(Node& n, Value x, const Activation& a) {
  Value low = n.emit<MaxOp>({affine(n, x, a), n.scalar(0, x)});
  return n.emit<MinOp>({low, n.scalar(1, x)});
}
Value leaky_relu(Node& n, Value x, const Activation& a) {
  return n.emit<SelectOp>({n.emit<LessOp>({x, n.scalar(0, x)}), scaled(n, x, a.alpha), x});
}
Value relu(Node& n, Value x, const Activation&) { return n.emit<ReluOp>({x}); }
Value scaled_tanh(Node& n, Value x, const Activation& a) {
  return scaled(n, n.emit<TanhOp>({scaled(n, x, a.beta)}), a.alpha);
}
Value sigmoid(Node& n, Value x, const Activation&) { return n.emit<SigmoidOp>({x}); }
Value softplus(Node& n, Value x, const Activation&) { return n.emit<SoftplusOp>({x}); }
Value softsign(Node& n, Value x, const Activation&) {
  Value below = n.emit<AddOp>({n.emit<AbsOp>({x}), n.scalar(1, x)});
  return n.emit<DivOp>({x, below});
}
Value tanh(Node& n, Value x, const Activation&) { return n.emit<TanhOp>({x}); }
Value thresholded_relu(Node& n, Value x, const Activation& a) {
  // For recurrent ops, ONNX defines the function as x >= alpha ? x : 0. The op ThresholdedRelu uses
  // x > alpha.
  Value is_low = n.emit<LessOp>({x, n.scalar(a.alpha, x)});
  return n.emit<SelectOp>({is_low, n.scalar(0, x), x});
}

struct Function {
  const char* name;
  int parameters;  // 0: none; 1: alpha; 2: alpha and beta
  float alpha, beta;
  Value (*emit)(Node&, Value, const Activation&);
};
constexpr Function kFunctions[] = {
    {"affine", 2, 1, 0, affine},
    {"elu", 1, 1, 0, elu},
    {"hardsigmoid", 2, 0.2f, 0.5f, hard_sigmoid},
    {"leakyrelu", 1, 0.01f, 0, leaky_relu},
    {"relu", 0, 0, 0, relu},
    {"scaledtanh", 2, 1, 1, scaled_tanh},
    {"sigmoid", 0, 0, 0, sigmoid},
    {"softplus", 0, 0, 0, softplus},
    {"softsign", 0, 0, 0, softsign},
    {"tanh", 0, 0, 0, tanh},
    {"thresholdedrelu", 1, 1, 0, thresholded_relu},
};

const Function* find(llvm::StringRef name) {
  const Function* found =
      llvm::find_if(kFunctions, [&](const Function& function) { return function.name == name; });
  return found == std::end(kFunctions) ? nullptr : found;
}

// Removes and returns the first number of a list; `otherwise` if the list is empty.
float take(llvm::ArrayRef<float>& numbers, float otherwise) {
  if (numbers.empty()) return otherwise;
  float number = numbers.front();
  numbers = numbers.drop_front();
  return number;
}

}  // namespace

llvm::SmallVector<Activation> read_activations(Node& n, llvm::ArrayRef<const char*> otherwise,
                                               size_t directions) {
  llvm::SmallVector<std::string> names;
  if (const auto* given = n.attribute("activations", onnx::AttributeProto::STRINGS))
    names.assign(given->strings().begin(), given->strings().end());
  if (names.empty())
    for (size_t i = 0; i < directions; ++i) names.append(otherwise.begin(), otherwise.end());
  llvm::SmallVector<float> alphas = n.numbers("activation_alpha");
  llvm::SmallVector<float> betas = n.numbers("activation_beta");
  llvm::ArrayRef<float> alpha = alphas, beta = betas;
  llvm::SmallVector<Activation> activations;
  if (names.size() != otherwise.size() * directions)
    return n.fail(runtime::count_text(names.size(), "activation") + " given, expected " +
                  llvm::Twine(otherwise.size() * directions)),
           activations;
  for (const std::string& name : names) {
    Activation activation{llvm::StringRef(name).lower()};
    const Function* function = find(activation.name);
    if (!function) return n.fail("unknown activation \"" + name + "\""), activations;
    // The lists have entries only for functions that take the parameter.
    if (function->parameters > 0) activation.alpha = take(alpha, function->alpha);
    if (function->parameters > 1) activation.beta = take(beta, function->beta);
    activations.push_back(std::move(activation));
  }
  return activations;
}

Value emit_activation(Node& n, const Activation& activation, Value x) {
  if (n.has_failed()) return {};
  return find(activation.name)->emit(n, x, activation);
}

Activation activation_named(Node& n, llvm::StringRef name, llvm::ArrayRef<float> parameters) {
  Activation activation{name.lower()};
  const Function* function = find(activation.name);
  if (!function) return n.fail("unknown activation " + runtime::quoted(name.str())), activation;
  if (function->parameters > 0) activation.alpha = take(parameters, function->alpha);
  if (function->parameters > 1) activation.beta = take(parameters, function->beta);
  return activation;
}

// 16-bit floats are computed in f32: for negative x, 1 + erf(..) loses precision by cancellation.
Formula gelu(const Formula& given) {
  Formula x = given.as(given.dtype() == DType::kF64 ? DType::kF64 : DType::kF32);
  return x * 0.5 * (erf(x * (std::numbers::sqrt2 * 0.5)) + 1.0);
}

Formula gelu_by_tanh(const Formula& given) {
  Formula x = given.as(given.dtype() == DType::kF64 ? DType::kF64 : DType::kF32);
  constexpr double kSlope = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;  // sqrt(2 / pi)
  return x * 0.5 * (tanh((x + x * x * x * 0.044715) * kSlope) + 1.0);
}

}  // namespace scopevm::compiler::frontend
