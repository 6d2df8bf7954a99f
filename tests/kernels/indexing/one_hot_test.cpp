// one_hot: values, axes, and indices out of range.
#include "tests/kernels/oracle.h"

namespace scopevm::compiler::testing {
namespace {

TEST(OneHot, EveryAxisWithNegativeAndOutOfRangeIndices) {
  Array values = Array::of<float>(DType::kF32, {2}, {-1.0f, 3.0f});
  Array indices = of_i64({2, 3}, {0, 4, -1, -5, 5, -6});
  const std::vector<std::string> shapes = {"5, a, b", "a, 5, b", "a, b, 5"};
  for (size_t axis = 0; axis < 3; ++axis) {
    CompiledOp op({"one_hot",
                   "depth = #sv.dims<[5]>, axis = " + std::to_string(axis),
                   {"i64[a, b]", "f32[2]"},
                   {"f32[" + shapes[axis] + "]"}});
    auto outputs = op({indices, values});
    ASSERT_EQ(outputs.size(), 1u);
    for_each_index(outputs[0].dims, [&](const Index& i) {
      Index at(i);
      at.erase(at.begin() + static_cast<int64_t>(axis));
      int64_t index = element<int64_t>(indices, at);
      bool is_hot = (index < 0 ? index + 5 : index) == i[axis];
      ASSERT_EQ(element<float>(outputs[0], i), is_hot ? 3.0f : -1.0f);
    });
  }
}

// An unsigned 255 is out of range; it is not -1.
TEST(OneHot, UnsignedIndicesDoNotCountFromTheEnd) {
  CompiledOp op({"one_hot", "depth = #sv.dims<[3]>, axis = 1", {"u8[n]", "i32[2]"}, {"i32[n, 3]"}});
  auto outputs = op({Array::of<uint8_t>(DType::kU8, {3}, {255, 2, 253}),
                     Array::of<int32_t>(DType::kI32, {2}, {0, 1})});
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_EQ(outputs[0].as<int32_t>(), (std::vector<int32_t>{0, 0, 0, 0, 0, 1, 0, 0, 0}));
}

}  // namespace
}  // namespace scopevm::compiler::testing
