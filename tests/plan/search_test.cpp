// The searches of the planning library, against enumeration on small instances and on generated
// hard instances.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "runtime/plan/deadline.h"
#include "runtime/plan/instance.h"
#include "runtime/plan/orders.h"

namespace scopevm::plan {
namespace {

using Offsets = std::vector<int64_t>;

int64_t random_in(std::mt19937_64& random, int64_t low, int64_t high) {
  return low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low + 1));
}

bool are_live_together(const Item& a, const Item& b) {
  for (const Lifespan& x : a.lifespans) {
    for (const Lifespan& y : b.lifespans) {
      if (x.lower < y.upper && y.lower < x.upper) return true;
    }
  }
  return false;
}

bool overlap(const Instance& instance, const Offsets& offsets, size_t a, size_t b) {
  const Item& first = instance.items[a];
  const Item& second = instance.items[b];
  return offsets[a] < offsets[b] + second.size && offsets[b] < offsets[a] + first.size &&
         are_live_together(first, second);
}

// The reason why a plan is invalid; empty if it is valid.
std::string error_of(const Instance& instance, int64_t capacity, const Offsets& offsets) {
  if (offsets.size() != instance.items.size()) return "wrong number of offsets";
  for (size_t i = 0; i < offsets.size(); ++i) {
    const Item& item = instance.items[i];
    const std::string name = "item " + std::to_string(i);
    if (offsets[i] < 0 || offsets[i] + item.size > capacity) return name + ": out of bounds";
    if (offsets[i] % item.alignment != 0) return name + ": misaligned";
    if (item.offset && offsets[i] != *item.offset) return name + ": not at its required offset";
    for (size_t j = 0; j < i; ++j) {
      if (overlap(instance, offsets, i, j)) return name + ": overlaps " + std::to_string(j);
    }
  }
  return "";
}

// Tries all offsets of the items from `next` on.
bool enumerate(const Instance& instance, int64_t capacity, size_t next, Offsets& offsets) {
  if (next == instance.items.size()) return true;
  const Item& item = instance.items[next];
  for (int64_t offset = 0; offset + item.size <= capacity; offset += item.alignment) {
    if (item.offset && offset != *item.offset) continue;
    offsets[next] = offset;
    bool is_free = true;
    for (size_t i = 0; is_free && i < next; ++i) is_free = !overlap(instance, offsets, i, next);
    if (is_free && enumerate(instance, capacity, next + 1, offsets)) return true;
  }
  return false;
}

bool is_feasible(const Instance& instance, int64_t capacity) {
  Offsets offsets(instance.items.size());
  return enumerate(instance, capacity, 0, offsets);
}

struct Features {
  bool gaps = false;
  bool alignment = false;
  bool required_offsets = false;
};

Instance random_instance(std::mt19937_64& random, const Features& features) {
  Instance instance;
  const int64_t items = random_in(random, 1, 6);
  for (int64_t i = 0; i < items; ++i) {
    Item item;
    item.size = random_in(random, 1, 5);
    int64_t step = random_in(random, 0, 4);
    const int64_t lifespans = features.gaps ? random_in(random, 1, 3) : 1;
    for (int64_t j = 0; j < lifespans; ++j) {
      const int64_t end = step + random_in(random, 1, 4);
      item.lifespans.push_back({step, end});
      step = end + random_in(random, 0, 2);
    }
    if (features.alignment && random() % 2 == 0) item.alignment = random_in(random, 1, 4);
    if (features.required_offsets && random() % 4 == 0)
      item.offset = item.alignment * random_in(random, 0, 8 / item.alignment);
    instance.items.push_back(std::move(item));
  }
  contract_steps(instance.items);
  return instance;
}

// Counts of the cases, so that a test can require both outcomes.
struct Counts {
  int feasible = 0;
  int infeasible = 0;
};

