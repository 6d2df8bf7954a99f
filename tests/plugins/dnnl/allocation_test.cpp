// A warm run allocates no memory for tensors: only small objects of oneDNN's interface. The
// program's malloc() and posix_memalign() are those of this file.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>

#include "plug_in.h"

namespace {

std::atomic<bool> counting = false;
std::atomic<size_t> allocated = 0;

void count(size_t size) {
  if (counting) allocated += size;
}

}  // namespace

extern "C" {
void* __libc_malloc(size_t size);                      // NOLINT: glibc's names
void* __libc_memalign(size_t alignment, size_t size);  // NOLINT

void* malloc(size_t size) {
  count(size);
  return __libc_malloc(size);
}

int posix_memalign(void** address, size_t alignment, size_t size) {
  count(size);
  *address = __libc_memalign(alignment, size);
  return *address == nullptr ? ENOMEM : 0;
}
}

namespace scopevm::onednn_test {
namespace {

using nlohmann::json;

// The bytes that the second run of the function allocates.
size_t allocated_bytes(const json& description, const std::vector<Dims>& operands,
                       const Dims& result) {
  const std::string text = description.dump();
  const Outcome accepted = accept(text);
  EXPECT_EQ(accepted.code, StatusCode::kOk) << accepted.text;
  Function function(text);
  std::vector<Tensor> tensors;
  for (const Dims& dims : operands) tensors.emplace_back(dims);
  Tensor y(result);
  const int64_t bytes = accepted.workspace_bytes(1);
  EXPECT_EQ(function.run(tensors, y, bytes).code, StatusCode::kOk);
  PreparedRun prepared(tensors, y, bytes, 1);
  allocated = 0;
  counting = true;
  const StatusCode code = function.run(prepared);
  counting = false;
  EXPECT_EQ(code, StatusCode::kOk);
  return allocated;
}

constexpr size_t kMostBytes = 8192;  // argument lists, memory objects, a stream

TEST(DnnlAllocations, MatMul) {
  SKIP_WITHOUT_AVX512();
  for (const int64_t size : {16, 100, 512})
    for (const bool transpose : {false, true}) {
      const std::vector<Dims> operands = {{size, size}, {size, size}};
      const json op = op_of("matmul", {0, 1}, {size, size},
                            {{"transpose_a", transpose}, {"transpose_b", transpose}});
      EXPECT_LE(allocated_bytes(describe(operands, json::array({op})), operands, {size, size}),
                kMostBytes);
    }
}

TEST(DnnlAllocations, Convolution) {
  for (const int64_t channels : {3, 30, 64})
    for (const int64_t group : {int64_t{1}, channels}) {
      const std::vector<Dims> operands = {{1, channels, 20, 20},
                                          {channels, channels / group, 3, 3}};
      const Dims result = {1, channels, 20, 20};
      const json op = op_of(
          "conv", {0, 1}, result,
          {{"strides", {1, 1}}, {"pads", {1, 1, 1, 1}}, {"dilations", {1, 1}}, {"group", group}});
      EXPECT_LE(allocated_bytes(describe(operands, json::array({op})), operands, result),
                kMostBytes);
    }
}

TEST(DnnlAllocations, Pool) {
  const std::vector<Dims> operands = {{1, 64, 20, 20}};
  const Dims result = {1, 64, 10, 10};
  const json op = op_of(
      "max_pool", {0}, result,
      {{"kernel", {2, 2}}, {"strides", {2, 2}}, {"pads", {0, 0, 0, 0}}, {"dilations", {1, 1}}});
  EXPECT_LE(allocated_bytes(describe(operands, json::array({op})), operands, result), kMostBytes);
}

}  // namespace
}  // namespace scopevm::onednn_test
