// Recognises epilogues; see epilogue.h.
//
// An activation can consist of several ops: gelu has five. The ops after a value x are written as
// an expression of x, with `#` for constants: "mul(sigmoid(x),x)". The activations of
// activations.cpp are written in the same form, and expressions are compared. The operands of
// commutative ops are sorted, so that their order in the graph is insignificant.
#include "plugins/dnnl/graph/epilogue.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "plugins/dnnl/graph/activations.h"

namespace scopevm::onednn {
namespace {

using dnnl::algorithm;

// An expression of x, and its constants in the order of the `#` in `text`. The text is empty if
// the value is not an expression of x and constants.
struct Expression {
  std::string text;
  std::vector<float> constants;
};

bool is_commutative(std::string_view name) {
  return name == "add" || name == "mul" || name == "max" || name == "min";
}

constexpr size_t kMaxText = 128;  // longer than the expression of any activation

// The expression of an op, from those of its operands.
Expression compose(std::string_view op, std::vector<Expression> operands) {
  if (is_commutative(op))
    std::sort(operands.begin(), operands.end(),
              [](const Expression& a, const Expression& b) { return a.text < b.text; });
  Expression whole{std::string(op) + "(", {}};
  for (const Expression& part : operands) {
    if (part.text.empty() || whole.text.size() + part.text.size() > kMaxText) return {};
    whole.text += (&part == operands.data() ? "" : ",") + part.text;
    whole.constants.insert(whole.constants.end(), part.constants.begin(), part.constants.end());
  }
  whole.text += ")";
  return whole;
}

Expression expression_of(const ActivationRow& row) {
  std::vector<Expression> steps;
  for (std::string_view text : row.steps) {
    const Step step = parse_step(text);
    std::vector<Expression> operands;
    for (std::string_view operand : step.operands)
      operands.push_back(is_argument(operand) ? Expression{"x", {}}
                         : is_step(operand)   ? steps[step_index(operand)]
                                              : Expression{"#", {std::stof(std::string(operand))}});
    steps.push_back(compose(step.op, std::move(operands)));
  }
  return steps.back();
}

struct KnownActivation {
  Expression expression;
  Activation activation;
};

// The activations of the table, except clips, whose bounds are arbitrary: kClips.
std::vector<KnownActivation> known_activations() {
  std::vector<KnownActivation> known;
  for (const ActivationRow& row : activation_rows())
    if (row.function != algorithm::eltwise_clip)
      known.push_back({expression_of(row), {row.function, row.alpha, 0}});
  return known;
}

constexpr int kNone = -1;

// Clipping to the constants `low` and `high` of the expression; kNone: no bound.
struct ClipRow {
  const char* text;
  int low;
  int high;
};
constexpr ClipRow kClips[] = {{"max(#,x)", 0, kNone},
                              {"min(#,x)", kNone, 0},
                              {"min(#,max(#,x))", 1, 0},
                              {"max(#,min(#,x))", 0, 1}};

// Constants of models are rounded to f32 at different places.
bool nearly_equal(float a, float b) { return std::abs(a - b) <= 1e-5F * std::abs(b); }

std::optional<Activation> find_activation(const Expression& expression) {
  static const std::vector<KnownActivation> activations = known_activations();
  const std::vector<float>& constants = expression.constants;
  for (const auto& [known, activation] : activations)
    if (known.text == expression.text &&
        std::equal(constants.begin(), constants.end(), known.constants.begin(), nearly_equal))
      return activation;
  for (const ClipRow& row : kClips) {
    if (row.text != expression.text) continue;
    const float largest = std::numeric_limits<float>::max();
    const float low = row.low == kNone ? -largest : constants[static_cast<size_t>(row.low)];
    const float high = row.high == kNone ? largest : constants[static_cast<size_t>(row.high)];
    if (low == 0 && row.high == kNone) return Activation{algorithm::eltwise_relu, 0, 0};
    if (low <= high) return Activation{algorithm::eltwise_clip, low, high};
  }
  return std::nullopt;
}

// The element of a constant whose elements are all equal.
std::optional<float> splat_of(const Op& op) {
  auto value = op.attributes.find("value");
  if (op.name != "constant" || value == op.attributes.end() || !value->is_number())
    return std::nullopt;
  return value->get<float>();
}

class EpilogueParser {
 public:
  EpilogueParser(const Description& description, size_t main, size_t channel_axis,
                 Epilogue& epilogue)
      : description_(description),
        channel_axis_(channel_axis),
        epilogue_(epilogue),
        next_(main + 1),
        value_(description.operands.size() + main) {}

  Status parse() {
    while (next_ < description_.ops.size()) {
      const Op& op = description_.ops[next_];
      if (splat_of(op)) {
        ++next_;
      } else if (auto added = added_operand(op)) {
        SCOPEVM_RETURN_IF_ERROR(add(*added, op));
      } else {
        SCOPEVM_RETURN_IF_ERROR(parse_activation());
      }
    }
    if (description_.results == std::vector{value_}) return {};
    return {StatusCode::kUnsupported, "the result is not the value of the last op"};
  }

