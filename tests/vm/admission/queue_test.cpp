// Explores the states of the ledger and the queue: all orders of the events of a few requests, and
// random orders of many.
#include "vm/run/admission/queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace scopevm::vm {
namespace {

using std::chrono::seconds;
using Time = AdmissionQueue::Time;

constexpr Time at(int64_t second) { return Time(seconds(second)); }

// A request as the events see it.
struct Model {
  std::vector<Need> needs;
  std::vector<int64_t> results;  // bytes of results, for each need
  int priority = 0;
  enum class State { kNew, kWaiting, kRunning, kHolding, kDone } state = State::kNew;
};

// The protocol of CallScheduler: after each event, requests are admitted while one fits.
class Machine {
 public:
  Machine(std::vector<Ledger::Pool> pools, std::vector<Model> models)
      : ledger_(std::move(pools)), queue_(ledger_, {.max_bypass = 1}), models_(std::move(models)) {}

  // The events that can happen now: a request and what happens to it.
  enum class Event { kSubmit, kEnd, kFail, kRelease, kCancel };
  std::vector<std::pair<size_t, Event>> events() const {
    using State = Model::State;
    std::vector<std::pair<size_t, Event>> events;
    for (size_t i = 0; i < models_.size(); ++i) {
      const State state = models_[i].state;
      if (state == State::kNew) events.push_back({i, Event::kSubmit});
      if (state == State::kRunning) events.push_back({i, Event::kEnd});
      if (state == State::kRunning) events.push_back({i, Event::kFail});
      if (state == State::kHolding) events.push_back({i, Event::kRelease});
      if (state == State::kWaiting) events.push_back({i, Event::kCancel});
    }
    return events;
  }

  void happen(size_t index, Event event) {
    Model& model = models_[index];
    using State = Model::State;
    switch (event) {
      case Event::kSubmit:
        ASSERT_TRUE(ledger_.check_capacity(model.needs).ok());
        queue_.add({.request = &model,
                    .priority = model.priority,
                    .since = at(time_++),
                    .needs = model.needs});
        model.state = State::kWaiting;
        break;
      case Event::kEnd:
        for (size_t i = 0; i < model.needs.size(); ++i) model.needs[i].held = model.results[i];
        ledger_.end(model.needs);
        model.state = State::kHolding;
        break;
      case Event::kFail:
        ledger_.end(model.needs);
        model.state = State::kDone;
        break;
      case Event::kRelease:
        for (size_t i = 0; i < model.needs.size(); ++i)
          ledger_.release({.pool = model.needs[i].pool, .bytes = model.results[i]});
        model.state = State::kDone;
        break;
      case Event::kCancel:
        ASSERT_TRUE(queue_.remove(&model));
        ASSERT_FALSE(queue_.remove(&model));
        model.state = State::kDone;
        break;
    }
    while (std::optional<AdmissionQueue::Entry> entry = queue_.admit()) {
      auto& admitted = *static_cast<Model*>(entry->request);
      ASSERT_EQ(admitted.state, State::kWaiting);
      admitted.state = State::kRunning;
    }
    check();
  }

  bool is_done() const {
    return std::ranges::all_of(
        models_, [](const Model& model) { return model.state == Model::State::kDone; });
  }
  void check_empty() const {
    EXPECT_EQ(queue_.size(), 0U);
    for (const Ledger::Pool& pool : ledger_.pools()) {
      EXPECT_EQ(pool.reserved, 0);
      EXPECT_EQ(pool.held, 0);
    }
  }

