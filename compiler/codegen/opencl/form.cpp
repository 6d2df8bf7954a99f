// Types and constants in OpenCL C.
#include "compiler/codegen/opencl/form.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

namespace scopevm::compiler::codegen::opencl {
namespace {

std::string scalar_name(mlir::Type element, bool is_signed) {
  if (element.isF32()) return "float";
  if (element.isF64()) return "double";
  if (element.isInteger(1)) return "bool";
  const char* name = "long";
  // i2 and i4 are masks of two and four lanes before their extension to a wider integer.
  if (element.isInteger(8) || element.isInteger(4) || element.isInteger(2)) name = "char";
  if (element.isInteger(16)) name = "short";
  if (element.isInteger(32)) name = "int";
  return is_signed ? name : std::string("u") + name;
}

std::string with_lanes(const std::string& scalar, int64_t lanes, bool is_array) {
  if (lanes == 1) return scalar;
  return scalar + (is_array ? "_x" : "") + std::to_string(lanes);
}

bool has_form(mlir::Type element) {
  return element.isF32() || element.isF64() || element.isIndex() || element.isInteger(1) ||
         element.isInteger(2) || element.isInteger(4) || element.isInteger(8) ||
         element.isInteger(16) || element.isInteger(32) || element.isInteger(64);
}

std::string float_literal(const llvm::APFloat& value, bool is_f32) {
  if (!value.isFinite()) {
    std::string bits = llvm::utohexstr(value.bitcastToAPInt().getZExtValue(), /*LowerCase=*/true);
    // The bits preserve the sign and payload of a NaN.
    return is_f32 ? "as_float(0x" + bits + "u)" : "as_double(0x" + bits + "ul)";
  }
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (is_f32)
    // 9 and 17 significant digits identify every float and double.
    stream << llvm::format("%.9g", static_cast<double>(value.convertToFloat()));
  else
    stream << llvm::format("%.17g", value.convertToDouble());
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  if (is_f32) text += "f";
  return text.front() == '-' ? "(" + text + ")" : text;
}

std::string integer_literal(mlir::Type element, const llvm::APInt& value) {
  const std::string digits = std::to_string(value.getZExtValue());
  if (element.isInteger(1)) return value.isZero() ? "false" : "true";
  if (element.isInteger(8)) return "(uchar)" + digits;
  if (element.isInteger(16)) return "(ushort)" + digits;
  if (element.isInteger(32)) return digits + "u";
  return digits + "ul";
}

std::string literal(mlir::Type element, mlir::Attribute value) {
  if (auto number = mlir::dyn_cast<mlir::FloatAttr>(value))
    return float_literal(number.getValue(), element.isF32());
  if (auto number = mlir::dyn_cast<mlir::IntegerAttr>(value))
    return integer_literal(element, number.getValue());
  return "";
}

}  // namespace

Form form_of(mlir::Type type) {
  Form form{type, 1};
  if (auto vector = mlir::dyn_cast<mlir::VectorType>(type)) {
    if (vector.getRank() > 1 || vector.isScalable()) return {};
    form = {vector.getElementType(), vector.getNumElements()};
  }
  return has_form(form.element) ? form : Form{};
}

std::string type_name(Form form) {
  if (form.is_bool() && form.is_native()) return with_lanes("char", form.lanes, false);
  return with_lanes(scalar_name(form.element, false), form.lanes, form.is_array());
}

std::string signed_name(Form form) {
  if (form.is_bool()) return with_lanes("char", form.lanes, form.is_array());
  auto integer = mlir::IntegerType::get(form.element.getContext(), form.bits());
  return with_lanes(scalar_name(integer, true), form.lanes, form.is_array());
}

std::string unsigned_name(Form form) { return "u" + signed_name(form); }

std::string lane(Form form, const std::string& name, int64_t index) {
  if (form.is_scalar()) return name;
  if (form.is_array()) return name + ".s[" + std::to_string(index) + "]";
  std::string text = name + ".s" + llvm::utohexstr(static_cast<uint64_t>(index), true);
  return form.is_bool() ? "(" + text + " != 0)" : text;
}

std::string listed(Form form, llvm::ArrayRef<std::string> lanes) {
  if (form.is_scalar()) return lanes.front();
  std::string text;
  for (const std::string& each : lanes) {
    if (!text.empty()) text += ", ";
    text += form.is_bool() && form.is_native() ? "-(char)" + each : each;
  }
  return form.is_array() ? "{{" + text + "}}" : "(" + type_name(form) + ")(" + text + ")";
}

std::string constant(Form form, mlir::Attribute value) {
  auto elements = mlir::dyn_cast<mlir::DenseElementsAttr>(value);
  if (!elements) return literal(form.element, value);
  llvm::SmallVector<std::string> lanes;
  for (mlir::Attribute each : elements.getValues<mlir::Attribute>())
    lanes.push_back(literal(form.element, each));
  if (elements.isSplat() && form.is_native()) return listed(form, lanes.front());
  return listed(form, lanes);
}

}  // namespace scopevm::compiler::codegen::opencl
