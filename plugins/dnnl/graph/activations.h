// The activations that the library computes, as steps on the graph. patterns.cpp writes them as
// functions of graph ops; epilogue.cpp recognises the same steps in the description of a function.
#pragma once

#include <dnnl.hpp>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

namespace scopevm::onednn {

// An activation of the value x. Each step is an op and its operands: x, a number, or `%` with the
// index of an earlier step, such as "mul x %0".
struct ActivationRow {
  const char* name;
  std::initializer_list<std::string_view> steps;
  dnnl::algorithm function;
  float alpha = 0;
};

std::span<const ActivationRow> activation_rows();

struct Step {
  std::string_view op;
  std::vector<std::string_view> operands;
};
Step parse_step(std::string_view step);

// Operands of a step. The others are numbers.
inline bool is_argument(std::string_view operand) { return operand == "x"; }
inline bool is_step(std::string_view operand) { return operand[0] == '%'; }
inline size_t step_index(std::string_view operand) { return static_cast<size_t>(operand[1] - '0'); }

}  // namespace scopevm::onednn
