// How convolutions of blocked images are computed, as values.
//
//   ConvProblem   what is computed
//   ConvForm      the choice that tuning measures and an op can fix
//   ConvSchedule  all that the images of a module have in common: the form, how x is read, how the
//                 depth is divided
//   ConvTile      what depends on the target of an image
//
// A schedule is the same for all images of a module, because they share packed weights, scratch
// memory and launches. It is chosen for the core of the first target.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/schedule/core.h"

namespace scopevm::compiler::schedule {

// The channels of a block of a blocked image.
inline constexpr int64_t kChannelBlock = 16;
// The bytes that one lane multiplies in a step: a step of a convolution of bytes is a quad of
// channels.
inline constexpr int64_t kQuad = 4;
// The most channel blocks that are computed together.
inline constexpr int64_t kMostGroupBlocks = 5;
// The most pixels of a tile on any target.
inline constexpr int64_t kMostTilePixels = 28;

// A size that is known at compile time, or not. `typical` is its value for comparisons.
struct Extent {
  std::optional<int64_t> known;
  double typical = 0;

  bool operator==(const Extent&) const = default;
};

// Channel blocks in groups that are computed together. The larger groups are the first ones, and
// the others have one block fewer.
struct BlockGroups {
  int64_t count = 1;   // groups
  int64_t most = 1;    // blocks of the first group
  int64_t larger = 1;  // groups with `most` blocks

  // The fewest groups of at most `most` blocks. REQUIRES: both are positive.
  static BlockGroups of(int64_t blocks, int64_t most);

  bool are_equal() const { return larger == count; }
  int64_t group_of(int64_t block) const;
  int64_t size(int64_t group) const { return group < larger ? most : most - 1; }
  int64_t first_block(int64_t group) const {
    return group * most - std::max<int64_t>(group - larger, 0);
  }
};

// One spatial axis. Windows of transposed convolutions are those of a phase.
struct ConvAxis {
  Extent size;         // of x
  Extent out;          // windows
  int64_t taps = 1;    // of the weights
  int64_t window = 1;  // elements of x that the taps multiply, without dilation
  int64_t stride = 1, dilation = 1, pad = 0, pad_after = 0;
  bool is_uniform = true;  // all phases of a transposed convolution have as many taps

  bool has_padding() const { return pad != 0 || pad_after != 0; }
  bool is_single_tap() const { return taps == 1 && is_uniform; }
  bool operator==(const ConvAxis&) const = default;
};

struct ConvProblem {
  int64_t channels = 1;  // of a group of x
  int64_t out_channels = 1;
  int64_t groups = 1;
  ConvAxis axes[2];
  bool is_blocked = true;  // layout of x; otherwise by channel
  bool is_transposed = false;
  bool is_computed = false;       // another convolution computes x in the same kernel
  int64_t block = kChannelBlock;  // elements of x in a pixel of a channel block

  // The convolution of bytes as one of quads of channels.
  ConvProblem of_quads() const;

  // Windows of one element.
  bool is_pointwise() const { return axes[0].window == 1 && axes[1].window == 1; }
  // The channel blocks of the result of a group.
  int64_t group_out_blocks() const {
    return (out_channels + kChannelBlock - 1) / kChannelBlock / groups;
  }
  // Each group has 1, 2, 4 or 8 channels and as many output channels, so that no group is in two
  // blocks, and a small window.
  bool has_narrow_groups() const;
  bool operator==(const ConvProblem&) const = default;
};

enum class ConvAlgorithm { kDirect, kWinograd };

struct ConvForm {
  ConvAlgorithm algorithm = ConvAlgorithm::kDirect;
  // The channel blocks that are computed together; 0: the schedule decides. If it does not divide
  // the blocks, it is the most blocks of a group: see BlockGroups.
  int64_t group_blocks = 0;

  // "direct", "winograd in groups of 4 blocks": stable.
  std::string text() const;
  // Empty if the text is not that of a form.
  static std::optional<ConvForm> parse(std::string_view text);
  bool operator==(const ConvForm&) const = default;
};

// Whether the groups of blocks can be unequal: see BlockGroups.
inline bool permits_unequal_groups(const ConvProblem& problem, ConvAlgorithm algorithm) {
  return problem.groups == 1 && !problem.is_transposed && algorithm == ConvAlgorithm::kDirect;
}

// How the tiles of a direct convolution read x.
enum class ConvInput {
  kPixels,      // windows of one element: pixels of x
  kInsidePads,  // x; tiles at a border omit the taps in the padding
  kCopy,        // a copy of the part of x that some rows need, with zeros for the padding
};

struct ConvSchedule {
  ConvForm form;  // with its number of channel blocks
  ConvInput input = ConvInput::kCopy;
  int64_t pixel = kChannelBlock;  // elements of a pixel of x in one plane
  int64_t planes = 1;             // of x, in a group
  int64_t rest = 0;               // channels of the last plane, if it is multiplied by itself
  bool has_half_block = false;    // only the first half of the last block is computed
  int64_t depth_planes = 1;       // planes of a part of the depth

