// The table of activations; see activations.h.
#include "plugins/dnnl/graph/activations.h"

#include <algorithm>

namespace scopevm::onednn {
namespace {

using dnnl::algorithm;

const ActivationRow kRows[] = {
    {"relu", {"relu x"}, algorithm::eltwise_relu},
    {"tanh", {"tanh x"}, algorithm::eltwise_tanh},
    {"sigmoid", {"sigmoid x"}, algorithm::eltwise_logistic},
    {"swish", {"sigmoid x", "mul x %0"}, algorithm::eltwise_swish, 1},
    {"relu6", {"max x 0.0", "min %0 6.0"}, algorithm::eltwise_clip},
    {"hard_sigmoid", {"max x 0.0", "min %0 1.0"}, algorithm::eltwise_clip},
    // x * clip(x / 6 + 1/2, 0, 1)
    {"hard_swish",
     {"mul x 0.166666672", "add %0 0.5", "max %1 0.0", "min %2 1.0", "mul x %3"},
     algorithm::eltwise_hardswish},
    // x / 2 * (erf(x / sqrt(2)) + 1), in the forms that exporters write
    {"gelu_a",
     {"mul x 0.5", "mul x 0.707106769", "erf %1", "add %2 1.0", "mul %0 %3"},
     algorithm::eltwise_gelu_erf},
    {"gelu_b",
     {"mul x 0.707106769", "erf %0", "add %1 1.0", "mul x %2", "mul %3 0.5"},
     algorithm::eltwise_gelu_erf},
    {"gelu_c",
     {"mul x 0.707106769", "erf %0", "add %1 1.0", "mul %2 0.5", "mul x %3"},
     algorithm::eltwise_gelu_erf},
    {"gelu_d",
     {"mul x 0.5", "div x 1.41421354", "erf %1", "add %2 1.0", "mul %0 %3"},
     algorithm::eltwise_gelu_erf},
    {"gelu_e",
     {"div x 1.41421354", "erf %0", "add %1 1.0", "mul x %2", "mul %3 0.5"},
     algorithm::eltwise_gelu_erf},
    {"gelu_f",
     {"div x 1.41421354", "erf %0", "add %1 1.0", "mul %2 0.5", "mul x %3"},
     algorithm::eltwise_gelu_erf},
};

// Removes the first word of `text`.
std::string_view next_word(std::string_view& text) {
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(std::min(text.size(), word.size() + 1));
  return word;
}

}  // namespace

std::span<const ActivationRow> activation_rows() { return kRows; }

Step parse_step(std::string_view step) {
  Step parsed{next_word(step), {}};
  while (!step.empty()) parsed.operands.push_back(next_word(step));
  return parsed;
}

}  // namespace scopevm::onednn
