// The allocator of docs/adding-an-allocator.md, which only this program contains.
#include <gtest/gtest.h>

#include <algorithm>

#include "scopevm/allocators.h"

namespace scopevm {
namespace {

TEST(AddedAllocator, IsFoundByName) {
  const std::vector<std::string> names = allocator_names();
  EXPECT_NE(std::ranges::find(names, "zeroed"), names.end());
  Result<std::shared_ptr<Allocator>> allocator = make_allocator("zeroed");
  ASSERT_TRUE(allocator.ok()) << allocator.status().message();
  auto* block = static_cast<const char*>((*allocator)->allocate(1000));
  ASSERT_NE(block, nullptr);
  EXPECT_TRUE(std::all_of(block, block + 1000, [](char byte) { return byte == 0; }));
  EXPECT_EQ((*allocator)->stats().live_bytes, 1000);
  (*allocator)->deallocate(const_cast<char*>(block), 1000);
}

TEST(AddedAllocator, HasWrappersAndNoOtherOptions) {
  Result<std::shared_ptr<Allocator>> limited = make_allocator_from_text("zeroed:limit=100");
  ASSERT_TRUE(limited.ok()) << limited.status().message();
  EXPECT_EQ((*limited)->allocate(101), nullptr);
  EXPECT_EQ(make_allocator_from_text("zeroed:capacity=1M").status().message(),
            "allocator \"zeroed\": has no option capacity");
}

}  // namespace
}  // namespace scopevm
