// Makes an allocator of a description that must be valid.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string_view>
#include <utility>

#include "scopevm/allocators.h"

namespace scopevm::runtime {

inline std::shared_ptr<Allocator> made(std::string_view text, AllocatorOptions options = {}) {
  Result<std::shared_ptr<Allocator>> result = make_allocator_from_text(text, std::move(options));
  EXPECT_TRUE(result.ok()) << result.status().message();
  return *result;
}

}  // namespace scopevm::runtime
