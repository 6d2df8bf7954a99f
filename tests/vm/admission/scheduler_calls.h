// Sessions and calls of tests of schedulers.
#pragma once

#include <gtest/gtest.h>

#include <future>
#include <string>
#include <utility>

#include "scopevm/scheduler.h"
#include "scopevm/session.h"
#include "tests/vm/modules/test_modules.h"

namespace scopevm::test {

inline constexpr char kGlobal[] = "cpu.global";
inline constexpr char kWorkspace[] = "cpu.global.workspace";

inline Tensor floats(int64_t rows) {
  Tensor tensor = *Tensor::allocate(DType::kF32, {rows, 4});
  for (int64_t i = 0; i < 4 * rows; ++i) tensor.elements<float>()[static_cast<size_t>(i)] = 1.5F;
  return tensor;
}

inline Session session_on(const Scheduler& scheduler, const format::ModuleContents& contents,
                          SessionOptions options = {}) {
  options.scheduler = scheduler;
  return *Session::create(load(contents), std::move(options));
}

inline Call sum_call(const Session& session, int64_t rows) {
  Call call = *session.make_call();
  EXPECT_TRUE(call.set_input("x", floats(rows)).ok());
  EXPECT_TRUE(call.set_input("y", floats(rows)).ok());
  return call;
}

// A call whose function keeps the only worker busy until release().
class BusyWorker {
 public:
  explicit BusyWorker(const Session& session) : call_(sum_call(session, 10)) {
    std::promise<void> started;
    std::future<void> has_started = started.get_future();
    EXPECT_TRUE(call_
                    .submit({},
                            [this, &started](const Status&) {
                              started.set_value();
                              released_.get_future().wait();
                            })
                    .ok());
    has_started.wait();
  }
  void release() { released_.set_value(); }

 private:
  std::promise<void> released_;
  Call call_;
};

inline PoolUse use_of(const Scheduler& scheduler, const std::string& pool) {
  const SchedulerStats stats = *scheduler.stats();
  for (const PoolUse& use : stats.pools)
    if (use.pool == pool) return use;
  ADD_FAILURE() << "no pool " << pool;
  return {};
}

}  // namespace scopevm::test