 private:
  void check() const {
    using State = Model::State;
    std::vector<int64_t> reserved(ledger_.pools().size(), 0), held = reserved;
    size_t waiting = 0, active = 0;
    for (const Model& model : models_) {
      waiting += model.state == State::kWaiting ? 1 : 0;
      active += model.state == State::kRunning || model.state == State::kHolding ? 1 : 0;
      for (size_t i = 0; i < model.needs.size(); ++i) {
        if (model.state == State::kRunning) reserved[model.needs[i].pool] += model.needs[i].bytes;
        if (model.state == State::kHolding) held[model.needs[i].pool] += model.results[i];
      }
    }
    EXPECT_EQ(queue_.size(), waiting);
    // A request that waits is waiting for the memory of another one.
    if (active == 0) EXPECT_EQ(waiting, 0U);
    for (size_t i = 0; i < reserved.size(); ++i) {
      const Ledger::Pool& pool = ledger_.pools()[i];
      EXPECT_EQ(pool.reserved, reserved[i]);
      EXPECT_EQ(pool.held, held[i]);
      EXPECT_LE(reserved[i] + held[i], pool.capacity);
      EXPECT_EQ(pool.users[0].used, reserved[i] + held[i]);
    }
  }

  Ledger ledger_;
  AdmissionQueue queue_;
  std::vector<Model> models_;
  int64_t time_ = 0;
};

TEST(Ledger, CountsTheMostBytesOfEachUser) {
  Ledger ledger({{.name = "a", .capacity = 100}});
  const uint32_t first = ledger.add_user(0), second = ledger.add_user(0);
  const Need large{.pool = 0, .bytes = 60, .held = 10, .user = first};
  ASSERT_TRUE(ledger.reserve({&large, 1}));
  ledger.end({&large, 1});
  EXPECT_EQ(ledger.pools()[0].occupied, 60);
  // The first user can still occupy 60 bytes.
  const Need small{.pool = 0, .bytes = 40, .user = second};
  ASSERT_TRUE(ledger.reserve({&small, 1}));
  EXPECT_FALSE(ledger.can_exceed(0));
  const Need more{.pool = 0, .bytes = 1, .user = second};
  ASSERT_TRUE(ledger.reserve({&more, 1}));
  EXPECT_TRUE(ledger.can_exceed(0));
  ledger.trimmed(0);
  EXPECT_EQ(ledger.pools()[0].occupied, 10 + 41);
  ledger.release({.pool = 0, .bytes = 10, .user = first});
  ledger.end({&small, 1});
  ledger.end({&more, 1});
  EXPECT_EQ(ledger.pools()[0].occupied, 10 + 41);
  ledger.trimmed(0);
  EXPECT_EQ(ledger.pools()[0].occupied, 0);
}

using Pools = std::vector<Ledger::Pool>;
Pools two_pools() { return {{.name = "a", .capacity = 4}, {.name = "b", .capacity = 3}}; }

// Runs every order of events. Returns the number of complete orders.
int64_t explore(const std::vector<Model>& models,
                std::vector<std::pair<size_t, Machine::Event>>& path) {
  Machine machine(two_pools(), models);
  for (const auto& [index, event] : path) machine.happen(index, event);
  if (::testing::Test::HasFailure()) return 0;
  const auto events = machine.events();
  if (events.empty()) {
    EXPECT_TRUE(machine.is_done());
    machine.check_empty();
    return 1;
  }
  int64_t count = 0;
  for (const auto& next : events) {
    path.push_back(next);
    count += explore(models, path);
    path.pop_back();
    if (::testing::Test::HasFailure()) {
      ADD_FAILURE() << "event " << static_cast<int>(next.second) << " of request " << next.first;
      return count;
    }
  }
  return count;
}

TEST(Admission, AllOrdersOfThreeRequestsOnTwoPools) {
  // The combinations of requests that fit alone, share pools and exclude each other.
  const std::vector<Model> kinds = {{.needs = {{0, 4}}, .results = {1}},
                                    {.needs = {{0, 2}, {1, 3}}, .results = {2, 1}},
                                    {.needs = {{0, 1}, {1, 1}}, .results = {0, 1}, .priority = 5}};
  int64_t count = 0;
  for (size_t a = 0; a < kinds.size(); ++a)
    for (size_t b = a; b < kinds.size(); ++b)
      for (size_t c = b; c < kinds.size(); ++c) {
        std::vector<std::pair<size_t, Machine::Event>> path;
        count += explore({kinds[a], kinds[b], kinds[c]}, path);
        ASSERT_FALSE(HasFailure()) << a << " " << b << " " << c;
      }
  EXPECT_GT(count, 10000);
}

TEST(Admission, RandomOrdersOfManyRequests) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](int64_t end) { return static_cast<int64_t>(random() % end); };
    Pools pools;
    for (int i = 0; i < 3; ++i)
      pools.push_back({.name = std::to_string(i), .capacity = 1 + below(20)});
    std::vector<Model> models(40);
    for (Model& model : models) {
      model.priority = static_cast<int>(below(5)) - 2;
      for (uint32_t pool = 0; pool < pools.size(); ++pool) {
        if (below(2) == 0) continue;
        model.needs.push_back({pool, below(pools[pool].capacity + 1)});
        model.results.push_back(below(model.needs.back().bytes + 1));
      }
    }
    Machine machine(pools, models);
    for (auto events = machine.events(); !events.empty(); events = machine.events()) {
      const auto& [index, event] = events[static_cast<size_t>(below(std::ssize(events)))];
      machine.happen(index, event);
      ASSERT_FALSE(HasFailure()) << "seed " << seed;
    }
    machine.check_empty();
  }
}

