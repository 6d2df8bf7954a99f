#include "tests/vm/modules/test_modules.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>

#include "vm/api/module_access.h"
#include "vm/format/binary/launch_checksum.h"
#include "vm/format/binary/writer.h"
#include "vm/format/verify/verify.h"
#include "vm/isa/opcodes.h"

namespace scopevm::test {
namespace {

using isa::Opcode;

constexpr uint16_t code(Opcode opcode) { return static_cast<uint16_t>(opcode); }
constexpr uint32_t slot(uint32_t index) { return CodeWriter::slot(index); }

format::Bytes own(std::vector<uint8_t> bytes) {
  auto owner = std::make_shared<std::vector<uint8_t>>(std::move(bytes));
  return {owner, owner->data(), owner->size()};
}

std::vector<uint8_t> read_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

format::Bytes float_bytes(float value) {
  std::vector<uint8_t> bytes(64);
  std::memcpy(bytes.data(), &value, sizeof value);
  format::Bytes owned = own(std::move(bytes));
  owned.size = sizeof value;
  return owned;
}

// The value of scopevm_launch_checksum in kernels.c.
constexpr uint64_t kUnsealed = 0x5ea1ed5ea1ed5ea1;

constexpr isa::Int int_slot(uint32_t index) { return isa::Int::slot({index}); }

// A function of sum_contents() or variant_contents(): z = (x + y) times constant `constant`. Its
// shape function has the index `shape_function`, and its launches are the next ones of `contents`.
format::FunctionDecl sum_function(const char* name, uint32_t shape_function, uint32_t constant,
                                  format::ModuleContents& contents) {
  const auto add = static_cast<uint32_t>(contents.launches.size());
  const auto scale = add + 1;
  const isa::Int bytes = int_slot(0);
  for (const uint32_t kernel : {kAdd, kScale})
    contents.launches.push_back({.kernel = kernel,
                                 .params = {0},
                                 .grid = int_slot(2),
                                 .grain = {64},
                                 .bytes = {bytes, kernel == kAdd ? bytes : isa::Int{4}, bytes},
                                 .read_only = 2,
                                 .shape_function = static_cast<int32_t>(shape_function)});
  CodeWriter code_writer;
  code_writer.add(code(Opcode::shape_function), {shape_function, 2, 0, 1})
      .alloc_storage(2, 1, slot(1))
      .alloc_tensor(3, 2, 0, slot(0), DType::kF32, {slot(3), 4})
      .launch(add, {0, 1, 3})
      .add(code(Opcode::load_const), {4, constant})
      .alloc_storage(5, 0, slot(0))
      .alloc_tensor(6, 5, 0, slot(0), DType::kF32, {slot(3), 4})
      .launch(scale, {3, 4, 6})
      .add(code(Opcode::kill), {3})
      .add(code(Opcode::kill), {2})
      .ret({6});
  format::FunctionDecl function;
  function.name = name;
  function.inputs = {{"x", DType::kF32, {"n", "4"}}, {"y", DType::kF32, {"n", "4"}}};
  function.outputs = {{"z", DType::kF32, {"n", "4"}}};
  function.dimensions = {{"n", 0, int64_t{1} << 31, 1, /*is_batch=*/true}};
  function.register_count = 7;
  function.slot_count = 6;
  function.code = code_writer.take();
  function.memory = {{1, "workspace", false, 1, 5, "16*n + 64*$threads"},
                     {0, "z", true, 0, 0, "16*n"}};
  return function;
}

}  // namespace

CodeWriter& CodeWriter::add(uint16_t code, std::initializer_list<uint32_t> operands) {
  words_.push_back(code | static_cast<uint32_t>(operands.size() + 1) << 16);
  words_.insert(words_.end(), operands);
  return *this;
}

CodeWriter& CodeWriter::ret(std::initializer_list<uint32_t> registers) {
  words_.push_back(code(Opcode::ret) | static_cast<uint32_t>(registers.size() + 2) << 16);
  words_.push_back(static_cast<uint32_t>(registers.size()));
  words_.insert(words_.end(), registers);
  return *this;
}

CodeWriter& CodeWriter::alloc_storage(uint32_t dst, uint32_t pool, uint32_t size) {
  return add(code(Opcode::alloc_storage), {dst, pool, size});
}

CodeWriter& CodeWriter::alloc_tensor(uint32_t dst, uint32_t storage, uint32_t offset,
                                     uint32_t bytes, DType dtype,
                                     std::initializer_list<uint32_t> dims) {
  words_.push_back(code(Opcode::alloc_tensor) | static_cast<uint32_t>(dims.size() + 7) << 16);
  words_.insert(words_.end(), {dst, storage, offset, bytes, static_cast<uint32_t>(dtype),
                               static_cast<uint32_t>(dims.size())});
  words_.insert(words_.end(), dims);
  return *this;
}

CodeWriter& CodeWriter::launch(uint32_t entry, std::initializer_list<uint32_t> buffers) {
  words_.push_back(code(Opcode::launch) | static_cast<uint32_t>(buffers.size() + 3) << 16);
  words_.insert(words_.end(), {entry, static_cast<uint32_t>(buffers.size())});
  words_.insert(words_.end(), buffers);
  return *this;
}

format::ModuleContents empty_contents() {
  format::ModuleContents contents;
  contents.devices = {{"cpu", "cpu"}};
  contents.pools = {{"global", format::PoolKind::kHeap, 0, -1},
                    {"global.workspace", format::PoolKind::kArena, 0, -1},
                    {"global.constant", format::PoolKind::kConstant, 0, -1}};
  contents.kernels = {
      {"test_add", 3, 0}, {"test_scale", 3, 0}, {"test_nothing", 3, 0}, {"test_wait", 2, 0}};
  contents.shape_functions = {{"test_sum_shapes",
                               6,
                               4,
                               {{"main: Add: input \"y\" dim 0 is {1}, \"x\" requires {0}", 3, 4},
                                {"main: n is {0}, at most 1000; y has {2} rows", 3, 3, {4}}}},
                              {"test_count_down", 2, 1, {}},
                              {"test_external_shapes", 8, 4, {}}};
  contents.images = {{{0}, "any", {}, own(read_file(SCOPEVM_TEST_KERNELS))}};
  contents.producer = "test";
  return contents;
}

format::ModuleContents sum_contents() {
  format::ModuleContents contents = empty_contents();
  contents.constants = {{"factor", DType::kF32, {1}, 2, float_bytes(2.0F)}};
  contents.functions.push_back(sum_function("main", kSumShapes, 0, contents));
  return contents;
}

format::ModuleContents external_contents() {
  format::ModuleContents contents = empty_contents();
  const format::ExternalTensor matrix{DType::kF32, 2};
  const auto kernel = static_cast<uint32_t>(contents.kernels.size());
  contents.kernels.push_back({"test.add_0", 4, 6, 0,
                              format::ExternalDecl{.library = "test",
                                                   .description = R"({"ops": []})",
                                                   .operands = {matrix, matrix},
                                                   .results = {matrix}}});
  contents.launches = {{.kernel = kernel,
                        .params = {0},
                        .grid = {1},
                        .grain = {1},
                        .bytes = {int_slot(6), int_slot(6), int_slot(6), int_slot(7)},
                        .read_only = 2,
                        .shape_function = kExternalShapes}};
  CodeWriter code_writer;
  code_writer.add(code(Opcode::shape_function), {kExternalShapes, 2, 0, 1})
      .alloc_storage(2, 1, slot(7))
      .alloc_tensor(3, 2, 0, slot(7), DType::kU8, {slot(7)})
      .alloc_storage(4, 0, slot(6))
      .alloc_tensor(5, 4, 0, slot(6), DType::kF32, {slot(0), 4})
      .add(code(Opcode::call_extern), {0, 4, 0, 1, 5, 3})
      .ret({5});
  format::FunctionDecl function;
  function.name = "main";
  function.inputs = {{"x", DType::kF32, {"n", "4"}}, {"y", DType::kF32, {"n", "4"}}};
  function.outputs = {{"z", DType::kF32, {"n", "4"}}};
  function.dimensions = {{"n", 0, int64_t{1} << 31, 1}};
  function.register_count = 6;
  function.slot_count = 8;
  function.code = code_writer.take();
  function.memory = {{1, "workspace", false, 7, 7, "64*$threads"}, {0, "z", true, 6, 6, "16*n"}};
  contents.functions.push_back(std::move(function));
  return contents;
}

format::ModuleContents variant_contents() {
  format::ModuleContents contents = sum_contents();
  format::ShapeFunctionDecl shapes = contents.shape_functions[kSumShapes];
  for (format::CheckDecl& check : shapes.checks) check.message.replace(0, 4, "variant");
  const auto shape_index = static_cast<uint32_t>(contents.shape_functions.size());
  contents.shape_functions.push_back(std::move(shapes));
  const auto add = [&](const char* name, float factor, const format::DimensionDecl& n) {
    const auto index = static_cast<uint32_t>(contents.constants.size());
    contents.constants.push_back({"factor", DType::kF32, {1}, 2, float_bytes(factor)});
    contents.variants.push_back({static_cast<uint32_t>(contents.functions.size()), {n}});
    contents.functions.push_back(sum_function(name, shape_index, index, contents));
  };
  add("main[n=7]", 4, {"n", 7, 7, 1});
  add("main[even]", 8, {"n", 0, 100, 2});
  add("main[large]", 16, {"n", 500, int64_t{1} << 31, 1});
  return contents;
}

format::ModuleContents wait_contents(uint32_t grain) {
  format::ModuleContents contents = empty_contents();
  contents.launches = {
      {.kernel = kWait, .grid = {1000}, .grain = {grain}, .bytes = {{8}, {1000}}, .read_only = 1}};
  CodeWriter code_writer;
  code_writer.alloc_storage(1, 0, 1000)
      .alloc_tensor(2, 1, 0, 1000, DType::kU8, {1000})
      .launch(0, {0, 2})
      .ret({2});
  format::FunctionDecl function;
  function.name = "main";
  function.inputs = {{"until", DType::kI64, {"1"}}};
  function.outputs = {{"out", DType::kU8, {"1000"}}};
  function.register_count = 3;
  function.code = code_writer.take();
  contents.functions.push_back(std::move(function));
  return contents;
}

format::ModuleContents loop_contents() {
  format::ModuleContents contents = empty_contents();
  CodeWriter code_writer;
  code_writer.add(code(Opcode::shape_function), {kCountDown, 1, 0})
      .alloc_storage(1, 1, slot(1))
      .alloc_tensor(2, 1, 0, slot(1), DType::kF32, {slot(0)});
  const uint32_t top = code_writer.here();
  code_writer.add(code(Opcode::shape_function), {kCountDown, 1, 2})
      .alloc_tensor(2, 1, 0, slot(1), DType::kF32, {slot(0)});
  const uint32_t branch = code_writer.here();
  code_writer.add(code(Opcode::branch), {slot(0), top, branch + 4})
      .alloc_storage(3, 0, 0)
      .alloc_tensor(4, 3, 0, 0, DType::kF32, {slot(0)})
      .ret({4});
  format::FunctionDecl function;
  function.name = "main";
  function.inputs = {{"x", DType::kF32, {"n"}}};
  function.outputs = {{"z", DType::kF32, {"0"}}};
  function.dimensions = {{"n", 2, int64_t{1} << 31, 1}};
  function.register_count = 5;
  function.slot_count = 2;
  function.code = code_writer.take();
  contents.functions.push_back(std::move(function));
  return contents;
}

format::ModuleContents recursive_contents() {
  format::ModuleContents contents = empty_contents();
  contents.launches = {{.kernel = kAdd,
                        .grid = int_slot(0),
                        .grain = {64},
                        .bytes = {int_slot(1), int_slot(1), int_slot(1)},
                        .read_only = 2,
                        .shape_function = kCountDown}};
  // step(x: f32[m]) calls itself with m - 1 elements, or returns x if m is 1.
  CodeWriter step;
  step.add(code(Opcode::shape_function), {kCountDown, 1, 0});
  const uint32_t branch = step.here();
  step.add(code(Opcode::branch), {slot(0), branch + 4, 0});
  step.alloc_storage(1, 0, slot(1))
      .alloc_tensor(2, 1, 0, slot(1), DType::kF32, {slot(0)})
      .launch(0, {0, 0, 2})
      .add(code(Opcode::call), {0, 1, 2, 1, 3})
      .ret({3});
  step[branch + 3] = step.here();
  step.ret({0});
  format::FunctionDecl function;
  function.name = "step";
  function.inputs = {{"x", DType::kF32, {"m"}}};
  function.outputs = {{"z", DType::kF32, {"1"}}};
  function.dimensions = {{"m", 0, int64_t{1} << 31, 1}};
  function.register_count = 4;
  function.slot_count = 2;
  function.code = step.take();
  contents.functions.push_back(function);

  CodeWriter entry;
  entry.add(code(Opcode::call), {0, 1, 0, 1, 1}).ret({1});
  function.name = "main";
  function.register_count = 2;
  function.slot_count = 0;
  function.code = entry.take();
  contents.functions.push_back(function);
  return contents;
}

format::ModuleContents strings_contents(DType input, CodeWriter& code) {
  format::ModuleContents contents = empty_contents();
  contents.strings = {"", "two"};
  format::FunctionDecl function;
  function.name = "main";
  function.inputs = {{"x", input, {"2"}}};
  function.outputs = {{"y", DType::kStr, {"2"}}};
  function.register_count = 4;
  code.ret({2});
  function.code = code.take();
  contents.functions.push_back(std::move(function));
  return contents;
}

format::ModuleContents upper_contents() {
  CodeWriter code_writer;
  code_writer.alloc_storage(1, 0, 8)
      .alloc_tensor(2, 1, 0, 8, DType::kStr, {2})
      .add(code(Opcode::change_case), {2, 0, 1});
  return strings_contents(DType::kStr, code_writer);
}

format::ModuleContents sequence_contents(DType dtype) {
  format::ModuleContents contents = empty_contents();
  format::FunctionDecl main;
  main.name = "main";
  main.inputs = {{"xs", dtype, {format::kAnyDim}, ValueKind::kSequence},
                 {"o", dtype, {format::kAnyDim}, ValueKind::kOptional}};
  main.outputs = main.inputs;
  main.register_count = 2;
  CodeWriter writer;
  main.code = writer.ret({0, 1}).take();
  contents.functions = {main};
  return contents;
}

void seal(format::ModuleContents& contents) {
  const uint64_t sum = format::launch_checksum(contents);
  const auto* unsealed = reinterpret_cast<const uint8_t*>(&kUnsealed);
  for (format::ImageDecl& image : contents.images) {
    std::vector<uint8_t> bytes(image.bytes.data, image.bytes.data + image.bytes.size);
    const auto found = std::search(bytes.begin(), bytes.end(), unsealed, unsealed + sizeof sum);
    if (found == bytes.end()) continue;
    std::memcpy(&*found, &sum, sizeof sum);
    image.bytes = own(std::move(bytes));
  }
}

std::vector<uint8_t> file_of(format::ModuleContents contents) {
  seal(contents);
  return format::write_module(contents);
}

Module load(format::ModuleContents contents) {
  seal(contents);
  Status status = format::verify(contents);
  Result<Module> module =
      status.ok() ? ModuleAccess::from_contents(std::move(contents)) : std::move(status);
  if (!module.ok()) {
    std::cerr << "test module: " << module.status().message() << "\n";
    std::abort();
  }
  return *std::move(module);
}

}  // namespace scopevm::test
