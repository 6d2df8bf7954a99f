// Snapshots of states: round trips, and errors for snapshots of other modules and for damaged ones.
#include <gtest/gtest.h>

#include <random>

#include "scopevm/state.h"
#include "tests/vm/state/state_modules.h"
#include "vm/format/records/records.h"

namespace scopevm {
namespace {

using test::filled;
using test::message_of;
using test::rows;
using test::stepping_call;
using test::value_of;

Session session_of(const format::ModuleContents& contents) {
  return *Session::create(*Module::load_bytes(test::file_of(contents)));
}

TEST(Snapshot, RoundTripAcrossSessions) {
  const Session session = session_of(test::sum_contents());
  State state = *State::create(session, rows(3));
  Call call = stepping_call(session, state, 1, 3);
  ASSERT_TRUE(call.run().ok());
  const std::vector<uint8_t> bytes = *state.snapshot();
  ASSERT_TRUE(call.run().ok());
  EXPECT_EQ(value_of(state), 6);
  ASSERT_TRUE(state.restore(bytes).ok());
  EXPECT_EQ(value_of(state), 2);
  EXPECT_EQ(state.steps(), 1);

  const Session other = session_of(test::sum_contents());
  State restored = *State::create(other, rows(3));
  ASSERT_TRUE(restored.restore(bytes).ok());
  EXPECT_EQ(value_of(restored), 2);
  EXPECT_EQ(*restored.snapshot(), bytes);
}

TEST(Snapshot, OfAnotherModulePairOrSizeIsAnError) {
  const Session session = session_of(test::sum_contents());
  State state = *State::create(session, rows(3));
  const std::vector<uint8_t> bytes = *state.snapshot();
  const auto error = [&](const Session& of, const StateOptions& options) {
    State other = *State::create(of, options);
    const Status status = other.restore(bytes);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    return message_of(status);
  };
  EXPECT_EQ(error(session, rows(2)), "state y=z: expected f32[2, 4], given f32[3, 4]");
  EXPECT_EQ(error(session, {.pairs = {{"x", "z"}}, .dims = {{"n", 3}}}),
            "the state has no value of x=z");
  EXPECT_EQ(error(session_of(test::variant_contents()), rows(3))
                .find("the state is of another module: its digest is "),
            0U);

  const Session moving = session_of(test::moving_contents(0, 1));
  State both = *State::create(moving, {.pairs = {{"a", "ra"}, {"b", "rb"}}});
  State one = *State::create(moving, {.pairs = {{"b", "rb"}}});
  EXPECT_EQ(message_of(one.restore(*both.snapshot())), "the state has 2 values, expected 1");
  EXPECT_EQ(message_of(both.restore(*one.snapshot())), "the state has no value of a=ra");
}

// A file with a valid checksum that no release writes.
TEST(Snapshot, InvalidRecords) {
  const Session session = session_of(test::sum_contents());
  State state = *State::create(session, rows(1));
  const std::vector<uint8_t> bytes = *state.snapshot();
  const uint64_t module = format::read_records(bytes, "state")->module;
  EXPECT_EQ(message_of(state.restore(format::RecordWriter("state", module).finish())),
            "the state has no number of steps");
  format::RecordWriter writer("state", module);
  writer.add_number("steps", 1);
  writer.add_number("y=z", 1);
  EXPECT_EQ(message_of(state.restore(std::move(writer).finish())),
            "record \"y=z\" is not a tensor");
}

TEST(Snapshot, DamagedBytesChangeNothing) {
  const Session session = session_of(test::sum_contents());
  State state = *State::create(session, rows(1));
  ASSERT_TRUE(state.set_value("y", filled(3, {1, 4})).ok());
  const std::vector<uint8_t> bytes = *state.snapshot();
  ASSERT_TRUE(state.set_value("y", filled(5, {1, 4})).ok());
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::vector<uint8_t> damaged = bytes;
    damaged[at] ^= static_cast<uint8_t>(1U << at % 8);
    EXPECT_FALSE(state.restore(damaged).ok()) << at;
    EXPECT_FALSE(state.restore(std::span(bytes).first(at)).ok()) << at;
  }
  EXPECT_EQ(value_of(state), 5);
  std::mt19937 random(11);
  for (int i = 0; i < 500; ++i) {
    std::vector<uint8_t> noise(random() % 200);
    for (uint8_t& byte : noise) byte = static_cast<uint8_t>(random());
    if (noise.size() > 8 && i % 2 == 0) std::copy_n(bytes.begin(), 8, noise.begin());
    EXPECT_FALSE(state.restore(noise).ok());
  }
  EXPECT_EQ(value_of(state), 5);
}

}  // namespace
}  // namespace scopevm
