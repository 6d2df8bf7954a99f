// Random concatenations and slices of channels, and reductions over channels, of blocked images.
// The results equal those by channel.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/kernels/reference.h"

namespace scopevm::compiler::testing {
namespace {

struct Image {
  std::string name;
  int64_t channels;
};

// The text of a random graph of images with `height` x `width` pixels.
class Writer {
 public:
  Writer(uint32_t seed, std::string height, std::string width)
      : random_(seed), height_(std::move(height)), width_(std::move(width)) {}

  int64_t pick(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }

  std::string write(const std::vector<int64_t>& channels) {
    std::vector<Image> images;
    std::string inputs;
    for (int64_t count : channels) {
      const std::string name = "%x" + std::to_string(images.size());
      inputs += (images.empty() ? "" : ", ") + name + ": " + type(count);
      images.push_back(relu({name, count}));
    }
    for (int64_t step = pick(1, 4); step > 0; --step) {
      std::vector<Image> parts;
      for (int64_t part = pick(1, 4); part > 0; --part) {
        const Image& from = images[pick(0, static_cast<int64_t>(images.size()) - 1)];
        parts.push_back(pick(0, 1) == 0 ? from : slice(from));
      }
      images.push_back(relu(parts.size() == 1 ? parts.front() : concat(parts)));
    }
    // The last channels of a last block must not have an effect.
    const Image last = images.back(),
                even = slice(last, std::max<int64_t>(last.channels / 16 * 16, 1));
    const std::string sum = reduce(even, "reduce_sum", true),
                      most = reduce(even, "reduce_max", false);
    return "func.func @main(" + inputs + ") -> (" + type(last.channels) + ", " + type(1) + ", " +
           plane() + ") {\n" + text_ + "  return " + last.name + ", " + sum + ", " + most + " : " +
           type(last.channels) + ", " + type(1) + ", " + plane() + "\n}\n";
  }

 private:
  std::string type(int64_t channels) const {
    return tensor_type("n, " + std::to_string(channels) + ", " + height_ + ", " + width_);
  }
  std::string plane() const { return tensor_type("n, " + height_ + ", " + width_); }
  std::string add(const std::string& right_side) {
    const std::string name = "%" + std::to_string(values_++);
    text_ += "  " + name + " = sv." + right_side + "\n";
    return name;
  }

  Image relu(const Image& x) {
    return {add("relu " + x.name + " : (" + type(x.channels) + ") -> " + type(x.channels)),
            x.channels};
  }

  Image slice(const Image& x, int64_t count = 0) {
    if (count == 0) count = pick(1, x.channels);
    if (count == x.channels) return x;
    const int64_t aligned = pick(0, (x.channels - count) / 16) * 16;
    const int64_t start = pick(0, 2) == 0 ? aligned : pick(0, x.channels - count);
    return {add("slice " + x.name + " {starts = #sv.dims<[0, " + std::to_string(start) +
                ", 0, 0]>, sizes = #sv.dims<[n, " + std::to_string(count) + ", " + height_ + ", " +
                width_ + "]>, steps = array<i64: 1, 1, 1, 1>} : (" + type(x.channels) + ") -> " +
                type(count)),
            count};
  }

  Image concat(const std::vector<Image>& parts) {
    std::string names, types;
    int64_t channels = 0;
    for (const Image& part : parts) {
      names += (names.empty() ? "" : ", ") + part.name;
      types += (types.empty() ? "" : ", ") + type(part.channels);
      channels += part.channels;
    }
    return {add("concat " + names + " {axis = 1 : i64} : (" + types + ") -> " + type(channels)),
            channels};
  }

  std::string reduce(const Image& x, const std::string& op, bool keeps_dims) {
    return add(op + " " + x.name +
               " {axes = array<i64: 1>, keep_dims = " + (keeps_dims ? "true" : "false") + "} : (" +
               type(x.channels) + ") -> " + (keeps_dims ? type(1) : plane()));
  }

  std::mt19937 random_;
  std::string height_, width_, text_;
  int values_ = 0;
};

void check(uint32_t seed, const char* cpu) {
  std::mt19937 random(seed);
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  std::vector<int64_t> channels;
  for (int64_t count = pick(1, 3); count > 0; --count)
    channels.push_back(pick(0, 2) == 0 ? pick(1, 5) * 8 : pick(2, 40));
  const bool is_static = pick(0, 1) == 0;
  const int64_t height = pick(1, 5), width = pick(1, 9);
  const std::string text = Writer(seed, is_static ? std::to_string(height) : "h",
                                  is_static ? std::to_string(width) : "w")
                               .write(channels);
  auto blocked = KernelRunner::create(text, cpu, /*fuse=*/true, ImageLayout::kBlocked);
  auto by_channel = KernelRunner::create(text, "host");
  ASSERT_TRUE(blocked.ok()) << blocked.status().message() << text;
  ASSERT_TRUE(by_channel.ok()) << by_channel.status().message() << text;
  for (int64_t images : {1, 2, 0}) {
    std::vector<Array> inputs;
    for (int64_t count : channels)
      inputs.push_back(
          random_f32({images, count, height, width}, static_cast<uint32_t>(inputs.size())));
    run_both(**blocked, **by_channel, inputs);
    if (::testing::Test::HasFailure()) FAIL() << images << " images of " << text;
  }
}

TEST(BlockedLayout, ChannelRangesAgreeWithThoseByChannel) {
  const char* count = std::getenv("SCOPEVM_RANDOM_CONVOLUTIONS");
  const int cases = count == nullptr ? 30 : std::atoi(count);
  for (int i = 0; i < cases; ++i) {
    SCOPED_TRACE("case " + std::to_string(i));
    check(static_cast<uint32_t>(i), i % 3 == 0 ? "x86-64-v3" : "host");
    if (HasFailure()) return;
  }
}

// Parts of blocks are copied by one kernel. Ranges that start a block need none of its own.
TEST(BlockedLayout, OnlyPartsOfBlocksNeedTheirOwnKernel) {
  const auto steps = [](const std::string& first, const std::string& second) {
    const std::string x = tensor_type("n, " + first + ", 4, 4"),
                      y = tensor_type("n, " + second + ", 4, 4"),
                      z = tensor_type("n, " + std::to_string(std::stoi(first) + std::stoi(second)) +
                                      ", 4, 4");
    auto runner = KernelRunner::create(
        "func.func @main(%x: " + x + ", %y: " + y + ") -> " + z + " {\n  %z = sv.concat %x, %y " +
            "{axis = 1 : i64} : (" + x + ", " + y + ") -> " + z + "\n  return %z : " + z + "\n}\n",
        "host", /*fuse=*/true, ImageLayout::kBlocked);
    EXPECT_TRUE(runner.ok());
    const std::vector<std::string> all = (*runner)->steps();
    return std::count_if(all.begin(), all.end(), [](const std::string& step) {
      return step.find("blocked_concat") != std::string::npos;
    });
  };
  EXPECT_EQ(steps("24", "8"), 1);
  EXPECT_EQ(steps("32", "8"), 0);
}

}  // namespace
}  // namespace scopevm::compiler::testing
