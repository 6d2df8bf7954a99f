// The CPUs that the affinity and the control groups of the process allow.
#include "runtime/process/available_cpus.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "runtime/process/cpu_set.h"
#include "tests/runtime/system_files.h"

namespace scopevm::runtime {
namespace {

class AvailableCpus : public SystemFiles {
 protected:
  // Restricts this thread to one CPU of those that it has.
  static void use_one_cpu() {
    cpu_set_t cpus;
    ASSERT_EQ(sched_getaffinity(0, sizeof cpus, &cpus), 0);
    size_t first = 0;
    while (!CPU_ISSET(first, &cpus)) ++first;
    CPU_ZERO(&cpus);
    CPU_SET(first, &cpus);
    ASSERT_EQ(sched_setaffinity(0, sizeof cpus, &cpus), 0);
  }
};

TEST_F(AvailableCpus, OfTheAffinity) {
  EXPECT_GE(available_cpus(root_), 1);
  std::thread([&] {
    use_one_cpu();
    EXPECT_EQ(available_cpus(root_), 1);
  }).join();
}

TEST_F(AvailableCpus, OfControlGroups) {
  const int all = available_cpus(root_);
  write("/proc/self/cgroup", "0::/a/b\n");
  write("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  EXPECT_EQ(available_cpus(root_), all);
  write("/sys/fs/cgroup/a/cpu.max", "25000 100000\n");
  EXPECT_EQ(available_cpus(root_), 1);
  write("/sys/fs/cgroup/a/cpu.max", "100001 100000\n");  // rounded up
  EXPECT_EQ(available_cpus(root_), std::min(all, 2));
  write("/sys/fs/cgroup/a/cpu.max", "none");
  EXPECT_EQ(available_cpus(root_), all);
}

TEST_F(AvailableCpus, OfControlGroupsOfVersion1) {
  const int all = available_cpus(root_);
  write("/proc/self/cgroup", "4:cpuacct,cpu:/a\n3:memory:/\n");
  write("/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "-1\n");
  write("/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(available_cpus(root_), all);
  write("/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "90000\n");
  EXPECT_EQ(available_cpus(root_), 1);
}

TEST_F(AvailableCpus, OfANode) {
  write("/sys/devices/system/node/node1/cpulist", "0-2,8,10-11\n");
  EXPECT_EQ(*cpus_of_node(1, root_), (std::vector<int>{0, 1, 2, 8, 10, 11}));
  EXPECT_EQ(cpus_of_node(0, root_).status().code(), StatusCode::kNotFound);
  write("/sys/devices/system/node/node2/cpulist", "3,4-");
  EXPECT_EQ(*cpus_of_node(2, root_), std::vector<int>{3});
  write("/sys/devices/system/node/node3/cpulist", "0-99999999999999999999");
  EXPECT_TRUE(cpus_of_node(3, root_)->empty());
}

}  // namespace
}  // namespace scopevm::runtime
