// Elementwise ops: operands broadcast as in NumPy. `formula` defines the result element, as an
// expression over Scalars (compiler/graph/arithmetic/scalar.h) named after the operands. Kernels,
// constant folding and symbolic evaluation are all derived from it.
#ifndef SCOPEVM_GRAPH_ELEMENTWISE_OPS
#define SCOPEVM_GRAPH_ELEMENTWISE_OPS

include "compiler/graph/op_classes.td"

class Graph_Elementwise<string mnemonic, string summary, string operands, string formula, int cost>
    : Graph_Op<mnemonic, summary,
               [DeclareOpInterfaceMethods<Graph_ElementwiseOp>,
                DeclareOpInterfaceMethods<Graph_SymbolicOp>]> {
  let rule = "infer_elementwise(rule, op.getOperands())";
  let checks = "checks.require_broadcast(getOperation()->getOperands())";
  let hasFolder = 1;
  let definitions = "Scalar $cppClass::evaluate(::llvm::ArrayRef<Scalar> x_) {\n" # operands #
    " return " # formula # "; }\n" # [{
    ::std::optional<::std::vector<DimExpr>> $cppClass::evaluateSymbolic(SymbolicValues &values) {
      return values.evaluate_elementwise(*this);
    }
    ::mlir::OpFoldResult $cppClass::fold(FoldAdaptor adaptor) {
      return fold_elementwise(*this, adaptor.getOperands());
    }
    int64_t $cppClass::getOperationsPerElement() { return }] # !cast<string>(cost) # "; }\n";
}

// Costs of one element, in units of one addition.
defvar kCheap = 1;       // a few instructions
defvar kMiddle = 6;      // a polynomial approximation
defvar kExpensive = 40;  // a call of libm

class Graph_Unary<string mnemonic, string summary, string formula, int cost = kMiddle>
    : Graph_Elementwise<mnemonic, summary, "Scalar x = x_[0];", formula, cost> {
  let arguments = (ins Graph_Tensor:$x);
}
class Graph_Binary<string mnemonic, string summary, string formula, int cost = kMiddle>
    : Graph_Elementwise<mnemonic, summary, "Scalar a = x_[0], b = x_[1];", formula, cost> {
  let arguments = (ins Graph_Tensor:$a, Graph_Tensor:$b);
}
class Graph_Test<string mnemonic, string summary, string formula>  // unary, bool result
    : Graph_Unary<mnemonic, summary, formula> {
  let rule = "infer_comparison(rule, op.getOperands())";
}
class Graph_Compare<string mnemonic, string summary, string formula>  // binary, bool result
    : Graph_Binary<mnemonic, summary, formula> {
  let rule = "infer_comparison(rule, op.getOperands())";
}

def AbsOp : Graph_Unary<"abs", "|x|", "abs(x)", kCheap>;
def NegOp : Graph_Unary<"neg", "-x", "-x", kCheap>;
def ExpOp : Graph_Unary<"exp", "e to the x", "exp(x)">;
def LogOp : Graph_Unary<"log", "natural logarithm", "log(x)">;
def SqrtOp : Graph_Unary<"sqrt", "square root", "sqrt(x)">;
def ReciprocalOp : Graph_Unary<"reciprocal", "1 / x", "1.0 / x">;
def SinOp : Graph_Unary<"sin", "sine", "sin(x)", kExpensive>;
def CosOp : Graph_Unary<"cos", "cosine", "cos(x)", kExpensive>;
def TanOp : Graph_Unary<"tan", "tangent", "tan(x)", kExpensive>;
def AsinOp : Graph_Unary<"asin", "arc sine", "asin(x)", kExpensive>;
def AcosOp : Graph_Unary<"acos", "arc cosine", "acos(x)", kExpensive>;
def AtanOp : Graph_Unary<"atan", "arc tangent", "atan(x)", kExpensive>;
def SinhOp : Graph_Unary<"sinh", "hyperbolic sine", "sinh(x)", kExpensive>;
def CoshOp : Graph_Unary<"cosh", "hyperbolic cosine", "cosh(x)", kExpensive>;
def TanhOp : Graph_Unary<"tanh", "hyperbolic tangent", "tanh(x)">;
def AsinhOp : Graph_Unary<"asinh", "inverse hyperbolic sine", "asinh(x)", kExpensive>;
def AcoshOp : Graph_Unary<"acosh", "inverse hyperbolic cosine", "acosh(x)", kExpensive>;
def AtanhOp : Graph_Unary<"atanh", "inverse hyperbolic tangent", "atanh(x)", kExpensive>;
def ErfOp : Graph_Unary<"erf", "error function", "erf(x)">;
def CeilOp : Graph_Unary<"ceil", "smallest integer not below x", "ceil(x)">;
def FloorOp : Graph_Unary<"floor", "largest integer not above x", "floor(x)">;
def RoundOp : Graph_Unary<"round", "nearest integer, halves to even", "round(x)">;
def SignOp : Graph_Unary<"sign", "-1, 0 or 1", "sign(x)">;
def SigmoidOp : Graph_Unary<"sigmoid", "1 / (1 + e^-x)", "sigmoid(x)">;
def ReluOp : Graph_Unary<"relu", "max(x, 0); NaN stays NaN", "max(x, 0.0)", kCheap>;
def Log1pOp : Graph_Unary<"log1p", "log(1 + x), precise near 0", "log1p(x)">;
def SoftplusOp : Graph_Unary<"softplus", "log(1 + e^x)", "softplus(x)">;
def LogicalNotOp : Graph_Unary<"not", "logical negation of bool", "~x">;
def BitNotOp : Graph_Unary<"bit_not", "bitwise complement", "~x">;
def IsNanOp : Graph_Test<"is_nan", "x is NaN", "is_nan(x)">;
def IsInfOp : Graph_Test<"is_inf", "x is infinite, of the chosen signs",
                         "is_infinite(x, getNegative(), getPositive())"> {
  let arguments = (ins Graph_Tensor:$x, DefaultValuedAttr<BoolAttr, "true">:$negative,
                       DefaultValuedAttr<BoolAttr, "true">:$positive);
}

