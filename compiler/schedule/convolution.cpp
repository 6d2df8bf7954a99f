// Chooses the schedules of convolutions; see convolution.h.
#include "compiler/schedule/convolution.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace scopevm::compiler::schedule {
namespace {

// Elements of the weights of a part of the depth. They are twice as large as L1, but prefetched,
// and parts of half this size add to stored sums twice as often: ResNet-50's layers take 2 to 5 %
// longer.
constexpr int64_t kDepthElements = 1 << 14;

// The pixels of the largest tile, by its number of channel blocks, with 32 vector registers: the
// sums, a vector of weights per block, and an element of x. Tiles of 14 pixels and two blocks fit,
// too, but take up to 40 % longer on Zen 5 if they prefetch weights: see row_tile_pixels().
constexpr std::array<int64_t, kMostGroupBlocks + 1> kTilePixels = {0, kMostTilePixels, 13, 9, 6, 5};

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

bool has_strides(const ConvProblem& problem) {
  return problem.axes[0].stride != 1 || problem.axes[1].stride != 1;
}

// Windows of single pixels without strides and padding read x.
bool reads_pixels(const ConvProblem& problem) {
  return problem.is_blocked && !problem.is_transposed && !problem.is_computed &&
         problem.is_pointwise() && !has_strides(problem) && !problem.axes[0].has_padding() &&
         !problem.axes[1].has_padding();
}

std::optional<int64_t> known_pixels(const ConvProblem& problem) {
  const auto &y = problem.axes[0].out.known, &x = problem.axes[1].out.known;
  if (!y || !x) return std::nullopt;
  return *y * *x;
}

// The cycles of one step of a tile, times the ports: a multiply-add per sum, a load per vector of
// weights and its prefetch, and a load per pixel. A tile of one block loads the pixel as an operand
// of each multiply-add. Few sums wait for the latency.
int64_t step_cycles(const Core& core, int64_t pixels, int64_t blocks) {
  const int64_t sums = pixels * blocks, loads = pixels + 2 * blocks;
  return std::max({sums * core.load_ports, loads * core.fma_ports,
                   static_cast<int64_t>(core.fma_latency * core.fma_ports * core.load_ports)});
}

// The cycles of all tiles of a row of `width` pixels, for each channel block. Tiles of a row differ
// by at most one pixel, and have a step's time of overhead.
double row_cycles(const Core& core, int64_t width, int64_t blocks) {
  constexpr int64_t kOverhead = 2;  // multiply-adds
  const int64_t tiles = ceil_div(width, kTilePixels[blocks]), least = width / tiles;
  const int64_t wider = width % tiles, overhead = kOverhead * core.load_ports;
  const int64_t cycles = wider * (step_cycles(core, least + 1, blocks) + overhead) +
                         (tiles - wider) * (step_cycles(core, least, blocks) + overhead);
  return static_cast<double>(cycles) / static_cast<double>(blocks);
}

// The number of blocks with the least time for rows of `width` pixels; without a width, for tiles
// of the most pixels. More blocks must gain 2 %: fewer blocks have tiles of more pixels, which read
// the weights less often. So must groups of different numbers of blocks: they have more code.
int64_t fastest_blocks(const Core& core, std::optional<int64_t> width, const ConvProblem& problem,
                       ConvAlgorithm algorithm = ConvAlgorithm::kDirect) {
  constexpr double kLeastGain = 0.98;
  int64_t best = 1;
  if (core.vector_bits < 512) return best;  // conv_tile() has one block
  // One FMA port hides the loads of one block, so five gain nothing.
  const int64_t most = core.fma_ports > 1 ? kMostGroupBlocks : kMostGroupBlocks - 1;
  const auto cycles_of = [&](int64_t count) {
    const int64_t pixels = width.value_or(kTilePixels[count]);
    return row_cycles(core, pixels, count) / static_cast<double>(pixels);
  };
  const int64_t blocks = problem.group_out_blocks();
  const auto cycles = [&](int64_t count) {
    const BlockGroups groups = BlockGroups::of(blocks, count);
    if (groups.are_equal()) return cycles_of(count);
    const auto larger = static_cast<double>(groups.first_block(groups.larger));
    const auto all = static_cast<double>(blocks);
    return (larger * cycles_of(count) + (all - larger) * cycles_of(count - 1)) / all;
  };
  for (const bool is_divisor : {true, false}) {
    if (!is_divisor && !permits_unequal_groups(problem, algorithm)) break;
    for (int64_t count = 2; count <= std::min(most, blocks); ++count)
      // Unequal groups of at most two blocks have one of one block.
      if ((blocks % count == 0) == is_divisor && (is_divisor || count > 2) &&
          BlockGroups::of(blocks, count).most == count && cycles(count) < kLeastGain * cycles(best))
        best = count;
  }
  return best;
}

// Several blocks, if the core gains from the possible numbers.
int64_t several_blocks(const Core& core, const ConvProblem& problem,
                       ConvAlgorithm algorithm = ConvAlgorithm::kDirect) {
  const int64_t count = pointwise_blocks(problem.group_out_blocks());
  return count > 1 ? count : fastest_blocks(core, std::nullopt, problem, algorithm);
}

int64_t window_blocks(const ConvProblem& problem, const Core& core, bool has_one_row) {
  std::optional<int64_t> width = problem.axes[1].out.known;
  // Tiles of several rows have about the most pixels.
  if (!has_one_row || width.value_or(0) < 1) width.reset();
  return fastest_blocks(core, width, problem);
}

// On a core with one FMA port, tiles of many pixels are faster only for images of few pixels: the
// weights, which are seldom in the cache, are read by fewer tiles. Single pixels of 7x7 images take
// 5 to 9 % less time, and those of 14x14 images 2 %. Tiles of fewer pixels would have too few
// independent sums.
int64_t pixel_blocks(const ConvProblem& problem, const Core& core) {
  constexpr int64_t kLeast = 20, kMost = 256;
  const std::optional<int64_t> pixels = known_pixels(problem);
  if (core.fma_ports > 1 && pixels) return fastest_blocks(core, std::nullopt, problem);
  if (reads_pixels(problem) && pixels && kLeast <= *pixels && *pixels <= kMost)
    return fastest_blocks(core, pixels, problem);
  return several_blocks(core, problem);
}

}  // namespace

