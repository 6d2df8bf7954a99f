// Short functions that tests verify, and the module that contains them.
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "tests/vm/format/sample_modules.h"
#include "tests/vm/format/verify/error_of.h"
#include "vm/isa/encoder.h"

namespace scopevm::format::verify_tests {

using isa::Encoder;
using isa::Int;
using isa::RegisterIndex;
namespace op = isa::op;

// Writes the code of a function.
using EmitCode = std::function<void(Encoder&)>;

// A module with at least one entry in each table that instructions refer to. Function "main" has
// the code that `emit` writes, 5 registers and 5 slots. Register 0 is the input x: f32[n, 8].
inline ModuleContents module_with(const EmitCode& emit) {
  ModuleContents module = dense_module();
  module.devices.push_back({"gpu", "opencl", 64});
  module.pools.push_back({"global", PoolKind::kHeap, 1, -1});  // pool 3
  module.messages = {"message"};
  module.kernels = {{"k", 1, 2}, {"two", 2, 0}};
  module.launches = {
      {.kernel = 0, .bytes = {Int::immediate(4)}, .read_only = 1, .shape_function = 0},
      {.kernel = 1, .bytes = {Int::immediate(4), Int::immediate(4)}}};
  FunctionDecl& main = module.functions[0];
  main.outputs = {{"y", DType::kF32, {"n", "8"}}};
  main.register_count = 5;
  main.sources = {};
  main.memory = {};
  Encoder code;
  emit(code);
  main.code = *code.finish();
  return module;
}

inline std::string code_error(const EmitCode& emit) { return error_of(module_with(emit)); }

inline const std::vector<RegisterIndex> kInput = {{0}};
inline const std::vector<RegisterIndex> kFirst = {{1}};
inline const std::vector<RegisterIndex> kNone = {};

inline void emit_ret(Encoder& code) { code.emit(op::ret{.values = kInput}); }

inline void emit_storage(Encoder& code, uint32_t dst, uint32_t pool, Int size = Int::slot({0})) {
  code.emit(op::alloc_storage{.dst = {dst}, .from = {pool}, .size = size});
}

inline void emit_tensor(Encoder& code, uint32_t dst, uint32_t storage,
                        const std::vector<Int>& dims = {Int::slot({0}), Int::immediate(8)}) {
  code.emit(op::alloc_tensor{.dst = {dst},
                             .storage = {storage},
                             .offset = Int::immediate(0),
                             .bytes = Int::slot({1}),
                             .dtype = DType::kF32,
                             .dims = dims});
}

inline void emit_list(Encoder& code, uint32_t dst, const std::vector<RegisterIndex>& elements,
                      int64_t depth, uint32_t pool = 0) {
  code.emit(op::make_list{.dst = {dst},
                          .from = {pool},
                          .depth = Int::immediate(depth),
                          .dtype = DType::kF32,
                          .elements = elements});
}

inline void emit_get(Encoder& code, uint32_t dst, uint32_t list, int64_t rank) {
  code.emit(op::list_get{
      .dst = {dst}, .list = {list}, .index = Int::slot({0}), .rank = Int::immediate(rank)});
}

// Code, and the error with which verify() rejects it; empty if verify() accepts it.
struct Code {
  const char* name;
  EmitCode emit;
  const char* error;
};

inline void PrintTo(const Code& code, std::ostream* out) { *out << code.name; }

}  // namespace scopevm::format::verify_tests
