// Implements sample_modules.h except for stack_module(), external_module() and are_equal(): builds
// the modules with the instruction encoder.
#include "tests/vm/format/sample_modules.h"

#include <cstring>
#include <numeric>

#include "vm/isa/encoder.h"

namespace scopevm::format {
namespace {

using isa::Encoder;
using isa::Int;
using isa::RegisterIndex;
namespace op = isa::op;

std::vector<DeviceDecl> one_device() { return {{"cpu", "cpu"}}; }

std::vector<PoolDecl> default_pools() {
  return {{"global", PoolKind::kHeap, 0, -1},
          {"global.workspace",
           PoolKind::kArena,
           0,
           int64_t{1} << 30,
           {},
           {12.5e9, 11.5e9, 2.5e-6, 64},
           256},
          {"global.constant", PoolKind::kConstant, 0, -1}};
}

template <typename T>
Bytes bytes_of_values(const std::vector<T>& values) {
  return aligned_copy(values.data(), values.size() * sizeof(T));
}

std::vector<float> ramp(size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 0.5F);
  return values;
}

// The code of dense_module(). Slots: 0: n; 1: grid; 2: bytes of x; 3: bytes of y; 4: bytes of the
// temporary.
std::vector<uint32_t> dense_code() {
  Encoder code;
  std::vector<RegisterIndex> inputs = {{0}};
  std::vector<RegisterIndex> buffers = {{0}, {1}, {4}, {5}};
  std::vector<RegisterIndex> results = {{4}};
  std::vector<Int> result_dims = {Int::slot({0}), Int::immediate(4)};
  std::vector<Int> scratch_dims = {Int::slot({4})};
  code.emit(op::shape_function{.function = {0}, .inputs = inputs});
  code.emit(op::load_const{.dst = {1}, .constant = {0}});
  code.emit(op::alloc_storage{.dst = {2}, .from = {0}, .size = Int::slot({3})});
  code.emit(op::alloc_storage{.dst = {3}, .from = {1}, .size = Int::slot({4})});
  code.emit(op::alloc_tensor{.dst = {4},
                             .storage = {2},
                             .offset = Int::immediate(0),
                             .bytes = Int::slot({3}),
                             .dtype = DType::kF32,
                             .dims = result_dims});
  code.emit(op::alloc_tensor{.dst = {5},
                             .storage = {3},
                             .offset = Int::immediate(0),
                             .bytes = Int::slot({4}),
                             .dtype = DType::kU8,
                             .dims = scratch_dims});
  code.emit(op::launch{.entry = {0}, .buffers = buffers});
  code.emit(op::kill{.value = {3}});
  code.emit(op::kill{.value = {5}});
  code.emit(op::ret{.values = results});
  return *code.finish();
}

// A function with one f32[n] input and one f32[n] output.
FunctionDecl vector_function(const char* name, uint32_t registers, uint32_t slots) {
  FunctionDecl function;
  function.name = name;
  function.inputs = {{"x", DType::kF32, {"n"}}};
  function.outputs = {{"y\n\"quoted\"", DType::kF32, {"n"}}};
  function.dimensions = {{"n", 1, 4096, 1}};
  function.register_count = registers;
  function.slot_count = slots;
  return function;
}

// The code of main in branching_module(): a branch that allocates register 1 on both paths, a view,
// a loop that calls function 1, and a copy to device 1.
std::vector<uint32_t> branching_code() {
  Encoder code;
  Encoder::Label small = code.new_label();
  Encoder::Label large = code.new_label();
  Encoder::Label join = code.new_label();
  Encoder::Label again = code.new_label();
  Encoder::Label done = code.new_label();
  std::vector<RegisterIndex> x = {{0}};
  std::vector<RegisterIndex> called = {{4}};
  std::vector<RegisterIndex> result = {{2}};
  std::vector<Int> dims = {Int::slot({0})};
  std::vector<Int> flat = {Int::slot({1}), Int::immediate(1)};
  code.emit(op::shape_function{.function = {0}, .inputs = x});
  code.emit(op::load_dim{.dst = {5}, .of = {0}, .axis = Int::immediate(0)});
  code.emit(op::branch{.condition = Int::slot({2}),
                       .then_to = Encoder::target(small),
                       .else_to = Encoder::target(large)});
  code.bind(small);
  code.emit(op::alloc_storage{.dst = {1}, .from = {0}, .size = Int::immediate(16384)});
  code.emit(op::jump{.to = Encoder::target(join)});
  code.bind(large);
  code.emit(op::alloc_storage{.dst = {1}, .from = {0}, .size = Int::slot({3})});
  code.bind(join);
  code.emit(op::alloc_tensor{.dst = {2},
                             .storage = {1},
                             .offset = Int::immediate(0),
                             .bytes = Int::slot({3}),
                             .dtype = DType::kF32,
                             .dims = dims});
  code.emit(op::alloc_view{.dst = {3}, .of = {2}, .dtype = DType::kI32, .dims = flat});
  code.bind(again);
  code.emit(op::call{.callee = {1}, .arguments = x, .results = called});
  code.emit(op::branch{.condition = Int::slot({4}),
                       .then_to = Encoder::target(again),
                       .else_to = Encoder::target(done)});
  code.bind(done);
  code.emit(op::alloc_storage{.dst = {5}, .from = {3}, .size = Int::slot({3})});
  code.emit(op::alloc_tensor{.dst = {6},
                             .storage = {5},
                             .offset = Int::immediate(0),
                             .bytes = Int::slot({3}),
                             .dtype = DType::kF32,
                             .dims = dims});
  code.emit(op::device_copy{.to = {6}, .to_pool = {3}, .from = {2}, .from_pool = {0}});
  code.emit(op::kill{.value = {5}});
  code.emit(op::ret{.values = result});
  return *code.finish();
}

std::vector<uint32_t> forwarding_code() {
  Encoder code;
  Encoder::Label bad = code.new_label();
  Encoder::Label good = code.new_label();
  std::vector<RegisterIndex> result = {{1}};
  code.emit(op::load_dim{.dst = {0}, .of = {0}, .axis = Int::immediate(0)});
  code.emit(op::branch{.condition = Int::slot({0}),
                       .then_to = Encoder::target(good),
                       .else_to = Encoder::target(bad)});
  code.bind(bad);
  code.emit(op::fail{.text = {0}});
  code.bind(good);
  code.emit(op::move{.dst = {1}, .from = {0}});
  code.emit(op::ret{.values = result});
  return *code.finish();
}

// Contains each list instruction once. Returns a list of the element that list_get reads.
FunctionDecl list_function() {
  Encoder code;
  std::vector<RegisterIndex> got = {{2}};
  std::vector<RegisterIndex> made = {{3}};
  code.emit(op::list_size{.dst = {0}, .list = {0}});
  code.emit(
      op::list_get{.dst = {2}, .list = {0}, .index = Int::slot({1}), .rank = Int::immediate(2)});
  code.emit(op::list_erase{.list = {0}, .from = {0}, .index = Int::immediate(0)});
  code.emit(op::list_append{.list = {0}, .from = {0}, .element = {2}});
  code.emit(op::list_insert{.list = {0}, .from = {0}, .element = {2}, .index = Int::immediate(1)});
  code.emit(op::make_list{
      .dst = {3}, .from = {0}, .depth = Int::immediate(1), .dtype = DType::kF32, .elements = got});
  code.emit(op::ret{.values = made});
  FunctionDecl function;
  function.name = "lists";
  function.inputs = {{"xs", DType::kF32, {kAnyDim, "4"}, ValueKind::kSequence},
                     {"o", DType::kI64, {kAnyDims}, ValueKind::kOptionalSequence}};
  function.outputs = {{"ys", DType::kF32, {kAnyDim, kAnyDim}, ValueKind::kOptional}};
  function.register_count = 4;
  function.slot_count = 2;
  function.code = *code.finish();
  return function;
}

// Captures x in a closure of function 1, calls this closure without arguments, and passes the
// result to the closure in input f.
FunctionDecl closure_function() {
  Encoder code;
  std::vector<RegisterIndex> x = {{1}}, first = {{3}}, second = {{4}};
  std::vector<Int> vector = {Int::immediate(isa::ValueType{DType::kF32, 1}.word())};
  code.emit(op::make_closure{.dst = {2}, .from = {0}, .callee = {1}, .captured = x});
  code.emit(op::call_closure{.closure = {2}, .types = vector, .results = first});
  code.emit(
      op::call_closure{.closure = {0}, .arguments = first, .types = vector, .results = second});
  code.emit(op::ret{.values = second});
  FunctionDecl function;
  function.name = "closures";
  function.inputs = {{"f", DType::kF32, {}, ValueKind::kClosure}, {"x", DType::kF32, {"4"}}};
  function.outputs = {{"y", DType::kF32, {"4"}}};
  function.register_count = 5;
  function.code = *code.finish();
  return function;
}

}  // namespace

