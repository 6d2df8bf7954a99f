// CPU features of the host, mapped files, and suggestions for misspelt names.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include "runtime/cpu/cpu_features.h"
#include "runtime/mapped_file.h"
#include "runtime/nearest_name.h"

namespace scopevm::runtime {
namespace {

std::string cpuinfo_flags() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line))
    if (line.starts_with("flags")) return line + " ";
  return "";
}

// The CPU has every feature that /proc/cpuinfo lists. It can have others, which the kernel hides,
// but not those whose registers the system would have to save.
TEST(CpuFeatures, AgreeWithProcCpuinfo) {
  const std::string flags = cpuinfo_flags();
  if (flags.empty()) FAIL() << "/proc/cpuinfo has no flags";
  for (const std::string_view feature : {
#define SCOPEVM_CPU_FEATURE(llvm, name, ...) name,
#include "runtime/cpu/cpu_features.def"
#undef SCOPEVM_CPU_FEATURE
       }) {
    const bool is_listed = flags.find(" " + std::string(feature) + " ") != std::string::npos;
    if (is_listed || feature.starts_with("avx") || feature.starts_with("amx"))
      EXPECT_EQ(cpu_has(feature), is_listed) << feature;
  }
}

TEST(CpuFeatures, UnknownNamesAreMissing) {
  EXPECT_FALSE(cpu_has("quantum"));
  EXPECT_EQ(missing_cpu_features(std::vector<std::string>{"pni", "quantum"}),
            std::vector<std::string>{"quantum"});
}

TEST(MappedFile, ReportsTheReason) {
  EXPECT_EQ(map_file("/nowhere/file").status().message(),
            "/nowhere/file: No such file or directory");
  EXPECT_EQ(map_file("/tmp").status().message(), "/tmp: is a directory");
  EXPECT_EQ(map_file("/dev/null").status().message(), "/dev/null: is not a regular file");
}

TEST(NearestName, SuggestsOnlySimilarNames) {
  const std::vector<std::string> names{"input_ids", "attention_mask", "token_type_ids"};
  EXPECT_EQ(name_suggestion("input_id", names), "; did you mean \"input_ids\"?");
  EXPECT_EQ(name_suggestion("InputIds", names), "; did you mean \"input_ids\"?");
  EXPECT_EQ(name_suggestion("pixels", names),
            "; there are \"input_ids\", \"attention_mask\", \"token_type_ids\"");
  EXPECT_EQ(name_suggestion("x", {}), "");
}

}  // namespace
}  // namespace scopevm::runtime
