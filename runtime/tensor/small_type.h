// The formats of the small types: integers of 2 and 4 bits, and floats of 4 and 8 bits. Programs
// compute with elements of a wider type, the carrier, which represents each element exactly.
// Sources: ONNX, docs/docsgen/source/technical (int4.md, int2.md, float4.md, float8.md); Open
// Compute Project, Microscaling Formats (MX) Specification 1.0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "scopevm/dtype.h"

namespace scopevm::runtime {

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

  DType dtype;
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
  // The bits of a number; no value if no element has this value. A NaN has the bits of any NaN of
  // the type, and -0 those of 0 in a type that has no -0.
  std::optional<unsigned> pattern_of(double value) const;
};

// Null if the type is not small.
const SmallType* small_type(DType dtype);

// The bits of element `index` of packed elements, whose first one is in the lowest bits of the
// first byte.
unsigned pattern_at(const SmallType& type, const void* packed, int64_t index);
// Sets the bits of element `index`, which were 0.
void set_pattern(const SmallType& type, void* packed, int64_t index, unsigned pattern);

// All elements, in the order of their bits, as bytes of the carrier.
std::vector<char> all_elements(const SmallType& type);
// `count` packed elements as bytes of the carrier.
std::vector<char> widened(const SmallType& type, const void* packed, int64_t count);

// The inverse. No value if an element of the carrier is not one of the type.
std::optional<std::vector<uint8_t>> narrowed(const SmallType& type, const void* elements,
                                             int64_t count);

// The element of a carrier.
double carrier_value(const SmallType& type, const void* element);

}  // namespace scopevm::runtime