Bytes bytes_of(std::string_view text) { return aligned_copy(text.data(), text.size()); }

ModuleContents dense_module() {
  ModuleContents module;
  module.producer = "scopevm test";
  module.devices = one_device();
  module.pools = default_pools();
  module.kernels = {{"k_dense", 4, 2}};
  module.launches = {
      {.kernel = 0,
       .params = {0},
       .grid = Int::slot({1}),
       .grain = Int::immediate(16),
       .bytes = {Int::slot({2}), Int::immediate(128), Int::slot({3}), Int::slot({4})},
       .read_only = 2,
       .shape_function = 0}};
  module.shape_functions = {
      {"shape_main",
       5,
       2,
       {{"main: input \"x\" dim 1 is {0}, expected {1}", 0, 1},
        {"main: {0} is not {1}, where n is {2} and m is {3}", 0, 1, {4, 2}}}}};
  module.constants = {{"fc.weight", DType::kF32, {8, 4}, 2, bytes_of_values(ramp(32))},
                      {"fc.scale", DType::kF32, {3}, 2, bytes_of_values(ramp(3))},
                      {"empty", DType::kI64, {0, 7}, 2, {}}};
  module.images = {{{0},
                    "x86-64-v4",
                    {"avx512f", "avx512bw"},
                    bytes_of("\x7f"
                             "ELF, for v4")},
                   {{0},
                    "x86-64",
                    {},
                    bytes_of("\x7f"
                             "ELF, for every x86-64"),
                    2}};
  module.sections = {{"note", false, bytes_of("a section that readers skip")},
                     {"x-1.b_c", false, {}}};
  FunctionDecl main;
  main.name = "main";
  main.inputs = {{"x", DType::kF32, {"n", "8"}}};
  main.outputs = {{"y", DType::kF32, {"n", "4"}}};
  main.dimensions = {{"n", 1, 512, 1}};
  main.register_count = 6;
  main.slot_count = 5;
  main.code = dense_code();
  main.memory = {{1, "workspace", false, 4, 4, "64*n", false}, {0, "y", true, 3, 3, "16*n", false}};
  main.sources = {{32, "fc+relu"}};
  main.definitions = {{"A", "64*n"}};
  module.functions = {main};
  return module;
}