BlockGroups BlockGroups::of(int64_t blocks, int64_t most) {
  const int64_t count = ceil_div(blocks, most), largest = ceil_div(blocks, count);
  return {.count = count, .most = largest, .larger = blocks - count * (largest - 1)};
}

int64_t BlockGroups::group_of(int64_t block) const {
  const int64_t others = block - larger * most;
  return others < 0 ? block / most : larger + others / (most - 1);
}

bool is_small_window(const ConvAxis& y, const ConvAxis& x) {
  constexpr int64_t kMostTaps = 49, kMostColumns = 7, kMostReach = 32;
  const auto reach = [](const ConvAxis& axis) {
    return (axis.taps - 1) * axis.dilation + (kMostColumns - 1) * axis.stride + 1;
  };
  return y.taps <= kMostTaps && x.taps <= kMostTaps && y.taps * x.taps <= kMostTaps &&
         reach(y) <= kMostReach && reach(x) <= kMostReach;
}

bool ConvProblem::has_narrow_groups() const {
  return groups != 1 && channels > 0 && channels < kChannelBlock && kChannelBlock % channels == 0 &&
         out_channels == channels * groups && is_small_window(axes[0], axes[1]);
}

ConvProblem ConvProblem::of_quads() const {
  ConvProblem quads = *this;
  quads.channels = ceil_div(channels, kQuad);
  quads.block = kChannelBlock / kQuad;
  return quads;
}

std::string ConvForm::text() const {
  std::string name = algorithm == ConvAlgorithm::kWinograd ? "winograd" : "direct";
  if (group_blocks == 0) return name;
  return name + " in groups of " + std::to_string(group_blocks) +
         (group_blocks == 1 ? " block" : " blocks");
}

std::optional<ConvForm> ConvForm::parse(std::string_view text) {
  for (const ConvAlgorithm algorithm : {ConvAlgorithm::kDirect, ConvAlgorithm::kWinograd})
    for (int64_t blocks = 0; blocks <= kMostGroupBlocks; ++blocks)
      if (const ConvForm form{algorithm, blocks}; form.text() == text) return form;
  return std::nullopt;
}

int64_t ConvSchedule::depth_parts() const {
  return std::max<int64_t>(ceil_div(whole_planes(), depth_planes), 1);
}

std::string ConvSchedule::text() const {
  if (form.algorithm == ConvAlgorithm::kWinograd) return form.text();
  constexpr std::string_view kInputs[] = {"reads pixels", "omits the padding", "copies x"};
  std::string text = form.text() + ", " + std::string(kInputs[static_cast<size_t>(input)]);
  if (depth_parts() > 1) text += ", depth in " + std::to_string(depth_parts()) + " parts";
  if (has_half_block) text += ", half of the last block";
  return text;
}

int64_t pointwise_blocks(int64_t blocks) {
  for (const int64_t count : {4, 3, 2})
    if (blocks % count == 0) return count;
  return 1;
}

ConvTile conv_tile(const Target& target, int64_t group_blocks) {
  if (target.vector_registers() == 32)
    return {group_blocks, kTilePixels[static_cast<size_t>(group_blocks)]};
  // Of 16 vector registers, 4 hold weights and an element of x.
  constexpr int64_t kSums = 12;
  return {1, kSums / (kChannelBlock / target.lanes(sizeof(float)))};
}

