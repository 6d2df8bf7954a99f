// Encoding of typed instructions as words, and decoding of these words.
#include "vm/isa/encoder.h"

#include <gtest/gtest.h>

#include <deque>

namespace scopevm::isa {
namespace {

TEST(Encoder, WritesLengthAndFieldsInOrder) {
  Encoder code;
  std::vector<Int> dims = {Int::slot({4}), Int::immediate(3)};
  code.emit(op::alloc_tensor{.dst = {3},
                             .storage = {2},
                             .offset = Int::slot({12}),
                             .bytes = Int::immediate(96),
                             .dtype = DType::kF32,
                             .dims = dims});
  Result<std::vector<uint32_t>> words = code.finish();
  ASSERT_TRUE(words.ok());
  EXPECT_EQ(*words,
            (std::vector<uint32_t>{17 | 9 << 16, 3, 2, kSlotBit | 12, 96, 11, 2, kSlotBit | 4, 3}));
}

TEST(Encoder, DecodesItsOutput) {
  Encoder code;
  std::vector<RegisterIndex> buffers = {{1}, {2}, {7}};
  code.emit(op::launch{.entry = {5}, .buffers = buffers});
  Result<std::vector<uint32_t>> words = code.finish();
  ASSERT_TRUE(words.ok());
  ASSERT_EQ(opcode(words->front()), Opcode::launch);
  EXPECT_EQ(word_count(words->front()), words->size());
  auto in = decode<op::launch>(words->data());
  EXPECT_EQ(in.entry, LaunchIndex{5});
  ASSERT_EQ(in.buffers.size(), 3U);
  EXPECT_EQ(in.buffers[2], RegisterIndex{7});
}

TEST(Encoder, DecodesFieldsAfterAList) {
  Encoder code;
  std::vector<RegisterIndex> arguments = {{1}, {2}};
  std::vector<RegisterIndex> results = {{3}};
  code.emit(op::call{.callee = {1}, .arguments = arguments, .results = results});
  std::vector<uint32_t> words = *code.finish();
  auto in = decode<op::call>(words.data());
  ASSERT_EQ(in.results.size(), 1U);
  EXPECT_EQ(in.results[0], RegisterIndex{3});
}

// Gives every field except targets a distinct value, and every list two distinct values.
class DistinctValues {
 public:
  template <typename T>
  void operator()(T& field) {
    field = T::from_word(next());
  }
  void operator()(DType& field) { field = static_cast<DType>(next() % kDTypeCount); }
  void operator()(Target& field) { field = Encoder::target({0}); }
  template <typename T>
  void operator()(List<T>& field) {
    std::vector<uint32_t>& words = lists_.emplace_back();
    words = {next(), next()};
    field = List<T>(words.data(), 2);
  }

 private:
  uint32_t next() { return ++last_; }

  uint32_t last_ = 40;
  std::deque<std::vector<uint32_t>> lists_;
};

template <typename Op>
void expect_round_trip(const char* name) {
  Op in;
  DistinctValues values;
  visit_fields(in, values);
  Encoder code;
  code.bind(code.new_label());
  code.emit(in);
  const std::vector<uint32_t> words = *code.finish();
  ASSERT_EQ(opcode(words[0]), Op::kOpcode) << name;
  ASSERT_EQ(word_count(words[0]), words.size()) << name;
  Encoder again;
  again.bind(again.new_label());
  again.emit(decode<Op>(words.data()));
  EXPECT_EQ(*again.finish(), words) << name;
}

TEST(Encoder, EveryOpcodeIsDecodedAsItWasEncoded) {
#define OPCODE(name, code, effect, ...) expect_round_trip<op::name>(#name);
#include "vm/isa/opcodes.def"
}

TEST(Encoder, ResolvesLabelsForwardAndBack) {
  Encoder code;
  Encoder::Label top = code.new_label();
  Encoder::Label done = code.new_label();
  code.bind(top);
  code.emit(op::branch{.condition = Int::slot({0}),
                       .then_to = Encoder::target(top),
                       .else_to = Encoder::target(done)});
  code.bind(done);
  code.emit(op::ret{});
  std::vector<uint32_t> words = *code.finish();
  auto in = decode<op::branch>(words.data());
  EXPECT_EQ(in.then_to, Target{0});
  EXPECT_EQ(in.else_to, Target{4});
}

TEST(Encoder, RejectsAnUnboundLabel) {
  Encoder code;
  code.emit(op::jump{.to = Encoder::target(code.new_label())});
  Result<std::vector<uint32_t>> words = code.finish();
  ASSERT_FALSE(words.ok());
  EXPECT_EQ(words.status().message(), "undefined label 0");
}

TEST(Encoder, RejectsTooLongInstructions) {
  Encoder code;
  code.emit(op::ret{.values = std::vector<RegisterIndex>(kMaxInstructionWords)});
  Result<std::vector<uint32_t>> words = code.finish();
  ASSERT_FALSE(words.ok());
  EXPECT_EQ(words.status().message(), "ret: instruction of 65537 words, the limit is 65535");
}

TEST(Int, ReadsSlotsAndImmediates) {
  const int64_t slots[] = {10, -20};
  EXPECT_EQ(Int::immediate(Int::kMaxImmediate).value(slots), (int64_t{1} << 31) - 1);
  EXPECT_EQ(Int::slot({1}).value(slots), -20);
}

}  // namespace
}  // namespace scopevm::isa
