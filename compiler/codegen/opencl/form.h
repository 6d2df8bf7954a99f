// The representation of MLIR types in OpenCL C. Integers are unsigned, so that arithmetic wraps;
// signed operations convert their operands. Vectors of 2, 4, 8 and 16 lanes have OpenCL's native
// vector types. A vector of one lane is a scalar, and other vectors are structs with an array. i1
// is bool as a scalar and in such an array. In a native vector it is char, with values 0 and -1.
#pragma once

#include <cstdint>
#include <string>

#include "llvm/ADT/ArrayRef.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

namespace scopevm::compiler::codegen::opencl {

struct Form {
  mlir::Type element;  // null if the type is unsupported
  int64_t lanes = 1;

  explicit operator bool() const { return element != nullptr; }
  bool is_scalar() const { return lanes == 1; }
  bool is_native() const { return lanes == 2 || lanes == 4 || lanes == 8 || lanes == 16; }
  bool is_array() const { return !is_scalar() && !is_native(); }
  bool is_float() const { return mlir::isa<mlir::FloatType>(element); }
  bool is_bool() const { return element.isInteger(1); }
  int bits() const { return element.isIndex() ? 64 : int(element.getIntOrFloatBitWidth()); }
  Form with(mlir::Type other) const { return {other, lanes}; }
};

// Supports i1, i2, i4, i8, i16, i32, i64, index, f32, f64, and vectors of these of rank 0 or 1.
// The form of any other type converts to false.
Form form_of(mlir::Type type);

// The type in OpenCL C: "uint4", "float", "bool".
std::string type_name(Form form);
// The signed integer type of the form's width and lanes: "int4", "long".
std::string signed_name(Form form);
// The unsigned integer type of the form's width and lanes.
std::string unsigned_name(Form form);

// One lane: "x.s3", "x.s[3]", or "x" for a scalar. A lane of a bool vector is converted to bool.
std::string lane(Form form, const std::string& name, int64_t index);

// An initialiser of the form, for use after "=" in a declaration. `lanes` has an expression for
// each lane, or a single one for all lanes of a native vector.
std::string listed(Form form, llvm::ArrayRef<std::string> lanes);

// The constant `value` as an OpenCL C literal. Empty for other attributes than numbers and dense
// elements.
std::string constant(Form form, mlir::Attribute value);

}  // namespace scopevm::compiler::codegen::opencl
