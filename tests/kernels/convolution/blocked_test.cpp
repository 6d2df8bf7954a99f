// Convolutions of blocked images (sv.blocked_conv), compared with loops: random shapes with known
// and unknown image sizes, fused ops, and padding channels that are NaN or any byte.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "compiler/schedule/convolution.h"
#include "tests/kernels/reference.h"
#include "tests/kernels/run_text.h"
#include "tests/temporary_file.h"

namespace scopevm::compiler::testing {
namespace {

constexpr int64_t kBlock = 16;

int64_t blocks_of(int64_t channels) { return (channels + kBlock - 1) / kBlock; }

// [n, c, h, w] -> [n, blocks, h, w, 16]. Padding channels are `padding`.
Array blocked(const Array& image, float padding) {
  const std::vector<int64_t>& d = image.dims;
  const int64_t area = d[2] * d[3], blocks = blocks_of(d[1]);
  const std::vector<float> from = image.as<float>();
  std::vector<float> to(d[0] * blocks * area * kBlock, padding);
  for (int64_t n = 0; n < d[0]; ++n)
    for (int64_t c = 0; c < d[1]; ++c)
      for (int64_t i = 0; i < area; ++i)
        to[((n * blocks + c / kBlock) * area + i) * kBlock + c % kBlock] =
            from[(n * d[1] + c) * area + i];
  return Array::of(DType::kF32, {d[0], blocks, d[2], d[3], kBlock}, to);
}

// The inverse of blocked() for `channels` channels.
Array by_channel(const Array& image, int64_t channels) {
  const std::vector<int64_t>& d = image.dims;
  const int64_t area = d[2] * d[3];
  const std::vector<float> from = image.as<float>();
  std::vector<float> to(d[0] * channels * area);
  for (int64_t n = 0; n < d[0]; ++n)
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t i = 0; i < area; ++i)
        to[(n * channels + c) * area + i] =
            from[((n * d[1] + c / kBlock) * area + i) * kBlock + c % kBlock];
  return Array::of(DType::kF32, {d[0], channels, d[2], d[3]}, to);
}

// Numbers from `low` to `high`, as f32.
Array random_integers(std::vector<int64_t> dims, uint32_t seed, int low, int high) {
  Array array = random_f32(std::move(dims), seed);
  std::mt19937 random(seed);
  std::vector<float> elements = array.as<float>();
  for (float& element : elements)
    element = static_cast<float>(std::uniform_int_distribution<int>(low, high)(random));
  return Array::of(DType::kF32, array.dims, elements);
}

// The elements as u8 or i8.
template <typename Byte>
Array as_bytes(const Array& array) {
  std::vector<Byte> bytes;
  for (const float element : array.as<float>()) bytes.push_back(static_cast<Byte>(element));
  return Array::of(sizeof(Byte) == 1 && Byte(-1) < 0 ? DType::kI8 : DType::kU8, array.dims, bytes);
}

// The elements of an i32 array, which are less than 2^24, as f32; an f32 array is unchanged.
Array as_f32(const Array& array) {
  if (array.dtype == DType::kF32) return array;
  std::vector<float> elements;
  for (const int32_t element : array.as<int32_t>()) elements.push_back(static_cast<float>(element));
  return Array::of(DType::kF32, array.dims, elements);
}

void expect_padding_is_zero(const Array& image, int64_t channels) {
  const std::vector<float> elements = image.as<float>();
  const int64_t blocks = image.dims[1], area = image.dims[2] * image.dims[3];
  int64_t count = 0;
  for (size_t i = 0; i < elements.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    const int64_t channel = at / (area * kBlock) % blocks * kBlock + at % kBlock;
    if (channel >= channels && elements[i] != 0) ++count;
  }
  EXPECT_EQ(count, 0) << "padding elements that are not 0";
}

struct Case {
  std::vector<int64_t> w;  // [rows, channels of a group, kernel height, kernel width]
  int64_t images = 1, channels = 1;
  ConvAttributes attributes;
  bool is_blocked = true;  // x
  bool is_static = false;  // the image's size is known at compile time
  bool is_fused = false;   // the result is relu(conv + bias + z)
  float z_padding = NAN;   // the padding channels of z
  bool has_constant_weights = true;
  bool is_winograd = false;
  bool has_bytes = false;    // u8 x and i8 weights; is_fused: sums become f32
  int64_t group_blocks = 0;  // of the schedule; 0: none

