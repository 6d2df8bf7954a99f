// Code that verify() rejects, one short function per rule, and some code that it accepts. The rules
// of lists are in verify_list_test.cpp.
#include <gtest/gtest.h>

#include "tests/vm/format/verify/verified_code.h"

namespace scopevm::format::verify_tests {
namespace {

constexpr uint32_t kHuge = 0x7FFFFFFF;

const Code kCode[] = {
    {"Good", emit_ret, ""},
    // For each field type: a value that is out of range.
    {"Register", [](Encoder& c) { c.emit(op::kill{.value = {5}}); },
     "main: word 0: kill: value: register 5 is out of range [0, 5)"},
    {"RegisterInList",
     [](Encoder& c) {
       std::vector<RegisterIndex> bad = {{0xFFFFFFFF}};
       c.emit(op::ret{.values = bad});
     },
     "main: word 0: ret: values: register 4294967295 is out of range [0, 5)"},
    {"SlotOfInt", [](Encoder& c) { emit_storage(c, 1, 0, Int::slot({5})); },
     "main: word 0: alloc_storage: size: slot 5 is out of range [0, 5)"},
    {"SlotOfDims",
     [](Encoder& c) {
       emit_storage(c, 1, 0);
       emit_tensor(c, 2, 1, {Int::slot({kHuge})});
     },
     "main: word 4: alloc_tensor: dims: slot 2147483647 is out of range [0, 5)"},
    {"Pool", [](Encoder& c) { emit_storage(c, 1, 4); },
     "main: word 0: alloc_storage: from: pool 4 is out of range [0, 4)"},
    {"Function", [](Encoder& c) { c.emit(op::call{.callee = {1}}); },
     "main: word 0: call: callee: function 1 is out of range [0, 1)"},
    {"ShapeFunction", [](Encoder& c) { c.emit(op::shape_function{.function = {1}}); },
     "main: word 0: shape_function: function: shape function 1 is out of range [0, 1)"},
    {"Launch", [](Encoder& c) { c.emit(op::launch{.entry = {2}}); },
     "main: word 0: launch: entry: launch 2 is out of range [0, 2)"},
    {"Constant", [](Encoder& c) { c.emit(op::load_const{.dst = {1}, .constant = {3}}); },
     "main: word 0: load_const: constant: constant 3 is out of range [0, 3)"},
    {"Message", [](Encoder& c) { c.emit(op::fail{.text = {1}}); },
     "main: word 0: fail: text: message 1 is out of range [0, 1)"},
    {"ElementType",
     [](Encoder& c) {
       c.emit(op::alloc_view{.dst = {1}, .of = {0}, .dtype = static_cast<DType>(200)});
     },
     "main: word 0: alloc_view: dtype: element type 200 is out of range [0, 24)"},
    // Inconsistencies between fields and tables.
    {"RetCount", [](Encoder& c) { c.emit(op::ret{.values = kNone}); },
     "main: word 0: ret: the number of values is 0, expected 1"},
    {"CallArguments", [](Encoder& c) { c.emit(op::call{.callee = {0}, .arguments = kNone}); },
     "main: word 0: call: the number of arguments is 0, expected 1"},
    {"CallResults", [](Encoder& c) { c.emit(op::call{.callee = {0}, .arguments = kInput}); },
     "main: word 0: call: the number of results is 0, expected 1"},
    {"ConstantPool", [](Encoder& c) { emit_storage(c, 1, 2); },
     "main: word 0: alloc_storage: pool \"global.constant\" holds constants only"},
    {"LaunchBuffers", [](Encoder& c) { c.emit(op::launch{.entry = {0}, .buffers = kNone}); },
     "main: word 0: launch: the number of buffers is 0, expected 1"},
    {"LoadDimSlot", [](Encoder& c) { c.emit(op::load_dim{.dst = {5}, .of = {0}}); },
     "main: word 0: load_dim: dst: slot 5 is out of range [0, 5)"},
    {"LoadDimAxis",
     [](Encoder& c) {
       c.emit(op::load_dim{.dst = {0}, .of = {0}, .axis = Int::immediate(2)});
       emit_ret(c);
     },
     "main: word 0: load_dim: axis 2 is out of range [0, 2)"},
    {"LoadDimAxisSlot",
     [](Encoder& c) {
       c.emit(op::load_dim{.dst = {0}, .of = {0}, .axis = Int::slot({0})});
       emit_ret(c);
     },
     "main: word 0: load_dim: axis must be an immediate, given a slot"},
    {"ShapeDims",
     [](Encoder& c) {
       c.emit(op::shape_function{.function = {0}, .inputs = kNone});
       emit_ret(c);
     },
     "main: word 0: shape_function: inputs have 0 dims, expected 2"},
    {"RunsOff", [](Encoder& c) { c.emit(op::kill{.value = {0}}); },
     "main: word 0: kill: control reaches the end of the code"},
    // Registers.
    {"UseOfEmpty", [](Encoder& c) { c.emit(op::ret{.values = kFirst}); },
     "main: word 0: ret: register 1 is empty, expected a tensor"},
    {"UseOfKilled",
     [](Encoder& c) {
       c.emit(op::kill{.value = {0}});
       emit_ret(c);
     },
     "main: word 2: ret: register 0 is empty, expected a tensor"},
    {"KillOfEmpty",
     [](Encoder& c) {
       c.emit(op::kill{.value = {1}});
       emit_ret(c);
     },
     "main: word 0: kill: register 1 is empty, expected a value"},
    {"MoveOfEmpty",
     [](Encoder& c) {
       c.emit(op::move{.dst = {2}, .from = {1}});
       emit_ret(c);
     },
     "main: word 0: move: register 1 is empty, expected a value"},
    {"StorageAsTensor",
     [](Encoder& c) {
       emit_storage(c, 1, 0);
       c.emit(op::ret{.values = kFirst});
     },
     "main: word 4: ret: register 1 holds a storage, expected a tensor"},
    {"TensorOverTensor",
     [](Encoder& c) {
       emit_tensor(c, 1, 0);
       emit_ret(c);
     },
     "main: word 0: alloc_tensor: register 0 holds a tensor, expected a storage"},
    {"ViewOfStorage",
     [](Encoder& c) {
       emit_storage(c, 1, 0);
       c.emit(op::alloc_view{.dst = {2}, .of = {1}});
       emit_ret(c);
     },
     "main: word 4: alloc_view: register 1 holds a storage, expected a tensor"},
    {"LaunchOnStorage",
     [](Encoder& c) {
       emit_storage(c, 1, 0);
       c.emit(op::shape_function{.function = {0}, .inputs = kInput});
       c.emit(op::launch{.entry = {0}, .buffers = kFirst});
       emit_ret(c);
     },
     "main: word 8: launch: register 1 holds a storage, expected a tensor"},
    {"RetType",
     [](Encoder& c) {
       c.emit(op::load_const{.dst = {1}, .constant = {2}});
       c.emit(op::ret{.values = kFirst});
     },
     "main: word 3: ret: register 1 holds i64 of rank 2, expected f32 of rank 2 for \"y\""},
    {"CallType",
     [](Encoder& c) {
       std::vector<Int> flat = {Int::slot({0})};
       c.emit(op::alloc_view{.dst = {1}, .of = {0}, .dtype = DType::kF32, .dims = flat});
       c.emit(op::call{.callee = {0}, .arguments = kFirst, .results = kFirst});
       emit_ret(c);
     },
     "main: word 6: call: register 1 holds f32 of rank 1, expected f32 of rank 2 for \"x\""},
    {"TensorBeyondStorage",
     [](Encoder& c) {
       emit_storage(c, 1, 0, Int::immediate(64));
       c.emit(op::alloc_tensor{
           .dst = {2}, .storage = {1}, .offset = Int::immediate(32), .bytes = Int::immediate(33)});
       emit_ret(c);
     },
     "main: word 4: alloc_tensor: bytes [32, 65) are outside of a storage of 64 bytes"},
    {"DimsBeyondBytes",
     [](Encoder& c) {
       std::vector<Int> dims = {Int::immediate(4), Int::immediate(5)};
       emit_storage(c, 1, 0);
       c.emit(op::alloc_tensor{.dst = {2},
                               .storage = {1},
                               .offset = Int::immediate(0),
                               .bytes = Int::immediate(79),
                               .dtype = DType::kF32,
                               .dims = dims});
       emit_ret(c);
     },
     "main: word 4: alloc_tensor: dims require 80 bytes, given 79"},
    {"ViewBeyondBytes",
     [](Encoder& c) {
       std::vector<Int> dims = {Int::immediate(33)};
       c.emit(op::load_const{.dst = {1}, .constant = {0}});
       c.emit(op::alloc_view{.dst = {2}, .of = {1}, .dtype = DType::kF32, .dims = dims});
       emit_ret(c);
     },
     "main: word 3: alloc_view: dims require 132 bytes, given 128"},
    {"DimsOverflow",
     [](Encoder& c) {
       std::vector<Int> dims(4, Int::immediate(Int::kMaxImmediate));
       c.emit(op::alloc_view{.dst = {2}, .of = {0}, .dtype = DType::kF32, .dims = dims});
       emit_ret(c);
     },
     "main: word 0: alloc_view: dims are too large"},
    // Read-only tensors.
    {"CopyToConstant",
     [](Encoder& c) {
       c.emit(op::load_const{.dst = {1}, .constant = {0}});
       c.emit(op::device_copy{.to = {1}, .to_pool = {2}, .from = {0}, .from_pool = {0}});
       emit_ret(c);
     },
     "main: word 3: device_copy: register 1 holds a constant or an input, which is read-only"},
    {"CopyToViewOfConstant",
     [](Encoder& c) {
       c.emit(op::load_const{.dst = {1}, .constant = {0}});
       c.emit(op::alloc_view{.dst = {2}, .of = {1}});
       c.emit(op::device_copy{.to = {2}, .to_pool = {2}, .from = {0}, .from_pool = {0}});
       emit_ret(c);
     },
     "main: word 8: device_copy: register 2 holds a constant or an input, which is read-only"},
    // Strings.
    {"ParseOfNumbers",
     [](Encoder& c) {
       emit_storage(c, 1, 0);
       emit_tensor(c, 2, 1);
       c.emit(op::string_to_number{.to = {2}, .from = {0}});
       emit_ret(c);
     },
     "main: word 13: string_to_number: register 0 holds f32 elements, expected strings"},
    {"FormatIntoNumbers",
     [](Encoder& c) {
       emit_storage(c, 1, 0);
       emit_tensor(c, 2, 1);
       c.emit(op::number_to_string{.to = {2}, .from = {0}});
       emit_ret(c);
     },
     "main: word 13: number_to_string: register 2 holds f32 elements, expected strings"},
    {"CaseIntoAConstant",
     [](Encoder& c) {
       std::vector<Int> dims = {Int::immediate(8)};
       c.emit(op::load_const{.dst = {1}, .constant = {0}});
       c.emit(op::alloc_view{.dst = {2}, .of = {1}, .dtype = DType::kStr, .dims = dims});
       c.emit(op::change_case{.to = {2}, .from = {2}, .upper = Int::immediate(0)});
       emit_ret(c);
     },
     "main: word 9: change_case: register 2 holds a constant or an input, which is read-only"},
    {"AutomatonOfReals",
     [](Encoder& c) {
       emit_storage(c, 1, 0);
       emit_tensor(c, 2, 1);
       std::vector<Int> dims = {Int::immediate(8)};
       c.emit(op::alloc_view{.dst = {3}, .of = {2}, .dtype = DType::kStr, .dims = dims});
       c.emit(op::alloc_view{.dst = {1}, .of = {2}, .dtype = DType::kI32, .dims = dims});
       c.emit(op::match_strings{.to = {1}, .from = {3}, .automaton = {0}});
       emit_ret(c);
     },
     "main: word 25: match_strings: elements are f32, expected integers"},
    {"TextAsASize",
     [](Encoder& c) {
       std::vector<Int> dims = {Int::immediate(8)};
       c.emit(op::load_const{.dst = {1}, .constant = {0}});
       c.emit(op::alloc_view{.dst = {2}, .of = {1}, .dtype = DType::kStr, .dims = dims});
       c.emit(op::load_element{.dst = {0}, .of = {2}, .index = Int::immediate(0)});
       emit_ret(c);
     },
     "main: word 9: load_element: elements are str, expected integers"},
    // Places.
    {"LaunchAcrossDevices",
     [](Encoder& c) {
       emit_storage(c, 1, 0);
       emit_tensor(c, 1, 1);
       emit_storage(c, 2, 3);
       emit_tensor(c, 2, 2);
       std::vector<RegisterIndex> both = {{1}, {2}};
       c.emit(op::launch{.entry = {1}, .buffers = both});
       emit_ret(c);
     },
     "main: word 26: launch: register 2 is stored in memory of device \"gpu\", which the kernel's "
     "device \"cpu\" cannot access"},
    {"CopyNamesAnotherPool",
     [](Encoder& c) {
       emit_storage(c, 1, 3);
       emit_tensor(c, 1, 1);
       c.emit(op::device_copy{.to = {1}, .to_pool = {0}, .from = {0}, .from_pool = {1}});
       emit_ret(c);
     },
     "main: word 13: device_copy: register 1 is not stored in pool \"global\" of device \"cpu\""},
    {"HostReadsDevice",
     [](Encoder& c) {
       emit_storage(c, 1, 3);
       emit_tensor(c, 1, 1);
       c.emit(op::load_element{.dst = {0}, .of = {1}, .index = Int::immediate(0)});
       emit_ret(c);
     },
     "main: word 13: load_element: register 1 is stored in memory of device \"gpu\", which the "
     "host cannot access"},
    {"DeviceStorageGrows",
     [](Encoder& c) {
       emit_storage(c, 1, 3);
       c.emit(op::grow_storage{
           .storage = {1}, .from = {3}, .used = Int::immediate(0), .needed = Int::immediate(8)});
       emit_ret(c);
     },
     "main: word 4: grow_storage: pool \"global\" of device \"gpu\" is not in host memory"},
    {"ReturnOfDeviceMemory",
     [](Encoder& c) {
       emit_storage(c, 1, 3);
       emit_tensor(c, 1, 1);
       c.emit(op::ret{.values = kFirst});
     },
     "main: word 13: ret: register 1 is stored in memory of device \"gpu\", expected memory of "
     "device \"cpu\" for \"y\""},
    // Control-flow paths.
    {"DifferentOnTwoPaths",
     [](Encoder& c) {
       Encoder::Label yes = c.new_label();
       Encoder::Label join = c.new_label();
       c.emit(op::branch{.condition = Int::slot({0}),
                         .then_to = Encoder::target(yes),
                         .else_to = Encoder::target(join)});
       c.bind(yes);
       emit_storage(c, 1, 0);
       c.bind(join);
       emit_tensor(c, 2, 1);
       emit_ret(c);
     },
     "main: word 8: alloc_tensor: register 1 holds incompatible values on different paths, "
     "expected a "
     "storage"},
    {"KilledInALoop",
     [](Encoder& c) {
       Encoder::Label again = c.new_label();
       Encoder::Label done = c.new_label();
       emit_storage(c, 1, 0);
       c.bind(again);
       c.emit(op::kill{.value = {1}});
       c.emit(op::branch{.condition = Int::slot({0}),
                         .then_to = Encoder::target(again),
                         .else_to = Encoder::target(done)});
       c.bind(done);
       emit_ret(c);
     },
     "main: word 4: kill: register 1 holds incompatible values on different paths, expected a "
     "value"},
    {"OverwrittenConflictIsFine",
     [](Encoder& c) {
       Encoder::Label yes = c.new_label();
       Encoder::Label join = c.new_label();
       c.emit(op::branch{.condition = Int::slot({0}),
                         .then_to = Encoder::target(yes),
                         .else_to = Encoder::target(join)});
       c.bind(yes);
       emit_storage(c, 1, 0);
       c.bind(join);
       emit_storage(c, 1, 0);
       emit_tensor(c, 2, 1);
       emit_ret(c);
     },
     ""},
    // Code that never returns.
    {"EndlessLoopIsFine",
     [](Encoder& c) {
       Encoder::Label again = c.new_label();
       c.bind(again);
       c.emit(op::jump{.to = Encoder::target(again)});
     },
     ""},
};

class VerifyCodeTest : public ::testing::TestWithParam<Code> {};
TEST_P(VerifyCodeTest, ReportsTheError) {
  EXPECT_EQ(code_error(GetParam().emit), GetParam().error);
}
INSTANTIATE_TEST_SUITE_P(Each, VerifyCodeTest, ::testing::ValuesIn(kCode),
                         [](const auto& test) { return test.param.name; });

TEST(VerifyCode, RejectsAJumpIntoAnInstruction) {
  ModuleContents module = module_with(emit_ret);
  module.functions[0].code = {isa::instruction_word(isa::Opcode::jump, 2), 1};
  EXPECT_EQ(error_of(module), "main: word 0: jump: to: word 1 is not the start of an instruction");
  module.functions[0].code[1] = 0xFFFFFFFF;
  EXPECT_EQ(error_of(module),
            "main: word 0: jump: to: word 4294967295 is not the start of an instruction");
}

TEST(VerifyCode, RejectsInvalidInstructions) {
  ModuleContents module = module_with(emit_ret);
  module.functions[0].code = {999};
  EXPECT_EQ(error_of(module), "main: word 0: unknown opcode 999");
}

TEST(VerifyCode, RejectsMoreSlotsThanTheFrame) {
  ModuleContents module = dense_module();
  module.functions[0].slot_count = 4;
  module.functions[0].memory = {};
  EXPECT_EQ(error_of(module),
            "main: word 0: shape_function: function: writes 5 slots, the frame has 4");
}

// Many basic blocks, registers and edges: verification stops with an error after a bounded time.
TEST(VerifyCode, BoundsTheCostOfHostileControlFlow) {
  Encoder code;
  constexpr uint32_t kJumps = 3000;
  std::vector<Encoder::Label> labels;
  for (uint32_t i = 0; i < kJumps; ++i) labels.push_back(code.new_label());
  for (uint32_t i = 0; i < kJumps; ++i) {
    code.bind(labels[i]);
    emit_storage(code, 1 + i, 0);
    code.emit(op::branch{.condition = Int::slot({0}),
                         .then_to = Encoder::target(labels[(i * 7919 + 1) % kJumps]),
                         .else_to = Encoder::target(labels[(i + 1) % kJumps])});
  }
  ModuleContents module = dense_module();
  module.functions[0].memory = {};
  module.functions[0].sources = {};
  module.functions[0].register_count = kJumps + 1;
  module.functions[0].code = *code.finish();
  EXPECT_EQ(error_of(module), "main: control flow is too large to verify");
}

}  // namespace
}  // namespace scopevm::format::verify_tests
