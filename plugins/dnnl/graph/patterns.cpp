// Generates the patterns; see patterns.h.
#include "plugins/dnnl/graph/patterns.h"

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/dnnl/graph/activations.h"

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

  std::string add_step(std::string_view text, const std::vector<std::string>& earlier) {
    const Step step = parse_step(text);
    std::vector<std::string> operands, types;
    for (std::string_view operand : step.operands) {
      const bool is_number = !is_argument(operand) && !is_step(operand);
      types.push_back(is_number ? kScalar : type_);
      operands.push_back(is_number              ? add_constant(operand)
                         : is_argument(operand) ? x_
                                                : earlier[step_index(operand)]);
    }
    return add_op(step.op, operands, types);
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

// The function of a main op, additions and an activation; null: none.
std::string pattern(const MainRow& main, int additions, const ActivationRow* activation) {
  PatternWriter writer(main);
  for (int i = 0; i < additions; ++i) writer.write_addition();
  if (activation != nullptr) writer.write_activation(*activation);
  return writer.text();
}

std::string all_patterns() {
  constexpr int kMaxAdditions = 2;  // a bias and a residual
  std::string text;
  for (const MainRow& main : kMain)
    for (int additions = 0; additions <= (main.has_epilogue ? kMaxAdditions : 0); ++additions) {
      text += pattern(main, additions, nullptr);
      if (!main.has_epilogue) continue;
      for (const ActivationRow& activation : activation_rows())
        text += pattern(main, additions, &activation);
    }
  return text;
}

}  // namespace

const char* patterns() {
  static const std::string text = all_patterns();
  return text.c_str();
}

}  // namespace scopevm::onednn
