// Element types of 2, 4 and 8 bits without a DType: integers of 2 and 4 bits, and small floats.
// Their elements are imported as elements of a wider type, the carrier, which represents each of
// them exactly. Weights are converted at compile time.
#pragma once

#include <cstdint>
#include <vector>

#include "llvm/ADT/SmallVector.h"
#include "scopevm/dtype.h"

namespace scopevm::compiler::frontend {

struct SmallType {
  enum class Kind : uint8_t {
    kInteger,
    kFloat,     // sign, exponent and mantissa
    kExponent,  // an exponent alone: a power of two
  };
  enum class Specials : uint8_t {
    kNone,
    kNan,          // the bits that are all 1 except the sign; no infinity
    kInfinite,     // as in IEEE 754: infinities and NaN
    kUnsignedNan,  // one NaN in place of -0; no infinity
  };

  int code;  // TensorProto.DataType
  Kind kind;
  int bits;
  DType carrier;
  bool is_signed = true;
  // Of kFloat.
  int mantissa_bits = 0;
  int bias = 0;
  Specials specials = Specials::kNone;
  double largest = 0;

  // The range of an integer type.
  int64_t least() const { return is_signed ? -(int64_t{1} << (bits - 1)) : 0; }
  int64_t greatest() const { return least() + (int64_t{1} << bits) - 1; }
  // The exponent of the least normal number.
  int least_exponent() const { return 1 - bias; }
  // The number with these bits.
  double value_of(unsigned pattern) const;
};

// By value; null: none.
using SmallTypes = llvm::SmallVector<const SmallType*>;

// Null if the code is not that of a small type.
const SmallType* small_type(int onnx_code);

// The bytes of `count` packed elements.
size_t packed_size(const SmallType& type, size_t count);
// The elements as bytes of the carrier. The first one is in the lowest bits of the first byte.
// REQUIRES: `packed` has packed_size(type, count) bytes.
std::vector<char> unpacked(const SmallType& type, const char* packed, size_t count);

}  // namespace scopevm::compiler::frontend
