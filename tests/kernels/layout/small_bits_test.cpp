// Compares unpack_bits and pack_bits with shifts.
#include "tests/kernels/oracle.h"

namespace scopevm::compiler::testing {
namespace {

unsigned bits_of(DType dtype) { return static_cast<unsigned>(8 / elements_per_byte(dtype)); }

// The elements as u8, from the lowest bits of each byte on.
Array unpacked(const Array& packed) {
  Array result{DType::kU8, packed.dims, {}};
  const unsigned bits = bits_of(packed.dtype);
  for (size_t i = 0; i < static_cast<size_t>(count(packed.dims)); ++i)
    result.bytes.push_back(
        static_cast<uint8_t>(packed.bytes[i * bits / 8] >> (i * bits % 8) & ((1u << bits) - 1)));
  return result;
}

Array random_packed(DType dtype, const Index& dims) {
  Array packed{dtype, dims,
               std::vector<uint8_t>(static_cast<size_t>(byte_size(dtype, count(dims))))};
  for (size_t i = 0; i < packed.bytes.size(); ++i)
    packed.bytes[i] = static_cast<uint8_t>(151 * i + 29);
  return packed;
}

// The bits after the last element are 0.
Array without_unused_bits(Array packed) {
  const unsigned used = static_cast<unsigned>(count(packed.dims)) * bits_of(packed.dtype) % 8;
  if (used != 0) packed.bytes.back() &= static_cast<uint8_t>((1u << used) - 1);
  return packed;
}

void check(DType dtype, const std::string& cpu) {
  const std::string small = std::string(name(dtype)) + "[n, 3]";
  CompiledOp unpack({"unpack_bits", "", {small}, {"u8[n, 3]"}}, cpu);
  CompiledOp pack({"pack_bits", "to = \"" + std::string(name(dtype)) + "\"", {"u8[n, 3]"}, {small}},
                  cpu);
  for (const int64_t n : {0, 1, 2, 3, 4, 5, 8, 100, 1001}) {
    SCOPED_TRACE(small + " " + std::to_string(n) + " " + cpu);
    const Array packed = random_packed(dtype, {n, 3});
    const std::vector<Array> elements = unpack({packed});
    ASSERT_EQ(elements.size(), 1u);
    expect_same(elements[0], unpacked(packed));
    // Bits above those of an element are ignored.
    Array noisy = elements[0];
    for (uint8_t& byte : noisy.bytes) byte |= static_cast<uint8_t>(0xffu << bits_of(dtype));
    const std::vector<Array> again = pack({noisy});
    ASSERT_EQ(again.size(), 1u);
    expect_same(again[0], without_unused_bits(packed));
  }
}

TEST(SmallBits, AreShiftsOfBytes) {
  for (int d = 0; d < kDTypeCount; ++d)
    if (const auto dtype = static_cast<DType>(d); is_small(dtype))
      for (const std::string cpu : {"host", "x86-64"}) check(dtype, cpu);
}

}  // namespace
}  // namespace scopevm::compiler::testing
