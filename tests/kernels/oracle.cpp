// Implements oracle.h: builds the one-op graph, compiles it, and computes expected results.
#include "tests/kernels/oracle.h"

#include <cmath>

namespace scopevm::compiler::testing {

std::string OpText::function() const {
  std::string arguments, names, types, results_text, results_names;
  auto append = [](std::string& list, const std::string& item) {
    list += (list.empty() ? "" : ", ") + item;
  };
  for (size_t i = 0; i < operands.size(); ++i) {
    std::string type = "!sv.tensor<" + operands[i] + ">", name = "%x" + std::to_string(i);
    append(arguments, name + ": " + type);
    append(names, name);
    append(types, type);
  }
  for (size_t i = 0; i < results.size(); ++i) {
    append(results_text, "!sv.tensor<" + results[i] + ">");
    append(results_names, results.size() == 1 ? "%y" : "%y#" + std::to_string(i));
  }
  std::string bound = results.size() == 1 ? "%y" : "%y:" + std::to_string(results.size());
  return "func.func @main(" + arguments + ") -> (" + results_text + ") {\n  " + bound + " = sv." +
         name + " " + names + " {" + attributes + "} : (" + types + ") -> (" + results_text +
         ")\n  return " + results_names + " : " + results_text + "\n}\n";
}

CompiledOp::CompiledOp(const OpText& op, const std::string& cpu) : name_(op.name + " " + cpu) {
  auto runner = KernelRunner::create(op.function(), cpu);
  if (runner.ok())
    runner_ = std::move(*runner);
  else
    ADD_FAILURE() << runner.status().message() << "\n" << op.function();
}

std::vector<Array> CompiledOp::operator()(const std::vector<Array>& inputs) {
  if (!runner_) return {};
  auto outputs = runner_->run(inputs);
  if (outputs.ok()) return std::move(*outputs);
  ADD_FAILURE() << name_ << ": " << outputs.status().message();
  return {};
}

int64_t count(const Index& dims) {
  int64_t elements = 1;
  for (int64_t dim : dims) elements *= dim;
  return elements;
}

void for_each_index(const Index& dims, const std::function<void(const Index&)>& visit) {
  Index index(dims.size());
  for (int64_t item = 0; item < count(dims); ++item) {
    int64_t rest = item;
    for (size_t d = dims.size(); d-- > 0;) {
      index[d] = rest % dims[d];
      rest /= dims[d];
    }
    visit(index);
  }
}

int64_t offset_of(const Index& dims, const Index& index) {
  int64_t offset = 0;
  for (size_t d = 0; d < dims.size(); ++d) offset = offset * dims[d] + index[d];
  return offset;
}

Array counting_bytes(DType dtype, Index dims) {
  std::vector<uint8_t> bytes(count(dims) * byte_size(dtype));
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(1 + i % 251);
  return {dtype, std::move(dims), std::move(bytes)};
}

Array of_i64(Index dims, const std::vector<int64_t>& values) {
  return Array::of(DType::kI64, std::move(dims), values);
}

Array rearranged(const Array& x, Index dims,
                 const std::function<std::optional<Index>(const Index&)>& source) {
  int64_t size = byte_size(x.dtype);
  Array result{x.dtype, dims, std::vector<uint8_t>(count(dims) * size)};
  int64_t to = 0;
  for_each_index(dims, [&](const Index& index) {
    if (std::optional<Index> from = source(index))
      std::memcpy(result.bytes.data() + to, x.bytes.data() + offset_of(x.dims, *from) * size, size);
    to += size;
  });
  return result;
}

void expect_same(const Array& actual, const Array& expected) {
  ASSERT_EQ(actual.dims, expected.dims);
  ASSERT_EQ(actual.bytes.size(), expected.bytes.size());
  for (size_t i = 0; i < expected.bytes.size(); ++i)
    ASSERT_EQ(actual.bytes[i], expected.bytes[i])
        << "element " << i / byte_size(expected.dtype) << " of "
        << expected.bytes.size() / byte_size(expected.dtype);
}

void expect_near(const Array& actual, const Array& expected, float tolerance) {
  ASSERT_EQ(actual.dims, expected.dims);
  auto a = actual.as<float>(), e = expected.as<float>();
  ASSERT_EQ(a.size(), e.size());
  for (size_t i = 0; i < e.size(); ++i)
    ASSERT_TRUE(a[i] == e[i] || std::fabs(a[i] - e[i]) <= tolerance)
        << "element " << i << ": " << a[i] << ", not " << e[i];
}

}  // namespace scopevm::compiler::testing