 private:
  Status unsupported(const Op& op, const std::string& what) const {
    const auto index = static_cast<size_t>(&op - description_.ops.data());
    return {StatusCode::kUnsupported,
            "op " + std::to_string(index) + " (\"" + op.name + "\"): " + what};
  }

  // The operand of the function that `op` adds to the current value, if it is such an addition.
  std::optional<size_t> added_operand(const Op& op) const {
    if (op.name != "add" || op.operands.size() != 2) return std::nullopt;
    for (size_t i : {size_t{0}, size_t{1}})
      if (op.operands[i] == value_ && op.operands[1 - i] < description_.operands.size())
        return op.operands[1 - i];
    return std::nullopt;
  }

  // True if `dims` are those of a bias: 1, except for the dim of the channels.
  bool is_bias(const std::vector<std::string>& dims) const {
    const std::vector<std::string>& result = description_.type(value_).dims;
    if (dims.size() > result.size()) return false;
    const size_t skipped = result.size() - dims.size();
    if (channel_axis_ < skipped) return false;
    for (size_t i = 0; i < dims.size(); ++i)
      if (dims[i] != (i + skipped == channel_axis_ ? result[channel_axis_] : "1")) return false;
    return true;
  }

  Status add(size_t operand, const Op& op) {
    const Type& added = description_.type(operand);
    if (op.type.dims != description_.type(value_).dims)
      return unsupported(op, "the addition broadcasts its first operand");
    if (is_used_after(next_, value_, value_))
      return unsupported(op, "its operand is used by another op");
    if (!epilogue_.activations.empty()) return unsupported(op, "an addition after an activation");
    if (!epilogue_.bias && !epilogue_.residual && is_bias(added.dims)) {
      epilogue_.bias = operand;
    } else if (!epilogue_.residual && added.dims == op.type.dims) {
      epilogue_.residual = operand;
    } else {
      return unsupported(op, "operand of dims " + text_of(added.dims) +
                                 " is neither a bias nor a residual of the result " +
                                 text_of(op.type.dims));
    }
    value_ = description_.operands.size() + next_++;
    return {};
  }

  // True if an op after `op`, or the results, use a value in [first, last].
  bool is_used_after(size_t op, size_t first, size_t last) const {
    auto uses = [&](const std::vector<size_t>& values) {
      return std::any_of(values.begin(), values.end(),
                         [&](size_t v) { return v >= first && v <= last; });
    };
    if (uses(description_.results)) return true;
    return std::any_of(description_.ops.begin() + static_cast<ptrdiff_t>(op) + 1,
                       description_.ops.end(), [&](const Op& o) { return uses(o.operands); });
  }

  Expression expression_of_value(size_t value, const std::vector<Expression>& known) const {
    if (value == value_) return {"x", {}};
    const size_t operands = description_.operands.size();
    if (value < operands) return {};
    if (auto splat = splat_of(description_.ops[value - operands])) return {"#", {*splat}};
    return value < value_ ? Expression() : known[value - value_];
  }

  Expression compose_op(const Op& op, const std::vector<Expression>& known) const {
    std::vector<Expression> parts;
    for (size_t operand : op.operands) parts.push_back(expression_of_value(operand, known));
    return compose(op.name, std::move(parts));
  }

  // Finds the longest activation of the current value whose inner values have no other uses.
  Status parse_activation() {
    const size_t operands = description_.operands.size();
    std::vector<Expression> known(1);  // of the values from value_ on
    std::optional<Activation> longest;
    size_t end = 0;
    for (size_t i = value_ - operands + 1; i < description_.ops.size(); ++i) {
      const Op& op = description_.ops[i];
      known.push_back(splat_of(op) ? Expression() : compose_op(op, known));
      if (known.back().text.empty() || op.type.dims != description_.type(value_).dims) continue;
      auto activation = find_activation(known.back());
      if (!activation || is_used_after(i, value_, operands + i - 1)) continue;
      longest = activation;
      end = i;
    }
    if (!longest) return unsupported(description_.ops[next_], "not an epilogue of oneDNN");
    epilogue_.activations.push_back(*longest);
    value_ = operands + end;
    next_ = end + 1;
    return {};
  }

  const Description& description_;
  size_t channel_axis_;
  Epilogue& epilogue_;
  size_t next_;   // the first op that is not parsed
  size_t value_;  // the value of the ops before it
};

}  // namespace

Status parse_epilogue(const Description& description, size_t main, size_t channel_axis,
                      Epilogue& epilogue) {
  return EpilogueParser(description, main, channel_axis, epilogue).parse();
}

}  // namespace scopevm::onednn
