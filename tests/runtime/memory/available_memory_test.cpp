// The memory that the system and the control groups of the process leave, read from files.
#include "runtime/memory/sources/available_memory.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "runtime/memory/sources/system_memory.h"
#include "tests/runtime/system_files.h"

namespace scopevm::runtime {
namespace {

constexpr int64_t kMebibyte = int64_t{1} << 20;

class AvailableMemory : public SystemFiles {
 protected:
  // A system with 100 MiB of memory and 8 MiB of swap that are free.
  void write_system() const {
    write("/proc/meminfo", "MemTotal:  999999 kB\nMemAvailable:  102400 kB\nSwapFree:  8192 kB\n");
  }
  int64_t mebibytes() const { return available_memory(root_) / kMebibyte; }
};

TEST_F(AvailableMemory, OfTheSystem) {
  EXPECT_EQ(available_memory(root_), std::numeric_limits<int64_t>::max());
  write_system();
  EXPECT_EQ(mebibytes(), 108);
}

TEST_F(AvailableMemory, OfControlGroups) {
  write_system();
  write("/proc/self/cgroup", "0::/a/b\n");
  write("/sys/fs/cgroup/a/b/memory.max", "max\n");
  write("/sys/fs/cgroup/a/b/memory.current", "1\n");
  EXPECT_EQ(mebibytes(), 108);
  // The limit of the group that contains it. Pages of files can be dropped.
  write("/sys/fs/cgroup/a/memory.max", std::to_string(64 * kMebibyte));
  write("/sys/fs/cgroup/a/memory.current", std::to_string(32 * kMebibyte));
  EXPECT_EQ(mebibytes(), 32);
  write("/sys/fs/cgroup/a/memory.stat",
        "anon 1\ninactive_file " + std::to_string(8 * kMebibyte) + "\n");
  EXPECT_EQ(mebibytes(), 40);
  write("/sys/fs/cgroup/a/b/memory.max", "0");
  EXPECT_EQ(mebibytes(), 0);
}

TEST_F(AvailableMemory, OfControlGroupsOfVersion1) {
  write_system();
  write("/proc/self/cgroup", "5:cpu:/x\n4:memory:/a\n0::/\n");
  write("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", std::to_string(16 * kMebibyte));
  write("/sys/fs/cgroup/memory/a/memory.usage_in_bytes", std::to_string(4 * kMebibyte));
  EXPECT_EQ(mebibytes(), 12);
}

// The kernel would allocate the block, and kill the process that uses it.
TEST(SystemAllocate, RefusesBlocksThatTheSystemDoesNotHave) {
  const int64_t available = available_memory();
  if (available > int64_t{1} << 45) GTEST_SKIP() << "unknown memory";
  EXPECT_EQ(system_allocate(available + 512 * kMebibyte), nullptr);
  void* const block = system_allocate(kMebibyte);
  EXPECT_NE(block, nullptr);
  system_deallocate(block);
}

}  // namespace
}  // namespace scopevm::runtime
