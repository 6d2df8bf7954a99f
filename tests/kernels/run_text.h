// Assembly of graphs and of their attributes, and its execution.
#pragma once

#include <gtest/gtest.h>

#include "tests/kernels/kernel_runner.h"

namespace scopevm::compiler::testing {

// Runs a graph in MLIR assembly on arrays. An error fails the test with its message.
inline std::vector<Array> run_text(const std::string& text, const std::vector<Array>& inputs,
                                   const std::string& cpu = "host", int pieces = 3) {
  auto runner = KernelRunner::create(text, cpu);
  EXPECT_TRUE(runner.ok()) << runner.status().message();
  if (!runner.ok()) return {};
  auto outputs = (*runner)->run(inputs, {.pieces = pieces});
  EXPECT_TRUE(outputs.ok()) << outputs.status().message();
  return outputs.ok() ? *outputs : std::vector<Array>();
}

// Assembly of a list of integers, as attributes of ops have it.
inline std::string list(const std::vector<int64_t>& values) {
  std::string text = "array<i64: ";
  for (size_t i = 0; i < values.size(); ++i) text += (i ? ", " : "") + std::to_string(values[i]);
  return text + ">";
}

// Assembly of a function: `ops` computes %r of type `result` from the arguments.
inline std::string one_op(const std::string& arguments, const std::string& ops,
                          const std::string& result) {
  return "func.func @main(" + arguments + ") -> !sv.tensor<" + result + "> {\n  " + ops +
         "\n  return %r : !sv.tensor<" + result + ">\n}\n";
}

}  // namespace scopevm::compiler::testing
