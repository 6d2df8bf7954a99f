// Functions of a Program for tests of the memory and bytecode stages: built step by step, or at
// random.
#pragma once

#include <cstdint>
#include <random>

#include "compiler/program/program.h"

namespace scopevm::compiler::memory {

inline const Machine kHost = Machine::host();

// REQUIRES: the step is a launch.
inline step::Launch& launch(Step& step) { return *step.as<step::Launch>(); }

inline ValueId add_input(Function& function, std::vector<DimExpr> shape) {
  const ValueId id = function.values.next_index();
  function.values.push_back({.name = "in" + std::to_string(id.value),
                             .shape = std::move(shape),
                             .origin = ValueOrigin::kInput});
  function.inputs.push_back(id);
  return id;
}

// Appends a launch with one result.
inline ValueId add_step(Function& function, std::vector<ValueId> operands,
                        std::vector<DimExpr> shape) {
  const ValueId id = function.values.next_index();
  function.values.push_back({.name = "t" + std::to_string(id.value), .shape = std::move(shape)});
  function.steps.push_back(
      {.name = "s" + std::to_string(id.value), .operands = operands, .results = {id}});
  return id;
}

inline ValueId add_view(Function& function, ValueId of, std::vector<DimExpr> shape) {
  const ValueId id = function.values.next_index();
  function.values.push_back({.name = "w" + std::to_string(id.value),
                             .shape = std::move(shape),
                             .origin = ValueOrigin::kView,
                             .view_of = of});
  return id;
}

inline void add_output(Function& function, ValueId id) {
  function.output_names.push_back("out" + std::to_string(function.outputs.size()));
  function.outputs.push_back(id);
}

// A function of random launches over the dims n and m. Values can have several consumers. There are
// views, temporaries and in-place results, but no control flow.
inline Function random_function(uint32_t seed, int step_count) {
  std::mt19937 random(seed);
  DimExpr n = DimExpr::symbol("n"), m = DimExpr::symbol("m");
  Function function;
  function.dimensions = {{"n", 0, 4096, 1, 64}, {"m", 0, 4096, 1, 16}};
  std::vector<ValueId> alive = {add_input(function, {n, m})};
  for (int i = 0; i < step_count; ++i) {
    auto pick = [&] {
      return alive[alive.size() - 1 - random() % std::min<size_t>(alive.size(), 6)];
    };
    std::vector<ValueId> operands = {pick()};
    if (random() % 3 == 0) operands.push_back(pick());
    const std::vector<std::vector<DimExpr>> shapes = {
        {n, m}, {n, 2 * m}, {n * m}, {floordiv(n + 1, 2), m, 3}, {n, 7}, {5, m}, {100}};
    bool keeps_shape = random() % 3 == 0;
    ValueId id = add_step(
        function, operands,
        keeps_shape ? function.values[operands[0]].shape : shapes[random() % shapes.size()]);
    step::Launch& launch = memory::launch(function.steps.back());
    if (keeps_shape) launch.in_place.push_back({0, 0});
    if (random() % 4 == 0) launch.temporaries.push_back({n * 8, random() % 2 == 0, {}});
    alive.push_back(id);
    if (random() % 5 == 0)
      alive.push_back(add_view(function, id, {element_count(function.values[id].shape)}));
  }
  add_output(function, alive.back());
  return function;
}

}  // namespace scopevm::compiler::memory