int64_t row_tile_pixels(const Target& target, int64_t group_blocks, int64_t width) {
  const int64_t most = conv_tile(target, group_blocks).pixels;
  constexpr int64_t kRowPixels = 14;
  // Intel's load ports are busy for 79 % of the time of tiles of 7 pixels and two blocks, and for
  // 64 % of that of 14 pixels. Tiles of two rows of 7 pixels have spills.
  const bool is_intel = &core_of(target) == &core_of({.name = "skylake-avx512"});
  return is_intel && group_blocks == 2 && width == kRowPixels ? kRowPixels : most;
}

ConvTile winograd_tile(const Target& target, int64_t group_blocks) {
  constexpr int64_t kMost = 12;
  ConvTile tile = conv_tile(target, group_blocks);
  tile.pixels = std::min(tile.pixels, kMost);
  return tile;
}

int64_t winograd_unit(int64_t group_blocks) {
  int64_t unit = 1;
  for (const Core& core : cores())
    unit = std::lcm(unit, winograd_tile({.vector_bits = core.vector_bits}, group_blocks).pixels);
  return unit;
}

DepthwiseTile depthwise_tile(const Target& target, const Extent& height, const Extent& width) {
  const bool is_wide = target.vector_registers() == 32;
  DepthwiseTile tile = is_wide ? DepthwiseTile{3, 7} : DepthwiseTile{2, 4};
  // The sums of rows after the last one of the image are computed, but not stored: tiles of images
  // of few rows have few of them.
  if (const int64_t rows = height.known.value_or(0); 0 < rows && rows < tile.rows) {
    tile = {rows, 2 * tile.columns};
  } else if (is_wide && 0 < rows && rows < 8 && ceil_div(rows, 4) * 4 < ceil_div(rows, 3) * 3) {
    tile.rows = 4;
  }
  // Tiles of a row of known length differ by at most one column.
  if (const int64_t columns = width.known.value_or(0); columns > 0)
    tile.columns = ceil_div(columns, ceil_div(columns, tile.columns));
  return tile;
}

std::string DepthwiseTile::text() const {
  return "tiles of " + std::to_string(rows) + "x" + std::to_string(columns) + " pixels";
}

int64_t by_channel_tile_rows(const Target& target, int64_t taps, int64_t column_stride) {
  constexpr int64_t kMostTaps = 25, kMostStride = 2;
  if (taps == 0 || taps > kMostTaps || column_stride > kMostStride) return 0;
  // With vectors of 16 lanes, the sums, the weights of 3x3 and an input fit in 32 registers.
  return target.lanes(sizeof(float)) >= 16 ? 8 : 4;
}

// All blocks are then computed together.
bool has_half_block(const ConvProblem& problem) {
  const int64_t last = problem.out_channels % kChannelBlock;
  return last > 0 && last <= kChannelBlock / 2 && !problem.is_transposed && problem.groups == 1 &&
         problem.out_channels < kChannelBlock * (problem.is_pointwise() ? 4 : 2);
}

// Long rows take 2 to 6 % less time without a copy of x, and those of x by channel 5 to 15 %, but
// up to 7 % more if x is blocked and windows have a stride. Tiles of windows with many taps take
// long to compile, and large pads need many different tiles.
bool can_omit_padding(const ConvProblem& problem) {
  constexpr int64_t kShort = 32, kFewTaps = 7, kSmallPads = 64;
  const ConvAxis& x = problem.axes[1];
  if (problem.is_computed || problem.is_transposed || problem.is_pointwise() || !x.size.known ||
      !x.out.known || *x.out.known < 1)
    return false;
  return *x.out.known <= kShort || (x.taps <= kFewTaps && x.pad + x.pad_after <= kSmallPads &&
                                    (x.stride == 1 || !problem.is_blocked));
}