def AddOp : Graph_Binary<"add", "a + b", "a + b", kCheap> { let hasCanonicalizer = 1; }
def SubOp : Graph_Binary<"sub", "a - b", "a - b", kCheap> { let hasCanonicalizer = 1; }
def MulOp : Graph_Binary<"mul", "a * b", "a * b", kCheap> { let hasCanonicalizer = 1; }
def DivOp : Graph_Binary<"div", "a / b; integers round towards zero, and x / 0 is 0", "a / b"> {
  let hasCanonicalizer = 1;
}
def ModOp : Graph_Binary<"mod", "remainder with the divisor's sign", "modulo(a, b)">;
def FmodOp : Graph_Binary<"fmod", "remainder with the dividend's sign", "remainder(a, b)",
                          kExpensive>;
def PowOp : Graph_Binary<"pow", "a to the b, in a's type", "power(a, b)", kExpensive> {
  let rule = "infer_power(rule, op.getOperands())";
  let hasCanonicalizer = 1;
}
def MinOp : Graph_Binary<"min", "minimum; NaN if an operand is NaN", "min(a, b)", kCheap>;
def MaxOp : Graph_Binary<"max", "maximum; NaN if an operand is NaN", "max(a, b)", kCheap>;
def AndOp : Graph_Binary<"and", "logical and of bools", "a & b">;
def OrOp : Graph_Binary<"or", "logical or of bools", "a | b">;
def XorOp : Graph_Binary<"xor", "logical exclusive or of bools", "a ^ b">;
def BitAndOp : Graph_Binary<"bit_and", "bitwise and", "a & b">;
def BitOrOp : Graph_Binary<"bit_or", "bitwise or", "a | b">;
def BitXorOp : Graph_Binary<"bit_xor", "bitwise exclusive or", "a ^ b">;
def ShiftLeftOp : Graph_Binary<"shift_left", "a shifted left by b bits", "a << b">;
def ShiftRightOp : Graph_Binary<"shift_right", "unsigned a shifted right by b bits", "a >> b">;
def EqualOp : Graph_Compare<"equal", "a == b", "a == b"> { let strings = kAllStrings; }
def LessOp : Graph_Compare<"less", "a < b", "a < b">;
def LessEqualOp : Graph_Compare<"less_equal", "a <= b", "a <= b">;
def GreaterOp : Graph_Compare<"greater", "a > b", "b < a">;
def GreaterEqualOp : Graph_Compare<"greater_equal", "a >= b", "b <= a">;

def SelectOp : Graph_Elementwise<"select", "condition ? a : b",
                                 "Scalar condition = x_[0], a = x_[1], b = x_[2];",
                                 "select(condition, a, b)", kCheap> {
  let arguments = (ins Graph_Tensor:$condition, Graph_Tensor:$a, Graph_Tensor:$b);
  let rule = "infer_select(rule, op.getOperands())";
  let strings = !or(kSecondString, kThirdString);
}
def CastOp : Graph_Elementwise<"cast",
                               "x in element type `to`; floats to integers round towards zero",
                               "Scalar x = x_[0];", "cast(x, getResult().getType().getDtype())",
                               kCheap> {
  let arguments = (ins Graph_Tensor:$x, StrAttr:$to);
  let rule = "infer_cast(rule, op.getX(), op.getTo())";
  let hasCanonicalizer = 1;
}

#endif