// At each capacity up to the least feasible one.
void compare_with_enumeration(const Instance& instance, Counts& counts) {
  for (int64_t capacity = 4; capacity < 24; ++capacity) {
    const bool expected = is_feasible(instance, capacity);
    Offsets offsets;
    const SearchOutcome outcome = search_exact(instance, capacity, 60, offsets);
    ASSERT_EQ(outcome, expected ? SearchOutcome::kFound : SearchOutcome::kInfeasible)
        << "capacity " << capacity;
    ++(expected ? counts.feasible : counts.infeasible);
    if (!expected) continue;
    ASSERT_EQ(error_of(instance, capacity, offsets), "");
    return;
  }
}

void compare_random_instances(const Features& features, uint64_t seed) {
  std::mt19937_64 random(seed);
  Counts counts;
  for (int i = 0; i < 800; ++i) {
    SCOPED_TRACE("instance " + std::to_string(i));
    const Instance instance = random_instance(random, features);
    compare_with_enumeration(instance, counts);
    if (testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GT(counts.feasible, 400);
  EXPECT_GT(counts.infeasible, 400);
}

TEST(ExactSearchTest, AgreesWithEnumeration) { compare_random_instances({}, 1); }

TEST(ExactSearchTest, AgreesWithEnumerationWithGaps) {
  compare_random_instances({.gaps = true}, 2);
}

TEST(ExactSearchTest, AgreesWithEnumerationWithAlignment) {
  compare_random_instances({.alignment = true}, 3);
}

TEST(ExactSearchTest, AgreesWithEnumerationWithRequiredOffsets) {
  compare_random_instances({.required_offsets = true}, 4);
}

TEST(ExactSearchTest, AgreesWithEnumerationWithAllFeatures) {
  compare_random_instances({.gaps = true, .alignment = true, .required_offsets = true}, 5);
}

TEST(ExactSearchTest, EmptyInstanceIsFeasible) {
  Offsets offsets = {1};
  EXPECT_EQ(search_exact({}, 0, 1, offsets), SearchOutcome::kFound);
  EXPECT_TRUE(offsets.empty());
}

// Cuts a rectangle of time and memory at random until it has `items` parts: an instance with a plan
// in which no byte is unused at any step, like most of the published hard instances.
struct Rectangle {
  int64_t lower, upper, bottom, top;
};

Instance cut_rectangle(std::mt19937_64& random, int64_t steps, int64_t capacity, size_t items) {
  std::vector<Rectangle> parts = {{0, steps, 0, capacity}};
  while (parts.size() < items) {
    const size_t index = random() % parts.size();
    Rectangle& part = parts[index];
    Rectangle rest = part;
    if (random() % 2 == 0) {
      if (part.upper - part.lower < 2) continue;
      part.upper = rest.lower = random_in(random, part.lower + 1, part.upper - 1);
    } else {
      if (part.top - part.bottom < 2) continue;
      part.top = rest.bottom = random_in(random, part.bottom + 1, part.top - 1);
    }
    parts.push_back(rest);
  }
  Instance instance;
  for (const Rectangle& part : parts) {
    Item item;
    item.size = part.top - part.bottom;
    item.lifespans = {{part.lower, part.upper}};
    instance.items.push_back(std::move(item));
  }
  contract_steps(instance.items);
  return instance;
}

TEST(ExactSearchTest, FindsPlansWithoutUnusedBytes) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const Instance instance = cut_rectangle(random, 100, 1000, 40);
    Offsets offsets;
    ASSERT_EQ(search_exact(instance, 1000, 60, offsets), SearchOutcome::kFound);
    EXPECT_EQ(error_of(instance, 1000, offsets), "");
    EXPECT_EQ(search_exact(instance, 999, 60, offsets), SearchOutcome::kInfeasible);
  }
}

Instance random_large_instance(int64_t items, int64_t steps) {
  std::mt19937_64 random(1);
  Instance instance;
  for (int64_t i = 0; i < items; ++i) {
    Item item;
    item.size = random_in(random, 1, 1'000'000);
    const int64_t lower = random_in(random, 0, steps);
    item.lifespans = {{lower, lower + random_in(random, 1, steps / 10)}};
    instance.items.push_back(std::move(item));
  }
  contract_steps(instance.items);
  return instance;
}