std::vector<ConvForm> conv_forms(const ConvProblem& problem, const Core& core,
                                 bool permits_winograd) {
  constexpr int64_t kLeastChannels = 32;
  constexpr double kLeastBlocks = 12;
  const auto blocks_of = [](const ConvAxis& axis) { return std::ceil(axis.out.typical / 4); };
  // The transformations amortise over the channels, and the transformed weights, 4 times as many,
  // over the blocks of an image.
  const bool gains = problem.out_channels >= kLeastChannels && problem.channels >= kLeastChannels &&
                     blocks_of(problem.axes[0]) * blocks_of(problem.axes[1]) >= kLeastBlocks;
  const ConvForm winograd{.algorithm = ConvAlgorithm::kWinograd};
  std::vector<ConvForm> forms = {permits_winograd && gains ? winograd : ConvForm()};
  if (permits_winograd) forms.push_back(gains ? ConvForm() : winograd);
  const int64_t blocks = problem.group_out_blocks();
  if (problem.has_narrow_groups() || has_half_block(problem) || blocks == 1) return forms;
  const ConvSchedule chosen = choose_conv(problem, core);
  const bool has_no_divisor = blocks % 2 != 0 && blocks % 3 != 0 && blocks % 5 != 0;
  for (const int64_t count : {1, 2, 3, 4, 5}) {
    // Each form takes time to measure: 3 and 5 only if few other numbers divide the blocks, and
    // unequal groups only if none does.
    const bool is_unequal = count == 4 && blocks > count && has_no_divisor &&
                            permits_unequal_groups(problem, ConvAlgorithm::kDirect);
    if ((blocks % count != 0 && !is_unequal) || (count == 3 && blocks % 4 == 0) ||
        (count == 5 && blocks % 2 == 0))
      continue;
    const ConvForm form{.group_blocks = count};
    if (choose_conv(problem, core, form) != chosen) forms.push_back(form);
  }
  return forms;
}

ConvSchedule choose_conv(const ConvProblem& problem, const Core& core, const ConvForm& form) {
  constexpr int64_t kLeastSums = 8;                               // vectors
  const int64_t vectors = kChannelBlock * 32 / core.vector_bits;  // of a block
  ConvSchedule schedule{.form = form};
  const int64_t out_blocks = ceil_div(problem.out_channels, kChannelBlock);
  schedule.pixel = problem.is_blocked ? problem.block : 1;
  schedule.planes = ceil_div(problem.channels, schedule.pixel);
  // Phases of transposed convolutions skip tap rows of the weights.
  if (problem.is_blocked && ((problem.axes[0].is_single_tap() && problem.axes[1].is_single_tap()) ||
                             !problem.is_transposed))
    schedule.rest = problem.channels % problem.block;
  int64_t& blocks = schedule.form.group_blocks;
  schedule.has_half_block = has_half_block(problem) && (blocks == 0 || blocks == out_blocks);
  const bool is_winograd = form.algorithm == ConvAlgorithm::kWinograd;
  if (blocks == 0 && (is_winograd || !problem.is_blocked || schedule.has_half_block))
    blocks = several_blocks(core, problem, form.algorithm);

  if (reads_pixels(problem)) schedule.input = ConvInput::kPixels;
  if (can_omit_padding(problem)) {
    // Taps in the padding are different for each row, so that a tile has one row.
    const bool has_one_row = problem.axes[0].has_padding() || problem.axes[1].has_padding();
    const int64_t count = blocks != 0 ? blocks : window_blocks(problem, core, has_one_row);
    if (!problem.axes[0].has_padding() ||
        *problem.axes[1].out.known * count * vectors >= kLeastSums) {
      schedule.input = ConvInput::kInsidePads;
      blocks = count;
    }
  }
  if (blocks == 0)
    blocks = problem.is_pointwise() ? pixel_blocks(problem, core)
                                    : window_blocks(problem, core, /*has_one_row=*/false);

  const int64_t plane_depth = schedule.pixel * problem.axes[0].taps * problem.axes[1].taps;
  schedule.depth_planes =
      std::clamp<int64_t>(kDepthElements / (plane_depth * blocks * kChannelBlock), 1,
                          std::max<int64_t>(schedule.whole_planes(), 1));
  return schedule;
}

int64_t merged_groups(const ConvProblem& problem) {
  if (problem.groups == 1 || problem.has_narrow_groups()) return 1;
  const int64_t channels = problem.channels, rows = problem.out_channels / problem.groups;
  // One group per channel, with a large window: most products would be with zeros.
  if (channels == 0 || (channels == 1 && rows == 1)) return 0;
  const int64_t merged = channels % kChannelBlock == 0 ? 1 : kChannelBlock / channels;
  if (merged == 0) return 0;
  const bool is_whole = channels * merged % kChannelBlock == 0 &&
                        rows * merged % kChannelBlock == 0 && problem.groups % merged == 0;
  return is_whole ? merged : 0;
}

int64_t pixels_per_block(const ConvProblem& problem) {
  // For narrower windows, most of the work of a block would be products with zeros.
  constexpr int64_t kLeastWidth = 3, kMostStride = 4;
  const ConvAxis& x = problem.axes[1];
  if (problem.groups != 1 || x.dilation != 1 || x.taps < kLeastWidth || problem.out_channels == 0 ||
      x.stride > kMostStride)
    return 1;
  return std::max<int64_t>(kChannelBlock / problem.out_channels, 1);
}

}  // namespace scopevm::compiler::schedule
