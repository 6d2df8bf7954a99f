// Generates the patterns; see patterns.h. epilogue.cpp recognises the same activations.
#include "runtime/dnnl/patterns.h"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace scopevm::onednn {
namespace {

struct MainRow {
  const char* name;
  const char* op;
  const char* attributes;
  std::initializer_list<const char*> operands;  // their dims
  const char* result;                           // its dims
  bool has_epilogue;
};

constexpr const char* kConvolution =
    "{strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, group = 1 : "
    "i64} ";
constexpr const char* kPool =
    "{kernel = array<i64: 1>, strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = "
    "array<i64: 1>} ";

const MainRow kMain[] = {
    {"matmul", "matmul", "", {"m, k", "k, n"}, "m, n", true},
    {"conv", "conv", kConvolution, {"n, c, h", "m, c, 1"}, "n, m, h", true},
    {"conv_bias", "conv", kConvolution, {"n, c, h", "m, c, 1", "m"}, "n, m, h", true},
    {"max_pool", "max_pool", kPool, {"n, c, h"}, "n, c, h", false},
    {"average_pool", "average_pool", kPool, {"n, c, h"}, "n, c, h", false},
};

// An activation of the value x. Each step is an op and its operands: x, a number, or `%` with the
// index of an earlier step.
struct ActivationRow {
  const char* name;
  std::initializer_list<std::string_view> steps;
};

const ActivationRow kActivations[] = {
    {"", {}},
    {"relu", {"relu x"}},
    {"tanh", {"tanh x"}},
    {"sigmoid", {"sigmoid x"}},
    {"swish", {"sigmoid x", "mul x %0"}},
    {"relu6", {"max x 0.0", "min %0 6.0"}},
    {"hard_sigmoid", {"max x 0.0", "min %0 1.0"}},
    {"hard_swish", {"mul x 0.166666672", "add %0 0.5", "max %1 0.0", "min %2 1.0", "mul x %3"}},
    {"gelu_a", {"mul x 0.5", "mul x 0.707106769", "erf %1", "add %2 1.0", "mul %0 %3"}},
    {"gelu_b", {"mul x 0.707106769", "erf %0", "add %1 1.0", "mul x %2", "mul %3 0.5"}},
    {"gelu_c", {"mul x 0.707106769", "erf %0", "add %1 1.0", "mul %2 0.5", "mul x %3"}},
    {"gelu_d", {"mul x 0.5", "div x 1.41421354", "erf %1", "add %2 1.0", "mul %0 %3"}},
    {"gelu_e", {"div x 1.41421354", "erf %0", "add %1 1.0", "mul x %2", "mul %3 0.5"}},
    {"gelu_f", {"div x 1.41421354", "erf %0", "add %1 1.0", "mul %2 0.5", "mul x %3"}},
};

std::string type_of(std::string_view dims) { return "!sv.tensor<f32[" + std::string(dims) + "]>"; }

const std::string kScalar = "!sv.tensor<f32[]>";

// Writes one function.
class PatternWriter {
 public:
  explicit PatternWriter(const MainRow& main) : name_(main.name), type_(type_of(main.result)) {
    std::vector<std::string> operands, types;
    for (const char* dims : main.operands) {
      types.push_back(type_of(dims));
      operands.push_back(add_parameter(types.back()));
    }
    x_ = add_op(main.op, operands, types, main.attributes);
  }

  void write_addition() {
    name_ += "_add";
    x_ = add_op("add", {x_, add_parameter(type_)}, {type_, type_});
  }

  void write_activation(const ActivationRow& activation) {
    if (*activation.name == '\0') return;
    name_ += std::string("_") + activation.name;
    std::vector<std::string> steps;
    for (std::string_view step : activation.steps) steps.push_back(add_step(step, steps));
    x_ = steps.back();
  }

  std::string text() const {
    return "func.func @" + name_ + "(" + join(parameters_) + ") -> " + type_ + " {\n" + body_ +
           "  return " + x_ + " : " + type_ + "\n}\n";
  }

 private:
  std::string add_parameter(const std::string& type) {
    std::string name = "%a" + std::to_string(parameters_.size());
    parameters_.push_back(name + ": " + type);
    return name;
  }

  // Returns the name of the result.
  std::string add_op(std::string_view op, const std::vector<std::string>& operands,
                     const std::vector<std::string>& types, const char* attributes = "") {
    std::string name = "%v" + std::to_string(values_++);
    body_ += "  " + name + " = sv." + std::string(op) + " " + join(operands) + " " + attributes +
             ": (" + join(types) + ") -> " + type_ + "\n";
    return name;
  }

  std::string add_constant(std::string_view number) {
    std::string name = "%v" + std::to_string(values_++);
    body_ += "  " + name + " = sv.constant {value = dense<" + std::string(number) +
             "> : tensor<f32>} : " + kScalar + "\n";
    return name;
  }

  std::string add_step(std::string_view step, const std::vector<std::string>& earlier) {
    std::vector<std::string> operands, types;
    const std::string_view op = next_word(step);
    while (!step.empty()) {
      const std::string_view word = next_word(step);
      const bool is_number = word != "x" && word[0] != '%';
      types.push_back(is_number ? kScalar : type_);
      if (is_number)
        operands.push_back(add_constant(word));
      else
        operands.push_back(word == "x" ? x_ : earlier[static_cast<size_t>(word[1] - '0')]);
    }
    return add_op(op, operands, types);
  }

  // Removes the first word of `text`.
  static std::string_view next_word(std::string_view& text) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    return word;
  }

  static std::string join(const std::vector<std::string>& parts) {
    std::string text;
    for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
    return text;
  }

  std::string name_;
  std::string type_;  // of the result, and of every value but the operands of the main op
  std::string x_;     // the value so far
  std::vector<std::string> parameters_;
  std::string body_;
  int values_ = 0;
};

std::string all_patterns() {
  constexpr int kMaxAdditions = 2;  // a bias and a residual
  std::string text;
  for (const MainRow& main : kMain)
    for (int additions = 0; additions <= (main.has_epilogue ? kMaxAdditions : 0); ++additions)
      for (const ActivationRow& activation : kActivations) {
        if (!main.has_epilogue && *activation.name != '\0') continue;
        PatternWriter writer(main);
        for (int i = 0; i < additions; ++i) writer.write_addition();
        writer.write_activation(activation);
        text += writer.text();
      }
  return text;
}

}  // namespace

const char* patterns() {
  static const std::string text = all_patterns();
  return text.c_str();
}

}  // namespace scopevm::onednn