// One item above the other.
Offsets stack(const Instance& instance) {
  Offsets offsets;
  int64_t end = 0;
  for (const Item& item : instance.items) {
    offsets.push_back(end);
    end += item.size;
  }
  return offsets;
}

int64_t largest_end(const Instance& instance, const Offsets& offsets) {
  int64_t height = 0;
  for (size_t i = 0; i < offsets.size(); ++i)
    height = std::max(height, offsets[i] + instance.items[i].size);
  return height;
}

// Instances with 10^5 items, with few and with many conflicts.
TEST(SearchTest, MeetsTheDeadlineOnLargeInstances) {
  // Far above the deadline, since sanitizers slow down the work between two checks of the clock.
  constexpr double kMostSeconds = 20;
  for (const int64_t steps : {100, 1'000'000}) {
    SCOPED_TRACE("steps " + std::to_string(steps));
    const Instance instance = random_large_instance(100'000, steps);
    Offsets offsets = stack(instance);
    const int64_t height = largest_end(instance, offsets);
    double start_s = thread_cpu_time();
    EXPECT_NE(search_exact(instance, height / 3, 0.5, offsets), SearchOutcome::kInfeasible);
    EXPECT_LT(thread_cpu_time() - start_s, kMostSeconds);
    start_s = thread_cpu_time();
    EXPECT_LE(improve(instance, 0, 0.5, 1, offsets), height);
    EXPECT_LT(thread_cpu_time() - start_s, kMostSeconds);
    start_s = thread_cpu_time();
    const Deadline deadline(0.5);
    EXPECT_LE(OrderSearch(instance, 1).run(0, deadline, deadline, offsets), height);
    EXPECT_LT(thread_cpu_time() - start_s, kMostSeconds);
  }
}

TEST(ImproveTest, ReachesTheLeastHeightOfSmallInstances) {
  std::mt19937_64 random(6);
  const Features features = {.gaps = true, .alignment = true, .required_offsets = true};
  for (int i = 0; i < 1000; ++i) {
    SCOPED_TRACE("instance " + std::to_string(i));
    Instance instance = random_instance(random, features);
    std::reverse(instance.items.begin(), instance.items.end());
    Offsets offsets(instance.items.size());
    if (!enumerate(instance, 30, 0, offsets)) continue;
    int64_t least = 1;
    while (!is_feasible(instance, least)) ++least;
    ASSERT_EQ(improve(instance, 0, 60, 1, offsets), least);
    ASSERT_EQ(error_of(instance, least, offsets), "");
  }
}

TEST(ImproveTest, ImprovesHardInstances) {
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const Instance instance = cut_rectangle(random, 200, 1000, 300);
    Offsets offsets = stack(instance);
    const int64_t height = improve(instance, 1080, 60, seed, offsets);
    EXPECT_LE(height, 1080);
    EXPECT_EQ(height, largest_end(instance, offsets));
    EXPECT_EQ(error_of(instance, height, offsets), "");
  }
}

TEST(ImproveTest, KeepsPlansThatReachTheTarget) {
  std::mt19937_64 random(7);
  const Instance instance = cut_rectangle(random, 100, 1000, 40);
  Offsets offsets = stack(instance);
  const Offsets expected = offsets;
  const int64_t height = largest_end(instance, offsets);
  EXPECT_EQ(improve(instance, height, 1, 1, offsets), height);
  EXPECT_EQ(offsets, expected);
}

TEST(OrderSearchTest, ImprovesHardInstancesEquallyForEqualSeeds) {
  std::mt19937_64 random(8);
  const Instance instance = cut_rectangle(random, 2000, 10000, 3000);
  const Deadline deadline(60);
  Offsets plans[2];
  for (Offsets& offsets : plans) {
    offsets = stack(instance);
    const int64_t height = OrderSearch(instance, 3).run(12500, deadline, deadline, offsets);
    EXPECT_LE(height, 12500);
    EXPECT_EQ(height, largest_end(instance, offsets));
    EXPECT_EQ(error_of(instance, height, offsets), "");
  }
  EXPECT_EQ(plans[0], plans[1]);
}

}  // namespace
}  // namespace scopevm::plan