ModuleContents branching_module() {
  ModuleContents module;
  module.producer = "scopevm test";
  module.devices = {{"cpu", "cpu"}, {"gpu 0", "opencl", 64, 3}, {"gpu 1", "opencl", 64, 4}};
  module.pools = default_pools();
  module.pools.push_back({"global", PoolKind::kHeap, 1, -1, {2}});
  module.pools.push_back({.scope = "global.pinned", .alignment = 4096, .pinned_for = 1});
  module.kernels = {{"k_gpu", 2, 1, 2}};
  module.shape_functions = {{"shape_main", 5, 1, {}}, {"shape_main.1", 5, 0, {}, 2, 0}};
  module.images = {{{0},
                    "x86-64",
                    {},
                    bytes_of("\x7f"
                             "ELF")},
                   {{1, 2}, "", {"cl_khr_fp16"}, bytes_of("__kernel void k() {}")}};
  module.messages = {"no element: \"n\" is 0"};
  FunctionDecl main = vector_function("main", 7, 6);
  main.code = branching_code();
  main.memory = {{0, "y", true, 3, 3, "4*n", true}, {3, "copy", false, 3, 3, "4*n", true}};
  FunctionDecl forward = vector_function("forward \xC3\xA9", 2, 1);
  forward.code = forwarding_code();
  module.functions = {main, forward, list_function(), closure_function()};
  return module;
}

ModuleContents variant_module() {
  ModuleContents module = dense_module();
  FunctionDecl fixed = module.functions[0];
  fixed.name = "main[n=1]";
  fixed.inputs[0].dims[0] = "1";
  fixed.dimensions.clear();
  module.functions.push_back(std::move(fixed));
  module.variants = {{1, {{"n", 1, 1, 1}}}};
  return module;
}

namespace {

// Allocates a tensor of n elements in register `dst`. Slot 0 is n, slot 1 the bytes of its storage.
void emit_vector(Encoder& code, uint32_t dst, DType dtype) {
  std::vector<Int> dims = {Int::slot({0})};
  code.emit(op::alloc_storage{.dst = {dst}, .from = {0}, .size = Int::slot({1})});
  code.emit(op::alloc_tensor{.dst = {dst},
                             .storage = {dst},
                             .offset = Int::immediate(0),
                             .bytes = Int::slot({1}),
                             .dtype = dtype,
                             .dims = dims});
}

}  // namespace

ModuleContents string_module() {
  ModuleContents module;
  module.producer = "scopevm test";
  module.devices = one_device();
  module.pools = default_pools();
  module.strings = {"", "a \"text\"", "b\n", "\xC3\xA9", std::string("z\0", 2)};
  module.constants = {
      {"words", DType::kStr, {2, 2}, 2, bytes_of({"\1\0\0\0\0\0\0\0\3\0\0\0\2\0\0\0", 16})}};
  Encoder code;
  std::vector<RegisterIndex> result = {{4}};
  code.emit(op::load_const{.dst = {5}, .constant = {0}});
  emit_vector(code, 1, DType::kF64);
  code.emit(op::string_to_number{.to = {1}, .from = {0}});
  emit_vector(code, 2, DType::kStr);
  code.emit(op::number_to_string{.to = {2}, .from = {1}});
  emit_vector(code, 4, DType::kStr);
  code.emit(op::change_case{.to = {4}, .from = {2}, .upper = Int::immediate(1)});
  code.emit(op::concat_strings{.to = {4}, .a = {4}, .b = {2}});
  code.emit(
      op::split_strings{.to = {4}, .from = {2}, .delimiter = {5}, .max_splits = Int::immediate(1)});
  emit_vector(code, 6, DType::kI32);
  code.emit(
      op::count_pieces{.to = {6}, .from = {2}, .delimiter = {5}, .max_splits = Int::immediate(1)});
  code.emit(op::match_strings{.to = {6}, .from = {2}, .automaton = {6}});
  code.emit(op::ret{.values = result});
  FunctionDecl main = vector_function("main", 7, 2);
  main.inputs[0].dtype = main.outputs[0].dtype = DType::kStr;
  main.code = *code.finish();
  module.functions = {main};
  return module;
}

}  // namespace scopevm::format
