// One graph op compiled for a CPU, and functions that compute expected results with plain loops
// over indices.
#pragma once

#include <functional>
#include <optional>

#include "gtest/gtest.h"
#include "tests/kernels/kernel_runner.h"

namespace scopevm::compiler::testing {

using Index = std::vector<int64_t>;

// The host (which can have masked vectors), 256-bit vectors without masks, and 128-bit vectors.
inline const std::vector<std::string> kCpus = {"host", "x86-64-v3", "x86-64"};

// An op in textual form. `operands` and `results` are types without `!sv.tensor`: "f32[n, 3]".
// `attributes` has MLIR syntax: "axis = 1".
struct OpText {
  std::string name, attributes;
  std::vector<std::string> operands, results;
  // The assembly of @main, which applies the op to its arguments.
  std::string function() const;
};

// An op compiled for one CPU. If compiling or running fails, the test fails and there are no
// outputs.
class CompiledOp {
 public:
  explicit CompiledOp(const OpText& op, const std::string& cpu = "host");
  std::vector<Array> operator()(const std::vector<Array>& inputs);
  size_t kernel_count() const { return runner_ ? runner_->kernel_count() : 0; }
  size_t step_count() const { return runner_ ? runner_->steps().size() : 0; }

 private:
  std::string name_;
  std::unique_ptr<KernelRunner> runner_;
};

// The number of elements of a tensor with these dims.
int64_t count(const Index& dims);
// Calls `visit` for each index, in row-major order.
void for_each_index(const Index& dims, const std::function<void(const Index&)>& visit);
// The row-major position of an element among the elements.
int64_t offset_of(const Index& dims, const Index& index);

// The bytes repeat 1, 2, ..., 251. As 251 is a prime, any 251 consecutive elements are distinct,
// for every dtype.
Array counting_bytes(DType dtype, Index dims);
Array of_i64(Index dims, const std::vector<int64_t>& values);

// result[i] = x[source(i)], or zero bytes where source(i) is empty.
Array rearranged(const Array& x, Index dims,
                 const std::function<std::optional<Index>(const Index&)>& source);

void expect_same(const Array& actual, const Array& expected);
void expect_near(const Array& actual, const Array& expected, float tolerance);  // f32

// The element at an index.
template <typename T>
T element(const Array& array, const Index& index) {
  T value;
  std::memcpy(&value, array.bytes.data() + offset_of(array.dims, index) * sizeof(T), sizeof(T));
  return value;
}

}  // namespace scopevm::compiler::testing
