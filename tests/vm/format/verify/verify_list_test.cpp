// Code with lists that verify() rejects, one short function per rule, and code that it accepts.
#include <gtest/gtest.h>

#include "tests/vm/format/verify/verified_code.h"

namespace scopevm::format::verify_tests {
namespace {

const Code kListCode[] = {
    {"ListOfStorage",
     [](Encoder& c) {
       emit_storage(c, 1, 0);
       emit_list(c, 2, kFirst, 1);
       emit_ret(c);
     },
     "main: word 4: make_list: register 1 holds a storage, expected a tensor"},
    {"ListOfAnotherType",
     [](Encoder& c) {
       c.emit(op::load_const{.dst = {1}, .constant = {2}});
       emit_list(c, 2, kFirst, 1);
       emit_ret(c);
     },
     "main: word 3: make_list: register 1 holds i64 of rank 2, expected f32 of rank 2 for the "
     "element"},
    {"ListOfTensorsForLists",
     [](Encoder& c) {
       emit_list(c, 2, kInput, 2);
       emit_ret(c);
     },
     "main: word 0: make_list: register 0 holds a tensor, expected a list"},
    {"ListTooDeep",
     [](Encoder& c) {
       emit_list(c, 2, kNone, 3);
       emit_ret(c);
     },
     "main: word 0: make_list: depth must be an immediate from 1 to 2, given 3"},
    {"ListOfNoDepth",
     [](Encoder& c) {
       emit_list(c, 2, kNone, 0);
       emit_ret(c);
     },
     "main: word 0: make_list: depth must be an immediate from 1 to 2, given 0"},
    {"GetOfHugeRank",
     [](Encoder& c) {
       emit_list(c, 1, kNone, 1);
       emit_get(c, 2, 1, 17);
       emit_ret(c);
     },
     "main: word 6: list_get: rank must be an immediate from 0 to 16, given 17"},
    {"GetOfListWithRank",
     [](Encoder& c) {
       emit_list(c, 1, kNone, 2);
       emit_get(c, 2, 1, 1);
       emit_ret(c);
     },
     "main: word 6: list_get: rank must be 0 for an element that is a list, given 1"},
    {"ListFromConstantPool",
     [](Encoder& c) {
       emit_list(c, 2, kNone, 1, 2);
       emit_ret(c);
     },
     "main: word 0: make_list: pool \"global.constant\" holds constants only"},
    {"ListInItself",
     [](Encoder& c) {
       emit_list(c, 1, kNone, 1);
       c.emit(op::list_append{.list = {1}, .from = {0}, .element = {1}});
       emit_ret(c);
     },
     "main: word 6: list_append: register 1 holds a list, expected a tensor"},
    {"InsertIntoTensor",
     [](Encoder& c) {
       c.emit(
           op::list_insert{.list = {0}, .from = {0}, .element = {0}, .index = Int::immediate(0)});
       emit_ret(c);
     },
     "main: word 0: list_insert: register 0 holds a tensor, expected a list"},
    {"EraseFromTensor",
     [](Encoder& c) {
       c.emit(op::list_erase{.list = {0}, .from = {0}, .index = Int::immediate(0)});
       emit_ret(c);
     },
     "main: word 0: list_erase: register 0 holds a tensor, expected a list"},
    {"GetFromEmptyRegister",
     [](Encoder& c) {
       emit_get(c, 2, 1, 0);
       emit_ret(c);
     },
     "main: word 0: list_get: register 1 is empty, expected a list"},
    {"SizeOfTensor",
     [](Encoder& c) {
       c.emit(op::list_size{.dst = {0}, .list = {0}});
       emit_ret(c);
     },
     "main: word 0: list_size: register 0 holds a tensor, expected a list"},
    {"SizeToNoSlot",
     [](Encoder& c) {
       c.emit(op::list_size{.dst = {5}, .list = {0}});
       emit_ret(c);
     },
     "main: word 0: list_size: dst: slot 5 is out of range [0, 5)"},
    {"ReturnOfList",
     [](Encoder& c) {
       emit_list(c, 1, kNone, 1);
       c.emit(op::ret{.values = kFirst});
     },
     "main: word 6: ret: register 1 holds a list, expected a tensor"},
    {"ListsOfDifferentDepthMeet",
     [](Encoder& c) {
       Encoder::Label join = c.new_label(), other = c.new_label();
       emit_list(c, 1, kNone, 1);
       c.emit(op::branch{.condition = Int::slot({0}),
                         .then_to = Encoder::target(join),
                         .else_to = Encoder::target(other)});
       c.bind(other);
       emit_list(c, 1, kNone, 2);
       c.bind(join);
       c.emit(op::list_size{.dst = {0}, .list = {1}});
       emit_ret(c);
     },
     "main: word 16: list_size: register 1 holds incompatible values on different paths, expected "
     "a "
     "list"},
    {"GoodList",
     [](Encoder& c) {
       emit_list(c, 1, kInput, 1);
       emit_list(c, 2, kFirst, 2);
       emit_get(c, 1, 2, 0);
       emit_get(c, 1, 1, 2);
       c.emit(op::ret{.values = kFirst});
     },
     ""},
};

class VerifyListTest : public ::testing::TestWithParam<Code> {};
TEST_P(VerifyListTest, ReportsTheError) {
  EXPECT_EQ(code_error(GetParam().emit), GetParam().error);
}
INSTANTIATE_TEST_SUITE_P(Each, VerifyListTest, ::testing::ValuesIn(kListCode),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace scopevm::format::verify_tests