  int64_t out(int axis, int64_t size) const {
    const ConvAttributes& a = attributes;
    return (size + a.pads[axis] + a.pads[axis + 2] - (w[2 + axis] - 1) * a.dilations[axis] - 1) /
               a.strides[axis] +
           1;
  }
};

// The dim of the result along an axis of an image of unknown size `symbol`.
std::string out_dim(const Case& t, int axis, const std::string& symbol) {
  const ConvAttributes& a = t.attributes;
  const int64_t offset =
      a.pads[axis] + a.pads[axis + 2] - (t.w[2 + axis] - 1) * a.dilations[axis] - 1;
  return "\"floordiv(" + symbol + (offset < 0 ? "-" : "+") + std::to_string(std::abs(offset)) +
         ", " + std::to_string(a.strides[axis]) + ")+1\"";
}

std::string text_of(const Case& t, const Array& w, const Array& bias, int64_t height,
                    int64_t width) {
  const ConvAttributes& a = t.attributes;
  const std::string size =
      t.is_static ? std::to_string(height) + ", " + std::to_string(width) : "h, w";
  const std::string out_size =
      t.is_static ? std::to_string(t.out(0, height)) + ", " + std::to_string(t.out(1, width))
                  : out_dim(t, 0, "h") + ", " + out_dim(t, 1, "w");
  const char* element = t.has_bytes ? "u8" : "f32";
  const std::string x =
      t.is_blocked
          ? tensor_type("n, " + std::to_string(blocks_of(t.channels)) + ", " + size + ", 16",
                        element)
          : tensor_type("n, " + std::to_string(t.channels) + ", " + size, element);
  const std::string y_dims = "n, " + std::to_string(blocks_of(t.w[0])) + ", " + out_size + ", 16";
  const std::string sums = tensor_type(y_dims, t.has_bytes ? "i32" : "f32");
  const std::string y = t.is_fused ? tensor_type(y_dims) : sums;
  std::string text =
      "func.func @main(%x: " + x + (t.is_fused ? ", %z: " + y : "") +
      (t.has_constant_weights ? "" : ", %w: " + static_type(w)) + ") -> " + y + " {\n" +
      (t.has_constant_weights ? constant_text("w", w) : "") +
      "  %y = sv.blocked_conv %x, %w {strides = " + list(a.strides) + ", pads = " + list(a.pads) +
      ", dilations = " + list(a.dilations) + ", group = " + std::to_string(a.group) + " : i64" +
      (t.is_winograd ? ", winograd" : "") +
      (t.group_blocks == 0
           ? ""
           : ", schedule = \"" + schedule::ConvForm{.group_blocks = t.group_blocks}.text() + "\"") +
      "} : (" + x + ", " + static_type(w) + ") -> " + sums + "\n";
  if (!t.is_fused) return text + "  return %y : " + y + "\n}\n";
  const char* addend = t.has_bytes ? "%f" : "%y";
  if (t.has_bytes) text += "  %f = sv.cast %y {to = \"f32\"} : (" + sums + ") -> " + y + "\n";
  return text + constant_text("b", bias) + "  %s = sv.add " + addend + ", %b : (" + y + ", " +
         static_type(bias) + ") -> " + y + "\n  %u = sv.add %z, %s : (" + y + ", " + y + ") -> " +
         y + "\n  %r = sv.relu %u : (" + y + ") -> " + y + "\n  return %r : " + y + "\n}\n";
}

void check(const Case& t, const char* cpu, const std::vector<std::pair<int64_t, int64_t>>& sizes) {
  const Array w = t.has_bytes ? random_integers(t.w, 1, -128, 127) : random_f32(t.w, 1);
  const Array given_w = t.has_bytes ? as_bytes<int8_t>(w) : w;
  const Array bias = random_f32({1, t.w[0], 1, 1}, 2);
  std::unique_ptr<KernelRunner> runner;
  for (auto [height, width] : sizes) {
    SCOPED_TRACE(std::to_string(height) + "x" + std::to_string(width));
    if (!runner || t.is_static) {
      const std::string text = text_of(t, given_w, blocked(bias, 0), height, width);
      auto created = KernelRunner::create(text, cpu, t.is_fused);
      ASSERT_TRUE(created.ok()) << created.status().message() << text.substr(0, 300);
      runner = *std::move(created);
    }
    const std::vector<int64_t> x_dims = {t.images, t.channels, height, width};
    const Array x = t.has_bytes ? random_integers(x_dims, 3, 0, 255) : random_f32(x_dims, 3);
    std::vector<int64_t> dims;
    std::vector<double> expected = reference_conv(x, w, t.attributes, dims);
    std::vector<Array> inputs = {t.has_bytes    ? as_bytes<uint8_t>(blocked(x, 211))
                                 : t.is_blocked ? blocked(x, NAN)
                                                : x};
    if (t.is_fused) {
      const Array z = random_f32(dims, 4);
      const std::vector<float> addends = z.as<float>(), biases = bias.as<float>();
      for (size_t i = 0; i < expected.size(); ++i)
        expected[i] =
            std::max(0.0, expected[i] + addends[i] + biases[i / (dims[2] * dims[3]) % dims[1]]);
      inputs.push_back(blocked(z, t.z_padding));
    }
    if (!t.has_constant_weights) inputs.push_back(given_w);
    auto outputs = runner->run(inputs);
    ASSERT_TRUE(outputs.ok()) << outputs.status().message();
    ASSERT_EQ(outputs->front().dims,
              (std::vector<int64_t>{dims[0], blocks_of(dims[1]), dims[2], dims[3], kBlock}));
    const Array actual = by_channel(as_f32(outputs->front()), t.w[0]);
    if (t.has_bytes && !t.is_fused)
      EXPECT_EQ(actual.as<float>(), std::vector<float>(expected.begin(), expected.end()));
    else
      expect_near(actual, expected, "blocked");
    // The padding channels of a result are values of the kernel, not old bytes of memory, so that a
    // run can be compared with another one. Those of groups depend on the padding of x.
    if ((!t.is_fused || t.z_padding == 0) && t.has_constant_weights && t.attributes.group == 1)
      expect_padding_is_zero(as_f32(outputs->front()), t.w[0]);
  }
}

// Sets the number of blocks that are computed together, if `number` is valid.
void set_group_blocks(Case& t, int64_t number) {
  const int64_t blocks = blocks_of(t.w[0]) / t.attributes.group;
  if (blocks % number == 0 || (t.attributes.group == 1 && number < blocks)) t.group_blocks = number;
}

// Random convolutions, each of images of several sizes.
void check_random(bool has_bytes, uint32_t seed) {
  const char* count = std::getenv("SCOPEVM_RANDOM_CONVOLUTIONS");
  const int cases = count == nullptr ? 16 : std::atoi(count);
  std::mt19937 random(seed);
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  for (int i = 0; i < cases; ++i) {
    Case t{.images = pick(1, 2), .is_static = pick(0, 1) == 0, .is_fused = pick(0, 1) == 0};
    t.has_constant_weights = pick(0, 4) != 0;
    const bool is_depthwise = pick(0, 2) == 0;
    t.channels = pick(1, pick(0, 3) == 0 ? 150 : 40);
    t.has_bytes = has_bytes;
    t.is_blocked = is_depthwise || pick(0, 3) != 0 || has_bytes;
    if (!t.is_blocked) t.channels = pick(1, 5);
    const bool is_pointwise = !is_depthwise && pick(0, 1) == 0;
    // Many input channels have several parts of the depth.
    if (is_pointwise && t.is_blocked && pick(0, 3) == 0) t.channels = pick(300, 700);
    int64_t rows = is_depthwise ? t.channels : pick(1, 130);
    t.attributes.group = is_depthwise ? t.channels : 1;
    if (!is_depthwise && t.is_blocked && pick(0, 3) == 0) {
      t.attributes.group = pick(1, 4);
      t.channels = t.attributes.group * pick(1, 3) * kBlock;
      rows = t.attributes.group * pick(1, 4) * kBlock;
    } else if (!is_depthwise && t.is_blocked && pick(0, 2) == 0) {  // narrow groups
      t.attributes.group = pick(2, 9);
      rows = t.channels = t.attributes.group << pick(1, 3);
    }
    t.w = {rows, t.channels / t.attributes.group};
    t.attributes.pads.assign(4, 0);
    int64_t least[2];
    for (int axis : {0, 1}) {
      const int64_t kernel = is_pointwise ? 1 : pick(1, 5), dilation = pick(0, 3) == 0 ? 2 : 1;
      t.w.push_back(kernel);
      t.attributes.strides.push_back(pick(0, 1) == 0 ? 1 : pick(1, 3));
      t.attributes.dilations.push_back(dilation);
      int64_t pads = 0;
      for (int side : {0, 2})
        pads += t.attributes.pads[axis + side] = pick(0, 8) == 0 ? pick(0, 3) : pick(0, kernel - 1);
      least[axis] = std::max<int64_t>((kernel - 1) * dilation + 1 - pads, 1);
    }
    const bool has_narrow_groups = t.attributes.group != 1 && t.w[1] < kBlock;
    if (!has_narrow_groups && pick(0, 1) == 0) set_group_blocks(t, pick(1, 4));
    std::vector<std::pair<int64_t, int64_t>> sizes;
    for (int size = 0; size < (t.is_static ? 1 : 4); ++size)
      sizes.emplace_back(least[0] + pick(0, 20), least[1] + pick(0, t.is_static ? 90 : 40));
    SCOPED_TRACE("case " + std::to_string(i) + ": w " + list(t.w) + ", channels " +
                 std::to_string(t.channels) + ", strides " + list(t.attributes.strides) +
                 ", pads " + list(t.attributes.pads) + ", dilations " +
                 list(t.attributes.dilations) + ", group_blocks " + std::to_string(t.group_blocks) +
                 (t.is_static ? ", static" : "") + (t.is_fused ? ", fused" : "") +
                 (t.is_blocked ? "" : ", by channel"));
    // CPUs with and without dot products of bytes.
    const bool has_avx512 = __builtin_cpu_supports("avx512vl") != 0;
    const char* other = i % 2 == 0 && has_avx512 ? "x86-64-v4" : "x86-64-v3";
    check(t, i % 3 == 0 ? other : i % 10 == 1 ? "x86-64" : "host", sizes);
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(BlockedConv, AgreesWithLoops) { check_random(/*has_bytes=*/false, 777); }
TEST(BlockedConv, BytesAgreeWithLoops) { check_random(/*has_bytes=*/true, 778); }

// Only half of the last block is computed, and the sums of tiles that overlap are in memory,
// because the result can have the storage of z.
TEST(BlockedConv, PaddingChannelsOfSumsInMemory) {
  for (const bool is_static : {false, true})
    for (const char* cpu : {"host", "x86-64-v3", "x86-64"}) {
      SCOPED_TRACE(cpu);
      const Case t{.w = {24, 144, 1, 1},
                   .channels = 144,
                   .attributes = {{1, 1}, {0, 0, 0, 0}, {1, 1}, 1},
                   .is_static = is_static,
                   .is_fused = true,
                   .z_padding = 0};
      check(t, cpu, {{7, 17}, {23, 29}});
    }
}

// Random convolutions by Winograd's algorithm. Sums of at most 100 channels are within 1e-4.
TEST(BlockedConv, WinogradAgreesWithLoops) {
  const char* count = std::getenv("SCOPEVM_RANDOM_CONVOLUTIONS");
  const int cases = count == nullptr ? 8 : std::atoi(count);
  std::mt19937 random(4242);
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  for (int i = 0; i < cases; ++i) {
    Case t{.images = pick(1, 2), .is_static = pick(0, 1) == 0, .is_fused = pick(0, 1) == 0};
    t.is_winograd = true;
    t.channels = pick(1, 70);
    t.w = {pick(1, 130), t.channels, 3, 3};
    t.attributes = {{1, 1}, {pick(0, 3), pick(0, 3), pick(0, 3), pick(0, 3)}, {1, 1}, 1};
    std::vector<std::pair<int64_t, int64_t>> sizes;
    for (int size = 0; size < (t.is_static ? 1 : 4); ++size)
      sizes.emplace_back(3 + pick(0, 20), 3 + pick(0, 40));
    SCOPED_TRACE("case " + std::to_string(i) + ": w " + list(t.w) + ", pads " +
                 list(t.attributes.pads) + (t.is_static ? ", static" : ""));
    check(t, i % 3 == 0 ? "x86-64-v3" : i % 10 == 1 ? "x86-64" : "host", sizes);
    if (HasFailure()) return;
  }
}

// Random convolutions of small images, whose tiles omit the taps in the padding.
TEST(BlockedConv, SmallImagesAgreeWithLoops) {
  const char* count = std::getenv("SCOPEVM_RANDOM_CONVOLUTIONS");
  const int cases = count == nullptr ? 16 : std::atoi(count);
  std::mt19937 random(31);
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  for (int i = 0; i < cases; ++i) {
    Case t{.images = pick(1, 3), .is_static = true, .is_fused = pick(0, 1) == 0};
    t.is_blocked = pick(0, 3) != 0;
    t.channels = !t.is_blocked     ? pick(1, 4)
                 : pick(0, 2) == 0 ? pick(1, kBlock - 1)
                                   : kBlock * pick(1, 3);
    t.w = {kBlock * pick(1, 8), t.channels};
    t.attributes = {{}, {0, 0, 0, 0}, {}, 1};
    int64_t sizes[2];
    for (int axis : {0, 1}) {
      const int64_t kernel = pick(1, 5), dilation = pick(0, 4) == 0 ? 2 : 1;
      t.w.push_back(kernel);
      t.attributes.strides.push_back(pick(0, 2) == 0 ? pick(2, 3) : 1);
      t.attributes.dilations.push_back(dilation);
      int64_t pads = 0;
      for (int side : {0, 2}) pads += t.attributes.pads[axis + side] = pick(0, kernel);
      const int64_t least = std::max<int64_t>((kernel - 1) * dilation + 1 - pads, 1);
      sizes[axis] = least + pick(0, axis == 0 ? 6 : 20);
    }
    if (pick(0, 1) == 0) set_group_blocks(t, pick(1, 4));
    SCOPED_TRACE("case " + std::to_string(i) + ": w " + list(t.w) + ", strides " +
                 list(t.attributes.strides) + ", pads " + list(t.attributes.pads) + ", dilations " +
                 list(t.attributes.dilations) + ", group_blocks " + std::to_string(t.group_blocks) +
                 (t.is_blocked ? "" : ", by channel"));
    check(t, i % 3 == 0 ? "x86-64-v3" : i % 10 == 1 ? "x86-64" : "host", {{sizes[0], sizes[1]}});
    if (HasFailure()) return;
  }
}

// The tiles of narrow groups depend on the height of images of few rows.
TEST(BlockedConv, NarrowGroupsOfFewRowsAgreeWithLoops) {
  for (const char* cpu : {"host", "x86-64-v3"})
    for (const int64_t height : {1, 2, 3, 4, 7})
      for (const int64_t width : {1, 13, 30})
        for (const int64_t channels : {1, 4}) {
          SCOPED_TRACE(std::string(cpu) + ", groups of " + std::to_string(channels));
          const Case t{.w = {24, channels, 3, 3},
                       .channels = 24,
                       .attributes = {{1, 1}, {1, 1, 1, 1}, {1, 1}, 24 / channels},
                       .is_static = true,
                       .is_fused = true};
          check(t, cpu, {{height, width}});
        }
}

// Images without pixels, and without images.
TEST(BlockedConv, EmptyImages) {
  const Case t{.w = {20, 18, 1, 1},
               .images = 0,
               .channels = 18,
               .attributes = {{1, 1}, {0, 0, 0, 0}, {1, 1}, 1}};
  check(t, "host", {{3, 5}});
  const Case padded{
      .w = {20, 18, 3, 3}, .channels = 18, .attributes = {{1, 1}, {1, 1, 1, 1}, {1, 1}, 1}};
  check(padded, "host", {{0, 5}, {4, 0}, {1, 1}});
}

// Lines of the disassembled function.
struct Disassembly {
  int multiply_adds = 0;
  int vectors_on_stack = 0;
};

// The functions of a kernel image, by objdump.
std::vector<Disassembly> disassemble(const std::vector<uint8_t>& image) {
  const TemporaryFile file(std::string(image.begin(), image.end()));
  const std::string command = "objdump -d --no-show-raw-insn " + file.path();
  std::FILE* output = popen(command.c_str(), "r");  // NOLINT(cert-env33-c)
  std::vector<Disassembly> functions;
  char line[512];
  while (std::fgets(line, sizeof line, output) != nullptr) {
    const std::string_view text = line;
    if (text.ends_with(">:\n")) functions.emplace_back();
    if (functions.empty()) continue;
    if (text.find("vfmadd") != text.npos) ++functions.back().multiply_adds;
    const bool has_vector = text.find("%zmm") != text.npos || text.find("%ymm") != text.npos;
    if (has_vector && text.find("(%rsp") != text.npos) ++functions.back().vectors_on_stack;
  }
  EXPECT_EQ(pclose(output), 0);
  return functions;
}

// The sums of a tile stay in registers, for each number of channel blocks that tiles compute
// together, for tiles that omit the padding, and for first layers, whose x is by channel.
TEST(BlockedConv, TilesKeepTheirSumsInRegisters) {
  struct Image {
    int64_t size, kernel;
    bool is_static = true;
    int64_t channels = 64;
    int64_t group_blocks = 0;
    int64_t pad = 0, stride = 1;
  };
  for (const char* cpu : {"host", "x86-64-v3"})
    for (const int64_t rows : {16, 32, 48, 64})
      for (const auto& [size, kernel, is_static, channels, group_blocks, pad, stride] :
           {Image{.size = 58, .kernel = 1},
            Image{.size = 58, .kernel = 3},
            Image{.size = 58, .kernel = 3, .is_static = false},
            Image{.size = 58, .kernel = 1, .channels = 24},
            Image{.size = 58, .kernel = 3, .channels = 40},
            Image{.size = 58, .kernel = 3, .group_blocks = 2},
            Image{.size = 58, .kernel = 3, .group_blocks = 3},
            Image{.size = 58, .kernel = 3, .group_blocks = 4},
            Image{.size = 6, .kernel = 3, .pad = 1},
            Image{.size = 9, .kernel = 3, .pad = 1},
            Image{.size = 14, .kernel = 3, .pad = 1},
            Image{.size = 28, .kernel = 3, .pad = 1},
            Image{.size = 56, .kernel = 3, .pad = 1},
            Image{.size = 56, .kernel = 5, .pad = 2},
            Image{.size = 14, .kernel = 3, .channels = 18, .pad = 1},
            Image{.size = 14, .kernel = 3, .group_blocks = 1, .pad = 1},
            Image{.size = 28, .kernel = 3, .group_blocks = 4, .pad = 1},
            Image{.size = 112, .kernel = 3, .channels = 3, .pad = 1, .stride = 2},
            Image{.size = 112, .kernel = 7, .channels = 3, .pad = 3, .stride = 2},
            Image{.size = 112,
                  .kernel = 7,
                  .is_static = false,
                  .channels = 3,
                  .pad = 3,
                  .stride = 2}}) {
        if (group_blocks != 0 && rows / kBlock % group_blocks != 0) continue;
        SCOPED_TRACE(std::string(cpu) + " " + std::to_string(rows) + " rows, size " +
                     std::to_string(size) + ", kernel " + std::to_string(kernel) + ", " +
                     std::to_string(channels) + " channels, group_blocks " +
                     std::to_string(group_blocks) + (is_static ? ", static" : ""));
        const Case t{.w = {rows, channels, kernel, kernel},
                     .channels = channels,
                     .attributes = {{stride, stride}, {pad, pad, pad, pad}, {1, 1}, 1},
                     .is_blocked = channels > 4,
                     .is_static = is_static,
                     .group_blocks = group_blocks};
        const Array w = random_f32(t.w, 1);
        auto runner = KernelRunner::create(text_of(t, w, w, size, size), cpu);
        ASSERT_TRUE(runner.ok()) << runner.status().message();
        int tiles = 0;
        for (const Disassembly& function : disassemble((*runner)->image())) {
          // A tile of AVX2 has at least 8 sums, and its loop is unrolled 4 times.
          if (function.multiply_adds < 32) continue;
          ++tiles;
          EXPECT_EQ(function.vectors_on_stack, 0) << function.multiply_adds << " multiply-adds";
        }
        EXPECT_GE(tiles, 1);
      }
}

}  // namespace
}  // namespace scopevm::compiler::testing
