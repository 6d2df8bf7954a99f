// Selections and reductions along an axis that ranks divide: results of any lines, and messages.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "scopevm/compiler.h"
#include "scopevm/module.h"
#include "scopevm/session.h"
#include "tests/temporary_file.h"

namespace scopevm {
namespace {

constexpr int64_t kSize = 47;  // of the axis, so that parts are unequal
constexpr int64_t kLines = 40;

// An op along the axis AXIS.
struct AlongAxis {
  std::string op;                    // with attributes
  std::vector<std::string> results;  // element types; "" is that of x
  int64_t count;                     // of the elements of a line that are selected
};

const std::vector<AlongAxis>& ops() {
  static const std::vector<AlongAxis> ops = {
      {"top_k %x {k = #sv.dims<[4]>, axis = AXIS, largest = true}", {"", "i64"}, 4},
      {"top_k %x {k = #sv.dims<[5]>, axis = AXIS, largest = false}", {"", "i64"}, 5},
      {"arg_max %x {axis = AXIS}", {"i64"}, 1},
      {"arg_max %x {axis = AXIS, last = true}", {"i64"}, 1},
      {"arg_min %x {axis = AXIS}", {"i64"}, 1},
      {"arg_min %x {axis = AXIS, last = true}", {"i64"}, 1},
      {"reduce_max %x {axes = array<i64: AXIS>}", {""}, 1},
      {"reduce_min %x {axes = array<i64: AXIS>}", {""}, 1},
  };
  return ops;
}

std::string type_of(const std::string& dtype, int64_t size, int axis) {
  const std::string number = std::to_string(size);
  return "!sv.tensor<" + dtype + (axis == 0 ? "[" + number + ", n]>" : "[n, " + number + "]>");
}

std::string graph(const std::vector<AlongAxis>& ops, const std::string& dtype, int axis) {
  const std::string x = type_of(dtype, kSize, axis);
  std::string body, values, types;
  for (size_t i = 0; i < ops.size(); ++i) {
    std::string op = ops[i].op, own_types;
    op.replace(op.find("AXIS"), 4, std::to_string(axis));
    const std::string value = "%" + std::to_string(i);
    for (size_t k = 0; k < ops[i].results.size(); ++k) {
      const std::string& result = ops[i].results[k];
      own_types +=
          (k > 0 ? ", " : "") + type_of(result.empty() ? dtype : result, ops[i].count, axis);
      values += (values.empty() ? "" : ", ") + value +
                (ops[i].results.size() > 1 ? "#" + std::to_string(k) : "");
    }
    types += (types.empty() ? "" : ", ") + own_types;
    body += "  " + value + (ops[i].results.size() > 1 ? ":2" : "") + " = sv." + op + " : (" + x +
            ") -> (" + own_types + ")\n";
  }
  return "func.func @main(%x: " + x + ") -> (" + types + ") {\n" + body + "  return " + values +
         " : " + types + "\n}\n";
}

// The links are so fast that work is divided whenever it can be.
std::string machine_of(int ranks) {
  std::string devices, links;
  for (int rank = 0; rank < ranks; ++rank) {
    const std::string number = std::to_string(rank);
    devices += (rank > 0 ? ", " : "") + std::string(R"({"name": "cpu)") + number +
               R"(", "kind": "cpu", "rank": )" + number + "}";
    for (int other = 0; other < rank; ++other)
      links += (links.empty() ? "" : ", ") + std::string(R"({"ranks": [)") + std::to_string(other) +
               ", " + number + R"(], "bytes_per_second": 1e15, "latency_seconds": 1e-12})";
  }
  return R"({"devices": [)" + devices + R"(], "links": [)" + links + "]}";
}

