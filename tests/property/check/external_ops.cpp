// An external library for property tests; see external_ops.h.
#include "tests/property/check/external_ops.h"

#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <type_traits>
#include <vector>

#include "scopevm/status.h"

namespace scopevm::compiler::property {
namespace {

using nlohmann::json;
using Sizes = std::vector<int64_t>;

std::atomic<int64_t> runs = 0;

constexpr const char* kTypes[] = {"f32", "f64", "i32"};
constexpr const char* kUnary[] = {"neg", "abs"};
constexpr const char* kBinary[] = {"add", "sub", "mul"};

// A pattern matches tensors of any rank, so the dims here have no meaning.
std::string pattern(const std::string& name, const std::string& type, int inputs,
                    const std::string& body, const std::string& result) {
  const std::string tensor = "!sv.tensor<" + type + "[n]>";
  std::string text = "func.func @" + name + "_" + type + "(";
  for (int i = 0; i < inputs; ++i)
    text += (i > 0 ? ", %" : "%") + std::string(1, static_cast<char>('a' + i)) + ": " + tensor;
  return text + ") -> " + tensor + " {\n" + body + "  return " + result + " : " + tensor + "\n}\n";
}

std::string op(const std::string& result, const std::string& name, const std::string& operands,
               int count, const std::string& type) {
  const std::string tensor = "!sv.tensor<" + type + "[n]>";
  std::string types = tensor;
  for (int i = 1; i < count; ++i) types += ", " + tensor;
  return "  " + result + " = sv." + name + " " + operands + " : (" + types + ") -> " + tensor +
         "\n";
}

std::string all_patterns() {
  std::string text;
  for (const std::string type : kTypes) {
    for (const std::string unary : kUnary)
      text += pattern(unary, type, 1, op("%0", unary, "%a", 1, type), "%0");
    for (const std::string binary : kBinary) {
      text += pattern(binary, type, 2, op("%0", binary, "%a, %b", 2, type), "%0");
      text += pattern(binary + "_neg", type, 2,
                      op("%0", binary, "%a, %b", 2, type) + op("%1", "neg", "%0", 1, type), "%1");
      text +=
          pattern("mul_" + binary, type, 3,
                  op("%0", "mul", "%a, %b", 2, type) + op("%1", binary, "%0, %c", 2, type), "%1");
    }
  }
  return text;
}

// Integers wrap, as in the graph dialect.
template <typename T>
T compute(const std::string& name, T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    const U x = static_cast<U>(a), y = static_cast<U>(b);
    if (name == "add") return static_cast<T>(x + y);
    if (name == "sub") return static_cast<T>(x - y);
    if (name == "mul") return static_cast<T>(x * y);
    if (name == "neg" || a < 0) return static_cast<T>(U{0} - x);
    return a;
  } else {
    if (name == "add") return a + b;
    if (name == "sub") return a - b;
    if (name == "mul") return a * b;
    return name == "neg" ? -a : std::fabs(a);
  }
}

template <typename T>
struct Dense {
  Sizes dims;
  std::vector<T> elements;
};

Sizes broadcast(const Sizes& a, const Sizes& b) {
  Sizes dims(std::max(a.size(), b.size()), 1);
  for (const Sizes* from : {&a, &b})
    for (size_t i = 0; i < from->size(); ++i) {
      int64_t& dim = dims[dims.size() - 1 - i];
      const int64_t other = (*from)[from->size() - 1 - i];
      if (dim == 1) dim = other;
    }
  return dims;
}

int64_t count_of(const Sizes& dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

// The element of `from` that is broadcast to position `at` of a tensor with these dims.
template <typename T>
T element(const Dense<T>& from, const Sizes& dims, int64_t at) {
  int64_t index = 0, stride = 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t dim = dims[dims.size() - 1 - i], position = at % dim;
    at /= dim;
    if (i >= from.dims.size()) continue;
    const int64_t own = from.dims[from.dims.size() - 1 - i];
    if (own != 1) index += position * stride;
    stride *= own;
  }
  return from.elements[static_cast<size_t>(index)];
}

template <typename T>
void evaluate(const json& description, const scopevm_external_run& run) {
  std::vector<Dense<T>> values;
  for (size_t i = 0; i < run.operand_count; ++i) {
    const DLTensor& tensor = run.operands[i];
    Dense<T>& value = values.emplace_back();
    value.dims.assign(tensor.shape, tensor.shape + tensor.ndim);
    const T* data = static_cast<const T*>(tensor.data);
    value.elements.assign(data, data + count_of(value.dims));
  }
  std::memset(run.workspace, 0xAB, static_cast<size_t>(run.workspace_bytes));
  for (const json& op : description["ops"]) {
    const Dense<T>& a = values[op["operands"][0].get<size_t>()];
    const Dense<T>& b = values[op["operands"].back().get<size_t>()];
    Dense<T> result{broadcast(a.dims, b.dims), {}};
    for (int64_t i = 0; i < count_of(result.dims); ++i)
      result.elements.push_back(compute(op["op"].get<std::string>(), element(a, result.dims, i),
                                        element(b, result.dims, i)));
    values.push_back(std::move(result));
  }
  for (size_t i = 0; i < run.result_count; ++i) {
    const Dense<T>& value = values[description["results"][i].get<size_t>()];
    if (!value.elements.empty())
      std::memcpy(run.results[i].data, value.elements.data(), value.elements.size() * sizeof(T));
  }
}

// The name of a dim, or "1": the workspace of a function depends on it.
std::string dim_of(const json& description) {
  for (const json& operand : description["operands"])
    for (const json& dim : operand["dims"])
      if (dim.is_string() && dim.get<std::string>().find_first_of("*+-(") == std::string::npos)
        return dim;
  return "1";
}

int accept(void*, scopevm_external_query* query) {
  static std::atomic<int> queries = 0;
  if (queries++ % 3 == 2) {
    std::snprintf(query->message, query->message_size, "every third function is refused");
    return static_cast<int>(StatusCode::kUnsupported);
  }
  const std::string workspace = "100*" + dim_of(json::parse(query->description)) + "*$threads";
  std::snprintf(query->workspace, query->workspace_size, "%s", workspace.c_str());
  return 0;
}

int create(void*, const char*, const char* description, void** out_function, char*, size_t) {
  *out_function = std::make_unique<json>(json::parse(description)).release();
  return 0;
}

void destroy(void*, void* function) { delete static_cast<json*>(function); }

int run(void*, void* function, const scopevm_external_run* run) {
  const json& description = *static_cast<const json*>(function);
  ++runs;
  const std::string type = description["operands"][0]["dtype"];
  if (type == "f32") evaluate<float>(description, *run);
  if (type == "f64") evaluate<double>(description, *run);
  if (type == "i32") evaluate<int32_t>(description, *run);
  return 0;
}

}  // namespace

const scopevm_external_library& external_ops(bool merges_parts) {
  static const std::string patterns = all_patterns();
  static const auto library = [](int merges) {
    return scopevm_external_library{.struct_size = sizeof(scopevm_external_library),
                                    .abi_version = SCOPEVM_EXTERNAL_ABI_VERSION,
                                    .name = "property",
                                    .context = nullptr,
                                    .patterns = patterns.c_str(),
                                    .accept = accept,
                                    .create = create,
                                    .destroy = destroy,
                                    .run = run,
                                    .merges_parts = merges};
  };
  static const scopevm_external_library separate = library(0), merging = library(1);
  return merges_parts ? merging : separate;
}

int64_t external_runs() { return runs; }

}  // namespace scopevm::compiler::property
