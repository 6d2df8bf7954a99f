// Published planning instances: every plan is valid, and its height is less than 1.5 times the
// lower bound. Prints both for each instance.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "compiler/memory/plan.h"

namespace scopevm::compiler::memory {
namespace {

std::vector<std::filesystem::path> instances() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(SCOPEVM_PLANNING_DATA))
    if (entry.path().extension() == ".csv") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

TEST(PlanningInstances, EveryPlanIsValid) {
  ASSERT_FALSE(instances().empty()) << "no CSV below " << SCOPEVM_PLANNING_DATA;
  for (const std::filesystem::path& path : instances()) {
    std::ifstream file(path);
    std::string text{std::istreambuf_iterator<char>(file), {}};
    Result<std::vector<PlannedBuffer>> buffers = parse_csv(text);
    ASSERT_TRUE(buffers.ok()) << path << ": " << buffers.status().message();
    int64_t bound = lower_bound_of(*buffers), height = place_best(*buffers);
    Status status = validate(*buffers, height, 1);
    EXPECT_TRUE(status.ok()) << path << ": " << status.message();
    double ratio = static_cast<double>(height) / static_cast<double>(bound);
    EXPECT_LT(ratio, 1.5) << path;
    std::printf("%-12s %5zu buffers, height %lld, lower bound %lld, ratio %.3f\n",
                path.stem().c_str(), buffers->size(), static_cast<long long>(height),
                static_cast<long long>(bound), ratio);
  }
}

}  // namespace
}  // namespace scopevm::compiler::memory