struct QueueTest : ::testing::Test {
  Ledger ledger{Pools{{.name = "a", .capacity = 10}}};
  AdmissionQueue queue{ledger, {.max_bypass = 2, .ageing = seconds(10)}};
  int requests[8] = {};
  Need needs[8];

  void add(int index, int64_t bytes, int priority = 0, int64_t since = 0) {
    needs[index] = {0, bytes};
    queue.add({.request = &requests[index],
               .priority = priority,
               .since = at(since),
               .needs = std::span(&needs[index], 1)});
  }
  // The index of the next admitted request; -1: none.
  int next() {
    const std::optional<AdmissionQueue::Entry> entry = queue.admit();
    return entry ? static_cast<int>(static_cast<int*>(entry->request) - requests) : -1;
  }
};

TEST_F(QueueTest, PrioritiesFirstThenTheLongestWait) {
  add(0, 1, 0, 0);
  add(1, 1, 1, 1);
  add(2, 1, 0, 0);
  EXPECT_EQ(next(), 1);
  EXPECT_EQ(next(), 0);
  EXPECT_EQ(next(), 2);
  EXPECT_EQ(next(), -1);
}

TEST_F(QueueTest, WaitingRaisesThePriority) {
  add(0, 1, 0, 0);
  add(1, 1, 2, 19);  // 20 s of waiting count as much as priority 2
  add(2, 1, 2, 21);
  EXPECT_EQ(next(), 1);
  EXPECT_EQ(next(), 0);
  EXPECT_EQ(next(), 2);
}

TEST_F(QueueTest, ALargeRequestIsBypassedAFewTimesOnly) {
  add(0, 6);
  EXPECT_EQ(next(), 0);
  add(1, 8);
  for (int i = 2; i < 6; ++i) add(i, 1);
  EXPECT_EQ(next(), 2);
  EXPECT_EQ(next(), 3);
  EXPECT_EQ(next(), -1);  // the others would fit
  ledger.end(std::vector<Need>{{0, 6}});
  EXPECT_EQ(next(), 1);
}

TEST_F(QueueTest, DeadlinesEndTheWaiting) {
  queue.add({.request = &requests[0], .since = at(0), .deadline = at(5), .needs = {}});
  queue.add({.request = &requests[1], .since = at(0), .deadline = at(3), .needs = {}});
  add(2, 1);
  EXPECT_EQ(queue.next_deadline(), at(3));
  EXPECT_FALSE(queue.expire(at(2)));
  EXPECT_EQ(queue.expire(at(9))->request, &requests[1]);
  EXPECT_EQ(queue.expire(at(9))->request, &requests[0]);
  EXPECT_FALSE(queue.expire(at(9)));
  EXPECT_FALSE(queue.next_deadline());
  EXPECT_EQ(queue.size(), 1U);
}

}  // namespace
}  // namespace scopevm::vm
