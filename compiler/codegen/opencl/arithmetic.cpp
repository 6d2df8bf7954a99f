// Prints elementwise operations; see arithmetic.h. Integers are stored as unsigned. Signed
// operations convert their operands with as_int() or the function for their width. Unsigned
// operations on narrow scalars are computed as uint, because C would promote them to int, which can
// overflow. Vector comparisons result in -1 for true, in the width of their operands. Lanes of bool
// are of type char.
#include "compiler/codegen/opencl/arithmetic.h"

#include "llvm/ADT/StringMap.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace scopevm::compiler::codegen::opencl {
namespace {

namespace arith = mlir::arith;

std::string call(const std::string& function, const std::string& a) {
  return function + "(" + a + ")";
}
std::string call(const std::string& function, const std::string& a, const std::string& b) {
  return function + "(" + a + ", " + b + ")";
}
std::string infix(const std::string& a, const char* sign, const std::string& b) {
  return "(" + a + " " + sign + " " + b + ")";
}

std::string as_signed(Form form, const std::string& x) {
  return call("as_" + signed_name(form), x);
}
std::string as_unsigned(Form form, const std::string& x) {
  return call("as_" + unsigned_name(form), x);
}

// Converts back to the form's type, since C promotes narrow scalars to int.
std::string narrowed(Form form, const std::string& x) {
  return form.is_scalar() && form.bits() < 32 ? "(" + type_name(form) + ")" + x : x;
}

// The constant 1 for an operator with an operand of form `form`. The element type of a vector must
// not be narrower than a scalar operand.
std::string one(Form form) {
  return form.is_scalar() ? "1" : "(" + type_name({form.element, 1}) + ")1";
}

// Converts a C condition (a scalar, or lanes of 0 or -1 in any width) to the form of bools.
std::string truth(Form form, const std::string& x) {
  return form.is_scalar() ? x : call("convert_" + type_name(form), x);
}

std::string integer_infix(Form form, const std::string& a, const char* sign, const std::string& b) {
  // C promotes uchar and ushort to int; a product of two ushort values can overflow it.
  if (form.is_scalar() && form.bits() < 32 && !form.is_bool())
    return narrowed(form, infix("(uint)" + a, sign, b));
  return narrowed(form, infix(a, sign, b));
}

std::string signed_infix(Form form, const std::string& a, const char* sign, const std::string& b) {
  std::string result = infix(as_signed(form, a), sign, as_signed(form, b));
  if (form.is_scalar()) return "(" + type_name(form) + ")" + result;
  return as_unsigned(form, result);
}

// NaN if either operand is NaN, and -0 is less than +0. fmin and fmax guarantee neither.
std::string with_nan(const char* function, const char* zeros, Form form, const std::string& a,
                     const std::string& b) {
  const std::string chosen = call(function, a, b);
  const std::string same =
      // Used if a == b. The bits differ only for zeros of different sign: `&` gives +0, the
      // maximum, and `|` gives -0, the minimum.
      call("as_" + type_name(form), infix(as_unsigned(form, a), zeros, as_unsigned(form, b)));
  if (form.is_scalar())
    return "(" + a + " == " + b + " ? " + same + " : " + a + " != " + a + " || " + b + " != " + b +
           " ? " + a + " + " + b + " : " + chosen + ")";
  return "select(select(" + chosen + ", " + same + ", " + a + " == " + b + "), " + a + " + " + b +
         ", (" + a + " != " + a + ") | (" + b + " != " + b + "))";
}

struct BinaryText {
  enum Kind { kFloatInfix, kInfix, kSignedInfix, kCall, kSignedCall, kMaximum, kMinimum } kind;
  const char* text;
};

const llvm::StringMap<BinaryText>& binaries() {
  using B = BinaryText;
  static const llvm::StringMap<BinaryText> table = {
      {"arith.addf", {B::kFloatInfix, "+"}},     {"arith.subf", {B::kFloatInfix, "-"}},
      {"arith.mulf", {B::kFloatInfix, "*"}},     {"arith.divf", {B::kFloatInfix, "/"}},
      {"arith.addi", {B::kInfix, "+"}},          {"arith.subi", {B::kInfix, "-"}},
      {"arith.muli", {B::kInfix, "*"}},          {"arith.divui", {B::kInfix, "/"}},
      {"arith.remui", {B::kInfix, "%"}},         {"arith.andi", {B::kInfix, "&"}},
      {"arith.ori", {B::kInfix, "|"}},           {"arith.xori", {B::kInfix, "^"}},
      {"arith.shli", {B::kInfix, "<<"}},         {"arith.shrui", {B::kInfix, ">>"}},
      {"arith.shrsi", {B::kSignedInfix, ">>"}},  {"arith.divsi", {B::kSignedInfix, "/"}},
      {"arith.remsi", {B::kSignedInfix, "%"}},   {"arith.minsi", {B::kSignedCall, "min"}},
      {"arith.maxsi", {B::kSignedCall, "max"}},  {"arith.minui", {B::kCall, "min"}},
      {"arith.maxui", {B::kCall, "max"}},        {"arith.remf", {B::kCall, "fmod"}},
      {"arith.minnumf", {B::kCall, "fmin"}},     {"arith.maxnumf", {B::kCall, "fmax"}},
      {"arith.maximumf", {B::kMaximum, "fmax"}}, {"arith.minimumf", {B::kMinimum, "fmin"}},
      {"math.powf", {B::kCall, "pow"}},          {"math.atan2", {B::kCall, "atan2"}},
      {"math.copysign", {B::kCall, "copysign"}},
  };
  return table;
}

std::string binary(llvm::StringRef op, Form form, const std::string& a, const std::string& b) {
  auto found = binaries().find(op);
  if (found == binaries().end()) return "";
  const BinaryText& entry = found->second;
  // Lanes of bools are 0 or -1, for which only bitwise operations are correct.
  const bool takes_bools = op == "arith.andi" || op == "arith.ori" || op == "arith.xori";
  if (form.is_bool() && !takes_bools) return "";
  switch (entry.kind) {
    case BinaryText::kFloatInfix:
      return infix(a, entry.text, b);
    case BinaryText::kInfix:
      return integer_infix(form, a, entry.text, b);
    case BinaryText::kSignedInfix:
      return signed_infix(form, a, entry.text, b);
    case BinaryText::kCall:
      return call(entry.text, a, b);
    case BinaryText::kSignedCall:
      return as_unsigned(form, call(entry.text, as_signed(form, a), as_signed(form, b)));
    case BinaryText::kMaximum:
      return with_nan(entry.text, "&", form, a, b);
    case BinaryText::kMinimum:
      return with_nan(entry.text, "|", form, a, b);
  }
  return "";
}

// The function of OpenCL C for a unary op; empty if there is none.
llvm::StringRef function_of(llvm::StringRef op) {
  static const llvm::StringMap<llvm::StringRef> renamed = {{"arith.negf", "-"},
                                                           {"math.absf", "fabs"},
                                                           {"math.ctlz", "clz"},
                                                           {"math.ctpop", "popcount"},
                                                           {"math.roundeven", "rint"}};
  constexpr llvm::StringRef kSame[] = {"acos",  "acosh", "asin",  "asinh", "atan", "atanh", "cbrt",
                                       "ceil",  "cos",   "cosh",  "erf",   "exp",  "exp2",  "expm1",
                                       "floor", "log",   "log10", "log1p", "log2", "round", "rsqrt",
                                       "sin",   "sinh",  "sqrt",  "tan",   "tanh", "trunc"};
  if (auto found = renamed.find(op); found != renamed.end()) return found->second;
  return op.consume_front("math.") && llvm::is_contained(kSame, op) ? op : "";
}

enum class Conversion {
  kBits,   // same bits, different type
  kFloat,  // from float to float or to an unsigned integer
  kFloatToSigned,
  kTruncation,     // to a narrower integer
  kSignExtension,  // from a signed integer
  kSignedToFloat,
  kIndexCast,
  kUnsigned,  // from an unsigned integer
};

const llvm::StringMap<Conversion>& conversions() {
  using C = Conversion;
  static const llvm::StringMap<Conversion> table = {
      {"arith.bitcast", C::kBits},         {"arith.extf", C::kFloat},
      {"arith.truncf", C::kFloat},         {"arith.fptoui", C::kFloat},
      {"arith.fptosi", C::kFloatToSigned}, {"arith.trunci", C::kTruncation},
      {"arith.extsi", C::kSignExtension},  {"arith.sitofp", C::kSignedToFloat},
      {"arith.index_cast", C::kIndexCast}, {"arith.extui", C::kUnsigned},
      {"arith.uitofp", C::kUnsigned},      {"arith.index_castui", C::kUnsigned},
  };
  return table;
}

// Converts between forms that differ in their element type. True is -1 in a lane of bools and 1 in
// a scalar bool.
std::string converted(Conversion conversion, Form from, Form to, const std::string& x) {
  const std::string name = type_name(to);
  auto convert = [&](const std::string& value) {
    return to.is_scalar() ? "(" + name + ")" + value : call("convert_" + name, value);
  };
  auto from_signed = [&](const std::string& scalar_bool) {
    if (!from.is_bool()) return convert(as_signed(from, x));
    return convert(from.is_scalar() ? scalar_bool : x);
  };
  auto from_unsigned = [&] {
    return convert(from.is_bool() && !from.is_scalar() ? infix(x, "&", "(char)1") : x);
  };
  switch (conversion) {
    case Conversion::kBits:
      return call("as_" + name, x);
    case Conversion::kFloat:
      return convert(x);
    case Conversion::kFloatToSigned: {
      const std::string target = signed_name(to);
      return as_unsigned(to,
                         to.is_scalar() ? "(" + target + ")" + x : call("convert_" + target, x));
    }
    case Conversion::kTruncation:
      if (!to.is_bool()) return from_unsigned();
      // Truncation to i1 keeps the lowest bit; a C conversion to bool would test all bits.
      return truth(to, infix(narrowed(from, infix(x, "&", one(from))), "!=", "0"));
    case Conversion::kSignExtension:
      return from_signed("-(long)" + x);
    case Conversion::kSignedToFloat:
      return from_signed("-(int)" + x);
    case Conversion::kIndexCast:
      return from.is_bool() ? from_unsigned() : from_signed(x);
    case Conversion::kUnsigned:
      return from_unsigned();
  }
  return "";
}

std::string compared(arith::CmpIOp op, Form form, Form to, const std::string& a,
                     const std::string& b) {
  using P = arith::CmpIPredicate;
  const P predicate = op.getPredicate();
  // By predicate: eq, ne, then the signed and the unsigned ones.
  constexpr const char* kSigns[] = {"==", "!=", "<", "<=", ">", ">=", "<", "<=", ">", ">="};
  const auto text = [&](const std::string& x, const std::string& y) {
    return truth(to, infix(x, kSigns[static_cast<size_t>(predicate)], y));
  };
  if (predicate == P::eq || predicate == P::ne) return text(a, b);
  const bool is_signed = predicate >= P::slt && predicate <= P::sge;
  // As a signed i1, true is -1 and less than false. A scalar bool is 0 or 1, so its operands are
  // swapped. Lanes of bools are already 0 or -1.
  if (form.is_bool() && form.is_scalar() && is_signed) return text(b, a);
  if (form.is_bool() && !form.is_scalar() && !is_signed)
    return text(as_unsigned(form, a), as_unsigned(form, b));
  if (form.is_bool() || !is_signed) return text(a, b);
  return text(as_signed(form, a), as_signed(form, b));
}

std::string compared(arith::CmpFOp op, Form to, const std::string& a, const std::string& b) {
  using P = arith::CmpFPredicate;
  const P predicate = op.getPredicate();
  const std::string is_one = "((" + a + " < " + b + ") | (" + a + " > " + b + "))";
  switch (predicate) {
    case P::ONE:
      return truth(to, is_one);
    case P::ORD:
      return truth(to, "((" + a + " == " + a + ") & (" + b + " == " + b + "))");
    case P::UNO:
      return truth(to, "((" + a + " != " + a + ") | (" + b + " != " + b + "))");
    case P::UEQ:
      return truth(to, "!" + is_one);
    case P::AlwaysFalse:
    case P::AlwaysTrue:
      return "";
    default:
      break;
  }
  // By predicate, from OEQ to UNE. Except for UNE, an unordered comparison is the negation of the
  // opposite ordered one, which is false for NaN.
  constexpr const char* kSigns[] = {"==", ">",  ">=", "<",  "<=", "",  "",
                                    "",   "<=", "<",  ">=", ">",  "!="};
  const std::string text = infix(a, kSigns[static_cast<size_t>(predicate) - 1], b);
  return truth(to, predicate >= P::UGT && predicate <= P::ULE ? "!" + text : text);
}

std::string chosen(arith::SelectOp op, Form form, llvm::ArrayRef<std::string> x) {
  const bool by_lane = mlir::isa<mlir::VectorType>(op.getCondition().getType());
  if (!by_lane || form.is_scalar()) return "(" + x[0] + " ? " + x[1] + " : " + x[2] + ")";
  // OpenCL's select(a, b, c) chooses the lane of b if the most significant bit of c's lane is set.
  // It requires that c has the width of a and b.
  return "select(" + x[2] + ", " + x[1] + ", " + call("convert_" + signed_name(form), x[0]) + ")";
}

}  // namespace