  // The planes that are multiplied as a whole, and the parts of the depth.
  int64_t whole_planes() const { return rest != 0 ? planes - 1 : planes; }
  int64_t depth_parts() const;
  // "direct in groups of 2 blocks, omits the padding, depth in 4 parts": stable.
  std::string text() const;
  bool operator==(const ConvSchedule&) const = default;
};

// The sums that stay in registers.
struct ConvTile {
  int64_t blocks = 1;  // channel blocks
  int64_t pixels = 1;  // at most

  bool operator==(const ConvTile&) const = default;
};

// The forms of a problem, the estimated best one first: the candidates of tuning. Each has another
// schedule. REQUIRES: the problem has weights.
std::vector<ConvForm> conv_forms(const ConvProblem& problem, const Core& core,
                                 bool permits_winograd);

// The schedule for a core. A number of channel blocks in `form` is kept. REQUIRES: it divides
// group_out_blocks(), or it is smaller and permits_unequal_groups().
ConvSchedule choose_conv(const ConvProblem& problem, const Core& core, const ConvForm& form = {});

// The largest tile that computes `group_blocks` blocks together, so that the sums and the operands
// of a step are in registers of the target.
ConvTile conv_tile(const Target& target, int64_t group_blocks);

// The most pixels of a tile in rows of `width` pixels: those of conv_tile(), or one more if a row
// then fills a tile.
int64_t row_tile_pixels(const Target& target, int64_t group_blocks, int64_t width);

// The tile of the products of Winograd's algorithm: each pixel is a block of 4x4 results.
ConvTile winograd_tile(const Target& target, int64_t group_blocks);
// A multiple of the pixels of winograd_tile() on each target. Parts of an image have a multiple of
// it, because the last tile of a part computes pixels that do not exist.
int64_t winograd_unit(int64_t group_blocks);

// The sums of a tile of a convolution with narrow groups, for one vector of channels.
struct DepthwiseTile {
  int64_t rows = 1, columns = 1;

  // "tiles of 3x7 pixels": stable.
  std::string text() const;
  bool operator==(const DepthwiseTile&) const = default;
};
DepthwiseTile depthwise_tile(const Target& target, const Extent& height, const Extent& width);

// The rows of a tile, one vector wide, of a convolution of images by channel with one channel per
// group. 0: it is computed vector by vector. A number of taps that is not known is 0.
int64_t by_channel_tile_rows(const Target& target, int64_t taps, int64_t column_stride);

// Whether a convolution with narrow groups is small enough for code without a loop over the window,
// which computes several adjacent columns.
bool is_small_window(const ConvAxis& y, const ConvAxis& x);

// The channel blocks, out of `blocks`, that a convolution of many single pixels computes together.
// Tiles of several blocks load fewer elements of x per multiply-add.
int64_t pointwise_blocks(int64_t blocks);

// Whether tiles prefetch the weights of a group of channel blocks with this number of elements.
// Few weights stay in L1: the prefetched lines are none of theirs, and evict elements of x. A first
// layer of 3 channels and 320x320 pixels would take 15 % longer.
inline bool prefetches_weights(int64_t elements) {
  constexpr int64_t kMostInL1 = 4096;
  return elements > kMostInL1;
}

// Whether only the first half of the last block's channels is computed.
bool has_half_block(const ConvProblem& problem);
// Whether tiles of a known width omit the padding.
bool can_omit_padding(const ConvProblem& problem);

// Groups and pixels of the original convolution that become one group or one block.
// The number of adjacent groups that are computed as one, so that each group has whole blocks of
// channels. It is 1 for one group and for narrow groups, and 0 if no such number exists.
int64_t merged_groups(const ConvProblem& problem);
// The number of adjacent pixels whose output channels form one block, so that its lanes are used: 1
// unless the convolution has few output channels. The result is then by channel.
int64_t pixels_per_block(const ConvProblem& problem);

}  // namespace scopevm::compiler::schedule
