// Parses the calls of the corpus, and compares tensors; see cases.h.
#include "tests/corpus/cases.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iomanip>
#include <sstream>
#include <stdexcept>

namespace scopevm::corpus {
namespace {

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error(what); }

DType dtype_of(const std::string& text) {
  for (const DType dtype : {DType::kF32, DType::kI64, DType::kBool, DType::kStr})
    if (name(dtype) == text) return dtype;
  fail("the corpus has no element type " + text);
}

std::vector<int64_t> dims_of(const std::string& text) {
  std::vector<int64_t> dims;
  if (text == "scalar") return dims;
  std::istringstream in(text);
  for (std::string dim; std::getline(in, dim, 'x');) dims.push_back(std::stoll(dim));
  return dims;
}

template <typename Stored, typename T>
void read_elements(std::istream& in, Tensor& tensor) {
  auto* const elements = static_cast<Stored*>(tensor.data());
  for (int64_t i = 0; i < tensor.element_count(); ++i) {
    T element{};
    if (!(in >> element)) fail("too few elements");
    elements[i] = static_cast<Stored>(element);
  }
}

Tensor read_strings(std::istream& in, const std::vector<int64_t>& dims) {
  std::vector<std::string> texts;
  for (std::string text; in >> std::quoted(text);) texts.push_back(text);
  in.clear();
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  Result<Tensor> tensor = Tensor::from_strings(views, dims);
  if (!tensor.ok()) fail(std::string(tensor.status().message()));
  return *std::move(tensor);
}

Tensor read_tensor(std::istream& in) {
  std::string type, shape;
  in >> type >> shape;
  const DType dtype = dtype_of(type);
  const std::vector<int64_t> dims = dims_of(shape);
  if (dtype == DType::kStr) return read_strings(in, dims);
  Result<Tensor> tensor = Tensor::allocate(dtype, dims);
  if (!tensor.ok()) fail(std::string(tensor.status().message()));
  if (dtype == DType::kF32) read_elements<float, double>(in, *tensor);
  if (dtype == DType::kI64) read_elements<int64_t, int64_t>(in, *tensor);
  if (dtype == DType::kBool) read_elements<bool, bool>(in, *tensor);
  if (std::string more; in >> more) fail("too many elements");
  return *std::move(tensor);
}

NamedTensor read_named(std::istream& in) {
  std::string name;
  in >> name;
  return {name, read_tensor(in)};
}

void read_line(const std::string& line, Cases& cases) {
  std::istringstream in(line);
  std::string word;
  in >> word;
  if (word == "tolerance") {
    in >> cases.tolerance;
    return;
  }
  if (word == "call") {
    cases.calls.emplace_back();
    return;
  }
  if (cases.calls.empty()) fail("no call");
  Case& call = cases.calls.back();
  if (word == "input")
    call.inputs.push_back(read_named(in));
  else if (word == "element")
    call.elements.push_back(read_named(in));
  else if (word == "output")
    call.outputs.push_back(read_named(in));
  else if (word == "empty")
    in >> call.empty.emplace_back();
  else if (word == "error")
    std::getline(in >> std::ws, call.error);
  else
    fail("unknown word " + word);
}

}  // namespace

Cases read_cases(const std::string& path) {
  std::ifstream in(path);
  if (!in) fail(path + ": cannot read");
  Cases cases;
  for (std::string line; std::getline(in, line);) {
    try {
      if (!line.empty()) read_line(line, cases);
    } catch (const std::exception& error) {
      fail(path + ": " + line + ": " + error.what());
    }
  }
  return cases;
}

std::string difference(const Tensor& given, const Tensor& expected, double tolerance) {
  if (given.dtype() != expected.dtype()) return "another element type";
  if (!std::ranges::equal(given.dims(), expected.dims())) return "other dims";
  for (int64_t i = 0; i < expected.element_count(); ++i) {
    const std::string at = " at element " + std::to_string(i);
    if (expected.dtype() == DType::kStr) {
      if (given.string_at(i) != expected.string_at(i)) return "another string" + at;
    } else if (expected.dtype() == DType::kF32) {
      const double a = given.elements<float>()[static_cast<size_t>(i)],
                   b = expected.elements<float>()[static_cast<size_t>(i)];
      if (!(std::abs(a - b) <= tolerance * std::max(1.0, std::abs(b))))
        return std::to_string(a) + " instead of " + std::to_string(b) + at;
    } else {
      const size_t size = expected.dtype() == DType::kBool ? 1 : sizeof(int64_t);
      const auto offset = static_cast<size_t>(i) * size;
      if (std::memcmp(static_cast<const char*>(given.data()) + offset,
                      static_cast<const char*>(expected.data()) + offset, size) != 0)
        return "another number" + at;
    }
  }
  return "";
}

}  // namespace scopevm::corpus