bool is_called_by_lane(mlir::Operation* op) {
  const llvm::StringRef name = op->getName().getStringRef();
  constexpr llvm::StringRef kInstructions[] = {
      "math.absf",  "math.absi",  "math.ceil",      "math.copysign", "math.ctlz",
      "math.ctpop", "math.cttz",  "math.floor",     "math.fma",      "math.round",
      "math.sqrt",  "math.rsqrt", "math.roundeven", "math.trunc"};
  return name == "arith.remf" ||
         (name.starts_with("math.") && !llvm::is_contained(kInstructions, name));
}

std::string combined(mlir::vector::CombiningKind kind, Form form, const std::string& a,
                     const std::string& b) {
  using K = mlir::vector::CombiningKind;
  std::string op = "arith." + mlir::vector::stringifyCombiningKind(kind);
  if (kind == K::ADD || kind == K::MUL) op += form.is_float() ? "f" : "i";
  if (kind == K::AND || kind == K::OR || kind == K::XOR) op += "i";
  return binary(op, form, a, b);
}

std::string expression(mlir::Operation* op, llvm::ArrayRef<std::string> operands, int64_t lanes) {
  if (op->getNumResults() != 1 || op->getNumOperands() == 0) return "";
  Form to = form_of(op->getResult(0).getType());
  Form from = form_of(op->getOperand(0).getType());
  if (!to || !from) return "";
  to.lanes = lanes;
  from.lanes = lanes;
  if (auto compare = mlir::dyn_cast<arith::CmpIOp>(op))
    return compared(compare, from, to, operands[0], operands[1]);
  if (auto compare = mlir::dyn_cast<arith::CmpFOp>(op))
    return compared(compare, to, operands[0], operands[1]);
  if (auto choice = mlir::dyn_cast<arith::SelectOp>(op)) return chosen(choice, to, operands);
  const llvm::StringRef name = op->getName().getStringRef();
  if (operands.size() == 3)
    return name == "math.fma" || name == "vector.fma"
               ? "fma(" + operands[0] + ", " + operands[1] + ", " + operands[2] + ")"
               : "";
  if (operands.size() == 2) return binary(name, to, operands[0], operands[1]);
  if (const llvm::StringRef function = function_of(name); !function.empty())
    return call(function.str(), operands[0]);
  if (name == "math.cttz")
    // OpenCL C 1.2 has no count of trailing zeros. (x & -x) - 1 has ones exactly at the positions
    // of the trailing zeros of x, and only ones if x is 0.
    return call("popcount",
                narrowed(to, "((" + operands[0] + " & -" + operands[0] + ") - " + one(to) + ")"));
  if (name == "math.absi") return call("abs", as_signed(to, operands[0]));
  if (auto found = conversions().find(name); found != conversions().end())
    return converted(found->second, from, to, operands[0]);
  return "";
}

}  // namespace scopevm::compiler::codegen::opencl
