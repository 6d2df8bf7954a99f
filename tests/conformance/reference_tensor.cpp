// Converts TensorProto to Tensor, and compares tensors element by element.
#include "tests/conformance/reference_tensor.h"

#include <onnx/onnx-data_pb.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace scopevm::conformance {
namespace {

constexpr double kRelative = 1e-3;
// ONNX's tests use 1e-7. The error of a sum in a different order can exceed this through
// cancellation.
constexpr double kAbsolute = 1e-6;
// One unit in the last place: ONNX's bfloat16 data is truncated, not rounded.
constexpr double kRelativeBf16 = 1.0 / 128;

// Element types of 2, 4 and 8 bits: the DType, that of the elements of sequences, and the number
// with given bits. libonnx has no names for them.
struct SmallType {
  int code, bits;
  DType packed, dtype;
  double (*number)(unsigned bits);
};

// A sign, `exponent_bits` bits with the bias, and a mantissa.
template <int kExponentBits, int kMantissaBits, int kBias>
double small_float(unsigned bits) {
  const int exponent = static_cast<int>(bits >> kMantissaBits) & ((1 << kExponentBits) - 1);
  const int mantissa = static_cast<int>(bits) & ((1 << kMantissaBits) - 1);
  const double sign = bits >> (kExponentBits + kMantissaBits) & 1 ? -1 : 1;
  return sign * std::ldexp(mantissa + (exponent ? 1 << kMantissaBits : 0),
                           std::max(exponent, 1) - kBias - kMantissaBits);
}

double e4m3fn(unsigned bits) { return (bits & 127) == 127 ? NAN : small_float<4, 3, 7>(bits); }
double e4m3fnuz(unsigned bits) { return bits == 128 ? NAN : small_float<4, 3, 8>(bits); }
double e5m2fnuz(unsigned bits) { return bits == 128 ? NAN : small_float<5, 2, 16>(bits); }
double e5m2(unsigned bits) {
  if ((bits & 127) == 124) return bits == 124 ? INFINITY : -INFINITY;
  return (bits & 127) > 124 ? NAN : small_float<5, 2, 15>(bits);
}
double e8m0(unsigned bits) {
  return bits == 255 ? NAN : std::ldexp(1.0, static_cast<int>(bits) - 127);
}
double identity(unsigned bits) { return bits; }
double int4(unsigned bits) { return static_cast<int>(bits) - (bits < 8 ? 0 : 16); }
double int2(unsigned bits) { return static_cast<int>(bits) - (bits < 2 ? 0 : 4); }

constexpr SmallType kSmallTypes[] = {
    {17, 8, DType::kF8E4M3Fn, DType::kF16, e4m3fn},
    {18, 8, DType::kF8E4M3Fnuz, DType::kF16, e4m3fnuz},
    {19, 8, DType::kF8E5M2, DType::kF16, e5m2},
    {20, 8, DType::kF8E5M2Fnuz, DType::kF16, e5m2fnuz},
    {21, 4, DType::kU4, DType::kU8, identity},
    {22, 4, DType::kI4, DType::kI8, int4},
    {23, 4, DType::kF4E2M1Fn, DType::kF16, small_float<2, 1, 1>},
    {24, 8, DType::kF8E8M0Fnu, DType::kBF16, e8m0},
    {25, 2, DType::kU2, DType::kU8, identity},
    {26, 2, DType::kI2, DType::kI8, int2},
};

Result<Tensor> packed_tensor(const onnx::TensorProto& proto, const SmallType& type) {
  std::string packed = proto.raw_data();
  if (!proto.has_raw_data())
    for (const int32_t byte : proto.int32_data()) packed += static_cast<char>(byte);
  SCOPEVM_ASSIGN_OR_RETURN(Tensor tensor,
                           Tensor::allocate(type.packed, std::vector<int64_t>(proto.dims().begin(),
                                                                              proto.dims().end())));
  if (std::ssize(packed) != tensor.bytes())
    return Status(StatusCode::kInvalidModel, proto.name() + ": data does not fill the shape");
  std::memcpy(tensor.data(), packed.data(), packed.size());
  return tensor;
}

// The numbers of a tensor of a small type, as elements of the wider type.
Result<Tensor> unpack(const Tensor& packed, const SmallType& type) {
  SCOPEVM_ASSIGN_OR_RETURN(Tensor tensor, Tensor::allocate(type.dtype, packed.dims()));
  const auto count = static_cast<size_t>(tensor.element_count());
  for (size_t i = 0; i < count; ++i) {
    const size_t at = i * static_cast<size_t>(type.bits);
    const unsigned byte = static_cast<const uint8_t*>(packed.data())[at / 8];
    const double number = type.number(byte >> at % 8 & ((1u << type.bits) - 1));
    if (type.dtype == DType::kF16)
      static_cast<_Float16*>(tensor.data())[i] = static_cast<_Float16>(number);
    else if (type.dtype == DType::kBF16)
      static_cast<uint16_t*>(tensor.data())[i] =
          static_cast<uint16_t>(std::bit_cast<uint32_t>(static_cast<float>(number)) >> 16);
    else
      static_cast<int8_t*>(tensor.data())[i] = static_cast<int8_t>(static_cast<int>(number));
  }
  return tensor;
}

std::optional<DType> dtype_of(int onnx_type) {
  switch (onnx_type) {
    case onnx::TensorProto::BOOL:
      return DType::kBool;
    case onnx::TensorProto::INT8:
      return DType::kI8;
    case onnx::TensorProto::INT16:
      return DType::kI16;
    case onnx::TensorProto::INT32:
      return DType::kI32;
    case onnx::TensorProto::INT64:
      return DType::kI64;
    case onnx::TensorProto::UINT8:
      return DType::kU8;
    case onnx::TensorProto::UINT16:
      return DType::kU16;
    case onnx::TensorProto::UINT32:
      return DType::kU32;
    case onnx::TensorProto::UINT64:
      return DType::kU64;
    case onnx::TensorProto::FLOAT16:
      return DType::kF16;
    case onnx::TensorProto::BFLOAT16:
      return DType::kBF16;
    case onnx::TensorProto::FLOAT:
      return DType::kF32;
    case onnx::TensorProto::DOUBLE:
      return DType::kF64;
    default:
      return std::nullopt;
  }
}

// Copies `values`, narrowed to the element type T, into the tensor.
template <typename T, typename Values>
bool fill_as(const Tensor& tensor, const Values& values) {
  if (values.size() != tensor.element_count()) return false;
  T* out = static_cast<T*>(tensor.data());
  for (int i = 0; i < values.size(); ++i) out[i] = static_cast<T>(values.Get(i));
  return true;
}

// int32_data stores every type of up to 32 bits except float and uint32.
bool fill_small(const Tensor& tensor, const onnx::TensorProto& proto) {
  switch (byte_size(tensor.dtype())) {
    case 1:
      return fill_as<uint8_t>(tensor, proto.int32_data());
    case 2:
      return fill_as<uint16_t>(tensor, proto.int32_data());
    default:
      return fill_as<int32_t>(tensor, proto.int32_data());
  }
}

bool fill(const Tensor& tensor, const onnx::TensorProto& proto) {
  if (tensor.element_count() == 0) return true;
  if (proto.has_raw_data()) {
    if (static_cast<int64_t>(proto.raw_data().size()) != tensor.bytes()) return false;
    std::memcpy(tensor.data(), proto.raw_data().data(), proto.raw_data().size());
    return true;
  }
  switch (tensor.dtype()) {
    case DType::kF32:
      return fill_as<float>(tensor, proto.float_data());
    case DType::kF64:
      return fill_as<double>(tensor, proto.double_data());
    case DType::kI64:
      return fill_as<int64_t>(tensor, proto.int64_data());
    case DType::kU64:
      return fill_as<uint64_t>(tensor, proto.uint64_data());
    case DType::kU32:
      return fill_as<uint32_t>(tensor, proto.uint64_data());
    default:
      return fill_small(tensor, proto);
  }
}

double half_to_double(uint16_t bits) {
  double sign = bits & 0x8000 ? -1 : 1;
  int exponent = (bits >> 10) & 31;
  int fraction = bits & 1023;
  if (exponent == 31) return fraction ? NAN : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

double float_element(const Tensor& tensor, int64_t i) {
  switch (tensor.dtype()) {
    case DType::kF16:
      return half_to_double(tensor.elements<uint16_t>()[i]);
    case DType::kBF16:
      return std::bit_cast<float>(uint32_t{tensor.elements<uint16_t>()[i]} << 16);
    case DType::kF32:
      return tensor.elements<float>()[i];
    default:
      return tensor.elements<double>()[i];
  }
}

// The largest magnitude of a finite element.
double largest(const Tensor& tensor) {
  double most = 0;
  for (int64_t i = 0; i < tensor.element_count(); ++i)
    if (const double size = std::abs(float_element(tensor, i)); std::isfinite(size))
      most = std::max(most, size);
  return most;
}

bool agrees(double expected, double actual, double relative, double absolute) {
  if (std::isnan(expected) || std::isnan(actual)) return std::isnan(expected) && std::isnan(actual);
  if (std::isinf(expected) || std::isinf(actual)) return expected == actual;
  return std::abs(expected - actual) <= absolute + relative * std::abs(expected);
}

template <typename T>
bool are_close(std::span<const T> expected, std::span<const T> actual, int tolerance) {
  for (size_t i = 0; i < expected.size(); ++i)
    if (std::abs(expected[i] - actual[i]) > tolerance) return false;
  return true;
}

std::string shape_text(const Tensor& tensor) {
  std::string text(name(tensor.dtype()));
  text += '[';
  for (int i = 0; i < tensor.rank(); ++i)
    text += (i ? "," : "") + std::to_string(tensor.dims()[static_cast<size_t>(i)]);
  return text + ']';
}

Result<Tensor> make_tensor(const onnx::TensorProto& proto) {
  std::vector<int64_t> dims(proto.dims().begin(), proto.dims().end());
  if (proto.data_type() == onnx::TensorProto::STRING)
    return Tensor::from_strings(
        std::vector<std::string_view>(proto.string_data().begin(), proto.string_data().end()),
        dims);
  for (const SmallType& type : kSmallTypes)
    if (type.code == proto.data_type()) return packed_tensor(proto, type);
  std::optional<DType> dtype = dtype_of(proto.data_type());
  if (!dtype)
    return Status(StatusCode::kUnsupported,
                  onnx::TensorProto::DataType_Name(proto.data_type()) + " has no DType");
  SCOPEVM_ASSIGN_OR_RETURN(Tensor tensor, Tensor::allocate(*dtype, dims));
  if (!fill(tensor, proto))
    return Status(StatusCode::kInvalidModel, proto.name() + ": data does not fill the shape");
  return tensor;
}

Status append(const onnx::TensorProto& proto, ReferenceValue& value) {
  SCOPEVM_ASSIGN_OR_RETURN(Tensor tensor, make_tensor(proto));
  value.tensors.push_back(std::move(tensor));
  return {};
}

// The elements of sequences and optionals have the wider type.
Status append_element(const onnx::TensorProto& proto, ReferenceValue& value) {
  SCOPEVM_RETURN_IF_ERROR(append(proto, value));
  Tensor& tensor = value.tensors.back();
  for (const SmallType& type : kSmallTypes) {
    if (type.packed != tensor.dtype()) continue;
    SCOPEVM_ASSIGN_OR_RETURN(tensor, unpack(tensor, type));
    break;
  }
  return {};
}

Status append(const onnx::SequenceProto& proto, ReferenceValue& value) {
  for (const onnx::TensorProto& tensor : proto.tensor_values())
    SCOPEVM_RETURN_IF_ERROR(append_element(tensor, value));
  return {};
}

Status append(const onnx::OptionalProto& proto, ReferenceValue& value) {
  if (proto.has_tensor_value()) return append_element(proto.tensor_value(), value);
  if (proto.has_sequence_value()) return append(proto.sequence_value(), value);
  value.has_value = false;
  return {};
}

template <typename Proto>
Result<ReferenceValue> read_as(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  Proto proto;
  if (!file || !proto.ParseFromIstream(&file))
    return Status(StatusCode::kInvalidModel, path + ": not a " + proto.GetTypeName());
  ReferenceValue value;
  SCOPEVM_RETURN_IF_ERROR(append(proto, value).with_context(path));
  return value;
}

}  // namespace

Result<ReferenceValue> read_value(const std::string& path, ValueKind kind) {
  if (is_optional(kind)) return read_as<onnx::OptionalProto>(path);
  return kind == ValueKind::kSequence ? read_as<onnx::SequenceProto>(path)
                                      : read_as<onnx::TensorProto>(path);
}

std::string difference(const Tensor& expected, const Tensor& actual, const Tolerance& accepted) {
  if (shape_text(expected) != shape_text(actual))
    return shape_text(actual) + ", expected " + shape_text(expected);
  for (const SmallType& type : kSmallTypes) {
    if (type.packed != expected.dtype()) continue;
    const Result<Tensor> want = unpack(expected, type), got = unpack(actual, type);
    return want.ok() && got.ok() ? difference(*want, *got, accepted) : "out of memory";
  }
  if (expected.dtype() == DType::kStr) {
    for (int64_t i = 0; i < expected.element_count(); ++i)
      if (expected.string_at(i) != actual.string_at(i))
        return "element " + std::to_string(i) + " is \"" + std::string(actual.string_at(i)) +
               "\", expected \"" + std::string(expected.string_at(i)) + "\"";
    return "";
  }
  if (!is_float(expected.dtype())) {
    if (expected.bytes() == 0 ||
        std::memcmp(expected.data(), actual.data(), static_cast<size_t>(expected.bytes())) == 0)
      return "";
    bool is_close = false;
    if (expected.dtype() == DType::kU8)
      is_close = are_close<uint8_t>(expected.elements<uint8_t>(), actual.elements<uint8_t>(),
                                    accepted.bytes);
    if (expected.dtype() == DType::kI8)
      is_close =
          are_close<int8_t>(expected.elements<int8_t>(), actual.elements<int8_t>(), accepted.bytes);
    return is_close ? "" : "integers differ";
  }
  double relative = expected.dtype() == DType::kBF16 ? kRelativeBf16 : kRelative;
  double absolute = kAbsolute + accepted.of_largest * largest(expected);
  for (int64_t i = 0; i < expected.element_count(); ++i) {
    double want = float_element(expected, i);
    double got = float_element(actual, i);
    if (!agrees(want, got, relative, absolute))
      return "element " + std::to_string(i) + " is " + std::to_string(got) + ", expected " +
             std::to_string(want);
  }
  return "";
}

}  // namespace scopevm::conformance
