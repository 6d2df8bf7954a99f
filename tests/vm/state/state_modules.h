// Modules and calls of tests of states.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scopevm/state.h"
#include "tests/vm/modules/test_modules.h"
#include "vm/isa/opcodes.h"

namespace scopevm::test {

// main(a: f32[4], b: f32[4]) -> (ra, rb): returns two of these registers: 0: a, 1: b, 2: a view of
// b.
inline format::ModuleContents moving_contents(uint32_t ra, uint32_t rb) {
  format::ModuleContents contents = empty_contents();
  format::FunctionDecl main;
  main.name = "main";
  main.inputs = {{"a", DType::kF32, {"4"}}, {"b", DType::kF32, {"4"}}};
  main.outputs = {{"ra", DType::kF32, {"4"}}, {"rb", DType::kF32, {"4"}}};
  main.register_count = 3;
  CodeWriter code;
  code.add(static_cast<uint16_t>(isa::Opcode::alloc_view),
           {2, 1, static_cast<uint32_t>(DType::kF32), 1, 4});
  main.code = code.ret({ra, rb}).take();
  contents.functions = {main};
  return contents;
}

// main(a: f32[n], b: f32[m]) -> ra: f32[n], which is a. A state of b=ra has values of any size.
inline format::ModuleContents resizing_contents() {
  format::ModuleContents contents = moving_contents(0, 1);
  format::FunctionDecl& main = contents.functions[0];
  main.inputs = {{"a", DType::kF32, {"n"}}, {"b", DType::kF32, {"m"}}};
  main.outputs = {{"ra", DType::kF32, {"n"}}};
  main.dimensions = {{"n", 0, int64_t{1} << 31, 1}, {"m", 0, int64_t{1} << 31, 1}};
  main.register_count = 2;
  main.code = CodeWriter().ret({0}).take();
  return contents;
}

inline Tensor filled(float value, std::initializer_list<int64_t> dims) {
  Tensor tensor = *Tensor::allocate(DType::kF32, dims);
  for (float& element : tensor.elements<float>()) element = value;
  return tensor;
}

inline StateOptions rows(int64_t n) { return {.pairs = {{"y", "z"}}, .dims = {{"n", n}}}; }

// A call of sum_contents() with a state of y=z: z = (x + y) * 2.
inline Call stepping_call(const Session& session, const State& state, float x, int64_t n) {
  Call call = *session.make_call();
  EXPECT_TRUE(call.set_input("x", filled(x, {n, 4})).ok());
  EXPECT_TRUE(call.set_state(state).ok());
  return call;
}

// The elements of a value, which must be equal.
inline float value_of(const State& state, std::string_view input = "y") {
  const Result<Tensor> value = state.value(input);
  if (!value.ok()) {
    ADD_FAILURE() << value.status().message();
    return -1;
  }
  for (const float element : value->elements<float>())
    EXPECT_EQ(element, value->elements<float>()[0]);
  return value->elements<float>()[0];
}

inline std::string message_of(const Status& status) { return std::string(status.message()); }

}  // namespace scopevm::test