// REQUIRES: the split divides an op, because it is refused otherwise.
Module compiled(const std::string& text, int ranks) {
  const TemporaryFile file(text);
  CompileOptions options;
  options.model_path = file.path();
  options.threads = 1;
  if (ranks > 1) {
    options.machine_json = machine_of(ranks);
    options.split = "tensor=" + std::to_string(ranks);
  }
  auto output = compile(options);
  EXPECT_TRUE(output.ok()) << output.status().message() << "\n" << text;
  return *Module::load_bytes(output->module);
}

// Few different elements, so that most lines have ties; for floats, also zeros of both signs,
// infinities and NaN.
template <typename T>
Tensor lines_with_ties(DType dtype, int axis) {
  Tensor x =
      *Tensor::allocate(dtype, axis == 0 ? std::array{kSize, kLines} : std::array{kLines, kSize});
  std::mt19937 random(3);
  for (int64_t i = 0; i < kLines * kSize; ++i) {
    const int64_t line = axis == 0 ? i % kLines : i / kSize;
    T element = static_cast<T>(random() % 6);
    if constexpr (std::is_floating_point_v<T>) {
      using Limits = std::numeric_limits<T>;
      if (line % 4 == 1 && random() % 8 == 0) element = Limits::quiet_NaN();
      if (line % 4 == 2) element = random() % 2 == 0 ? T(0) : -T(0);
      if (line % 4 == 3) element = random() % 5 == 0 ? Limits::infinity() : -Limits::infinity();
      if (line == 0) element = Limits::quiet_NaN();
    }
    static_cast<T*>(x.data())[i] = element;
  }
  return x;
}

// Of each line, rank 0 receives the elements that another rank has selected, and their indices.
int64_t bytes_received(int64_t element_bytes, int ranks) {
  int64_t bytes = 0;
  for (const AlongAxis& along : ops()) {
    const bool has_indices = along.results.back() == "i64";
    bytes += along.count * (element_bytes + (has_indices ? 8 : 0));
  }
  return bytes * kLines * (ranks - 1);
}

template <typename T>
void check(DType dtype) {
  for (const int axis : {0, 1}) {
    const std::string text = graph(ops(), std::string(name(dtype)), axis);
    const Tensor x = lines_with_ties<T>(dtype, axis);
    std::vector<Tensor> expected;
    for (const int ranks : {1, 2, 3}) {
      SCOPED_TRACE(text + std::to_string(ranks) + " ranks");
      const Module module = compiled(text, ranks);
      auto session = Session::create(module);
      ASSERT_TRUE(session.ok()) << session.status().message();
      Call call = *session->make_call();
      ASSERT_TRUE(call.set_input(0, x).ok());
      ASSERT_TRUE(call.run().ok());
      if (ranks == 1) expected.assign(call.outputs().begin(), call.outputs().end());
      ASSERT_EQ(call.outputs().size(), expected.size());
      for (size_t i = 0; i < expected.size(); ++i)
        EXPECT_EQ(0, std::memcmp(call.outputs()[i].data(), expected[i].data(),
                                 static_cast<size_t>(expected[i].bytes())))
            << "result " << i;
      int64_t received = 0;
      for (const CopyUse& use : call.stats().copies)
        if (use.to_device == "cpu0") received += use.bytes;
      EXPECT_EQ(received, bytes_received(sizeof(T), ranks));
    }
  }
}

TEST(Selection, OfRanksIsThatOfOneRank) {
  check<float>(DType::kF32);
  check<int32_t>(DType::kI32);
}

// The smallest part of three has 15 elements.
TEST(Selection, IsNotDividedIfAPartIsTooShort) {
  const AlongAxis most = {
      "top_k %x {k = #sv.dims<[16]>, axis = AXIS, largest = true}", {"", "i64"}, 16};
  const TemporaryFile file(graph({most}, "f32", 1));
  CompileOptions options;
  options.model_path = file.path();
  options.machine_json = machine_of(3);
  options.split = "tensor=3";
  EXPECT_FALSE(compile(options).ok());
}

}  // namespace
}  // namespace scopevm
