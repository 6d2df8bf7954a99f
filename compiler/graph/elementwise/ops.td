// Elementwise ops: operands broadcast as in NumPy. `formula` defines the result element, as an
// expression over Scalars (compiler/graph/arithmetic/scalar.h) named after the operands. Kernels,
// constant folding and symbolic evaluation are all derived from it.
#ifndef SCOPEVM_GRAPH_ELEMENTWISE_OPS
#define SCOPEVM_GRAPH_ELEMENTWISE_OPS

include "compiler/graph/op_classes.td"

class Graph_Elementwise<string mnemonic, string summary, string operands, string formula, int cost,
                        list<Trait> traits = []>
    : Graph_Op<mnemonic, summary,
               !listconcat(traits, [DeclareOpInterfaceMethods<Graph_ElementwiseOp>,
                                    DeclareOpInterfaceMethods<Graph_SymbolicOp>])> {
  let rule = "infer_elementwise(rule, op.getOperands())";
  let checks = "checks.require_broadcast(getOperation()->getOperands())";
  let parallel_axes = "broadcast_axes(*this)";
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
class Graph_Binary<string mnemonic, string summary, string formula, int cost = kMiddle,
                   list<Trait> traits = []>
    : Graph_Elementwise<mnemonic, summary, "Scalar a = x_[0], b = x_[1];", formula, cost, traits> {
  let arguments = (ins Graph_Tensor:$a, Graph_Tensor:$b);
}
// Floats only.
class Graph_UnaryFloat<string mnemonic, string summary, string formula, int cost = kMiddle>
    : Graph_Unary<mnemonic, summary, formula, cost> {
  let elements = [kFloat];
}
class Graph_Test<string mnemonic, string summary, string formula>  // unary, bool result
    : Graph_Unary<mnemonic, summary, formula> {
  let rule = "infer_comparison(rule, op.getOperands())";
}
class Graph_Logical<string mnemonic, string summary, string formula>
    : Graph_Binary<mnemonic, summary, formula, kMiddle, [Commutative]> {
  let elements = [kBool];
}
class Graph_Bitwise<string mnemonic, string summary, string formula, list<Trait> traits = []>
    : Graph_Binary<mnemonic, summary, formula, kMiddle, traits> {
  let elements = [kInteger];
}
class Graph_Compare<string mnemonic, string summary, string formula,
                    list<Trait> traits = []>  // binary, bool result
    : Graph_Binary<mnemonic, summary, formula, kMiddle, traits> {
  let rule = "infer_comparison(rule, op.getOperands())";
}

def AbsOp : Graph_Unary<"abs", "|x|", "abs(x)", kCheap>;
def NegOp : Graph_Unary<"neg", "-x", "-x", kCheap>;
def ExpOp : Graph_UnaryFloat<"exp", "e to the power x", "exp(x)">;
def LogOp : Graph_UnaryFloat<"log", "natural logarithm", "log(x)">;
def SqrtOp : Graph_UnaryFloat<"sqrt", "square root", "sqrt(x)">;
def ReciprocalOp : Graph_Unary<"reciprocal", "1 / x", "1.0 / x">;
def SinOp : Graph_UnaryFloat<"sin", "sine", "sin(x)", kExpensive>;
def CosOp : Graph_UnaryFloat<"cos", "cosine", "cos(x)", kExpensive>;
def TanOp : Graph_UnaryFloat<"tan", "tangent", "tan(x)", kExpensive>;
def AsinOp : Graph_UnaryFloat<"asin", "arc sine", "asin(x)", kExpensive>;
def AcosOp : Graph_UnaryFloat<"acos", "arc cosine", "acos(x)", kExpensive>;
def AtanOp : Graph_UnaryFloat<"atan", "arc tangent", "atan(x)", kExpensive>;
def SinhOp : Graph_UnaryFloat<"sinh", "hyperbolic sine", "sinh(x)", kExpensive>;
def CoshOp : Graph_UnaryFloat<"cosh", "hyperbolic cosine", "cosh(x)", kExpensive>;
def TanhOp : Graph_UnaryFloat<"tanh", "hyperbolic tangent", "tanh(x)">;
def AsinhOp : Graph_UnaryFloat<"asinh", "inverse hyperbolic sine", "asinh(x)", kExpensive>;
def AcoshOp : Graph_UnaryFloat<"acosh", "inverse hyperbolic cosine", "acosh(x)", kExpensive>;
def AtanhOp : Graph_UnaryFloat<"atanh", "inverse hyperbolic tangent", "atanh(x)", kExpensive>;
def ErfOp : Graph_UnaryFloat<"erf", "error function", "erf(x)">;
def CeilOp : Graph_Unary<"ceil", "smallest integer that is at least x", "ceil(x)", kCheap>;
def FloorOp : Graph_Unary<"floor", "largest integer that is at most x", "floor(x)", kCheap>;
def RoundOp : Graph_Unary<"round", "nearest integer, halves to even", "round(x)", kCheap>;
def SignOp : Graph_Unary<"sign", "-1, 0 or 1: the sign of x", "sign(x)">;
def SigmoidOp : Graph_UnaryFloat<"sigmoid", "1 / (1 + e^-x)", "sigmoid(x)">;
def ReluOp : Graph_Unary<"relu", "max(x, 0); NaN stays NaN", "max(x, 0.0)", kCheap>;
def Log1pOp : Graph_UnaryFloat<"log1p", "log(1 + x), precise near 0", "log1p(x)">;
def SoftplusOp : Graph_UnaryFloat<"softplus", "log(1 + e^x)", "softplus(x)">;
def LogicalNotOp : Graph_Unary<"not", "logical negation", "~x"> { let elements = [kBool]; }
def BitNotOp : Graph_Unary<"bit_not", "bitwise complement", "~x"> { let elements = [kInteger]; }
def IsNanOp : Graph_Test<"is_nan", "x is NaN", "is_nan(x)">;
def IsInfOp : Graph_Test<"is_inf", "x is infinite, with a sign that `negative` or `positive` selects",
                         "is_infinite(x, getNegative(), getPositive())"> {
  let arguments = (ins Graph_Tensor:$x, DefaultValuedAttr<BoolAttr, "true">:$negative,
                       DefaultValuedAttr<BoolAttr, "true">:$positive);
}

def AddOp : Graph_Binary<"add", "a + b", "a + b", kCheap, [Commutative]> {
  let hasCanonicalizer = 1;
}
def SubOp : Graph_Binary<"sub", "a - b", "a - b", kCheap> { let hasCanonicalizer = 1; }
def MulOp : Graph_Binary<"mul", "a * b", "a * b", kCheap, [Commutative]> {
  let hasCanonicalizer = 1;
}
def DivOp : Graph_Binary<"div", "a / b; integers round towards zero, and x / 0 is 0", "a / b"> {
  let hasCanonicalizer = 1;
}
def ModOp : Graph_Binary<"mod", "remainder with the divisor's sign", "modulo(a, b)">;
def FmodOp : Graph_Binary<"fmod", "remainder with the dividend's sign", "remainder(a, b)",
                          kExpensive>;
def PowOp : Graph_Binary<"pow", "a to the power b, in the element type of a", "power(a, b)", kExpensive> {
  let rule = "infer_power(rule, op.getOperands())";
  let hasCanonicalizer = 1;
}
def MinOp : Graph_Binary<"min", "minimum; NaN if an operand is NaN", "min(a, b)", kCheap,
                         [Commutative, Graph_SelectingOp]>;
def MaxOp : Graph_Binary<"max", "maximum; NaN if an operand is NaN", "max(a, b)", kCheap,
                         [Commutative, Graph_SelectingOp]>;
def AndOp : Graph_Logical<"and", "logical and", "a & b">;
def OrOp : Graph_Logical<"or", "logical or", "a | b">;
def XorOp : Graph_Logical<"xor", "logical exclusive or", "a ^ b">;
def BitAndOp : Graph_Bitwise<"bit_and", "bitwise and", "a & b", [Commutative]>;
def BitOrOp : Graph_Bitwise<"bit_or", "bitwise or", "a | b", [Commutative]>;
def BitXorOp : Graph_Bitwise<"bit_xor", "bitwise exclusive or", "a ^ b", [Commutative]>;
def ShiftLeftOp : Graph_Bitwise<"shift_left", "a shifted left by b bits", "a << b">;
def ShiftRightOp : Graph_Bitwise<"shift_right", "unsigned a shifted right by b bits", "a >> b">;
def EqualOp : Graph_Compare<"equal", "a == b", "a == b", [Commutative]> { let elements = [kAny]; }
def LessOp : Graph_Compare<"less", "a < b", "a < b">;
def LessEqualOp : Graph_Compare<"less_equal", "a <= b", "a <= b">;
def GreaterOp : Graph_Compare<"greater", "a > b", "b < a">;
def GreaterEqualOp : Graph_Compare<"greater_equal", "a >= b", "b <= a">;

defvar kF32Result = "rule.add_result(DType::kF32, tensor_type(op.getX()).getShape())";
def PhiloxOp : Graph_Elementwise<"philox",
                                 "64 random bits: Philox4x32-10 for a key, and a counter with the "
                                 "high half `stream`",
                                 "Scalar counter = x_[0], key = x_[1], stream = x_[2];",
                                 "philox(counter, key, stream)", kExpensive> {
  let arguments = (ins Graph_Tensor:$counter, Graph_Tensor:$key, Graph_Tensor:$stream);
  let elements = [kU64];
}
def NormalFromBitsOp : Graph_Unary<"normal_from_bits",
                                   "standard normal number, f32, of 64 random bits",
                                   "normal_from_bits(x)", kExpensive> {
  let elements = [kU64];
  let rule = kF32Result;
}
def GumbelFromBitsOp : Graph_Unary<"gumbel_from_bits",
                                   "number, f32, with the standard Gumbel distribution, of 64 "
                                   "random bits",
                                   "gumbel_from_bits(x)", kExpensive> {
  let elements = [kU64];
  let rule = kF32Result;
}

def SelectOp : Graph_Elementwise<"select", "condition ? a : b",
                                 "Scalar condition = x_[0], a = x_[1], b = x_[2];",
                                 "select(condition, a, b)", kCheap, [Graph_SelectingOp]> {
  let arguments = (ins Graph_Tensor:$condition, Graph_Tensor:$a, Graph_Tensor:$b);
  let rule = "infer_select(rule, op.getOperands())";
  let elements = [kBool, kAny];
}
def CastOp : Graph_Elementwise<"cast",
                               "x in element type `to`; floats to integers round towards zero",
                               "Scalar x = x_[0];", "cast(x, getResult().getType().getDtype())",
                               kCheap> {
  let arguments = (ins Graph_Tensor:$x, StrAttr:$to);
  let rule = "infer_cast(rule, op.getX(), op.getTo())";
  let hasCanonicalizer = 1;
}
def BitCastOp : Graph_Elementwise<"bit_cast",
                                  "the bits of x as an element of type `to`, which has the same size",
                                  "Scalar x = x_[0];",
                                  "bit_cast(x, getResult().getType().getDtype())", kCheap> {
  let arguments = (ins Graph_Tensor:$x, StrAttr:$to);
  let rule = "infer_bit_cast(rule, op.getX(), op.getTo())";
}

#endif
