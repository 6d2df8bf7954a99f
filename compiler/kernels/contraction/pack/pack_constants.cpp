// Packs constant weights.
#include "compiler/kernels/contraction/pack/pack_constants.h"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <numeric>
#include <optional>
#include <span>

#include "compiler/graph/convolution/window.h"
#include "compiler/graph/graph_ops.h"
#include "compiler/graph/values/elements.h"
#include "compiler/kernels/contraction/tile/microkernel.h"

namespace scopevm::compiler::kernels {
using graph::kChannelBlock;

int64_t BlockLayout::planes(int64_t channels) const {
  return llvm::divideCeil(channels, pixel * element_channels);
}

std::vector<int64_t> BlockLayout::dims(llvm::ArrayRef<int64_t> weights) const {
  const int64_t count = planes(weights[1]);
  if (groups.are_equal())
    return {groups.count, count, weights[2], weights[3], pixel, groups.most, kChannelBlock};
  return {groups.first_block(groups.count), count, weights[2], weights[3], pixel, kChannelBlock};
}

int64_t BlockLayout::elements(llvm::ArrayRef<int64_t> weights) const {
  const std::vector<int64_t> packed = dims(weights);
  return std::accumulate(packed.begin(), packed.end(), int64_t{1}, std::multiplies());
}

namespace {

// The key of a constant derived from `elements`. MLIR uniques attributes, so the address identifies
// the elements.
std::string key_of(const char* layout, mlir::ElementsAttr elements,
                   std::initializer_list<int64_t> parameters) {
  std::string key = layout;
  key += ':' + std::to_string(reinterpret_cast<uintptr_t>(elements.getAsOpaquePointer()));
  for (int64_t parameter : parameters) key += ':' + std::to_string(parameter);
  return key;
}

// A constant with the bytes of `numbers`, each of which is an element or a part of one.
template <typename T>
Constant packed_constant(DType dtype, std::vector<T> numbers, std::vector<int64_t> dims,
                         const char* name) {
  auto owner = std::make_shared<std::vector<T>>(std::move(numbers));
  Constant constant{.dtype = dtype, .dims = std::move(dims), .name = name};
  constant.data = reinterpret_cast<const uint8_t*>(owner->data());
  constant.bytes = static_cast<int64_t>(owner->size() * sizeof(T));
  constant.owner = std::move(owner);
  return constant;
}

// The matrix G of F(4, 3): the powers of a point p, divided by the product of its differences from
// the other finite points.
std::array<std::array<double, 3>, 6> winograd_weights() {
  const auto [a, b] = kWinogradPoints;
  const auto row = [](double p, double other) {
    const double factor = 1 / (2 * p * p * (p * p - other * other));
    return std::array<double, 3>{factor, factor * p, factor * p * p};
  };
  return {{{1 / (a * a * b * b), 0, 0}, row(a, b), row(-a, b), row(b, a), row(-b, a), {0, 0, 1}}};
}

}  // namespace

bool packs_constant(LoweringContext& context, mlir::Value weights, bool is_padded) {
  return context.constant_of(weights) && (!is_padded || context.may_pad(weights));
}

namespace {

// REQUIRES: bf16 represents x.
uint16_t bf16_bits(float x) { return static_cast<uint16_t>(std::bit_cast<uint32_t>(x) >> 16); }

// The f16 with this value; no value if there is none.
std::optional<uint16_t> exact_f16(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  const uint32_t exponent = bits >> 23 & 0xff, sign = bits >> 16 & 0x8000;
  // Normal numbers of f16. The conversion by a cast is slow on CPUs without F16C, for which this
  // file is compiled.
  constexpr uint32_t kLeast = 127 - 14, kMost = 127 + 15;
  if (exponent >= kLeast && exponent <= kMost) {
    if ((bits & 0x1fff) != 0) return std::nullopt;
    return static_cast<uint16_t>(sign | (exponent - kLeast + 1) << 10 | (bits >> 13 & 0x3ff));
  }
  const auto narrow = static_cast<_Float16>(x);
  if (std::bit_cast<uint32_t>(static_cast<float>(narrow)) != bits) return std::nullopt;
  return std::bit_cast<uint16_t>(narrow);
}
// REQUIRES: f16 represents x.
uint16_t f16_bits(float x) { return *exact_f16(x); }

// The panels of a matrix, whose elements `convert` stores as T.
template <typename T, typename Convert>
std::vector<T> panels_of(const float* from, int64_t depth, int64_t columns, bool transposed,
                         Convert convert) {
  const int64_t panels = (columns + kPanelColumns - 1) / kPanelColumns;
  // The elements are initialised to 0, which pads the last panel.
  std::vector<T> packed(panels * depth * kPanelColumns);
  for (int64_t panel = 0; panel < panels; ++panel) {
    T* to = packed.data() + panel * depth * kPanelColumns;
    const int64_t first = panel * kPanelColumns, last = std::min(columns, first + kPanelColumns);
    for (int64_t k = 0; k < depth; ++k)
      for (int64_t j = first; j < last; ++j)
        to[k * kPanelColumns + j - first] =
            convert(transposed ? from[j * depth + k] : from[k * columns + j]);
  }
  return packed;
}

}  // namespace

DType panel_type(LoweringContext& context, mlir::Value b) {
  // The conversion costs more than it saves for matrices in the nearest caches.
  constexpr int64_t kLeastElements = 1 << 16;
  const Constant source = graph::constant_of_elements(context.constant_of(b), DType::kF32);
  const std::span numbers(reinterpret_cast<const float*>(source.data),
                          static_cast<size_t>(source.bytes) / sizeof(float));
  if (std::ssize(numbers) < kLeastElements) return DType::kF32;
  if (std::ranges::all_of(numbers, [](float x) { return exact_f16(x).has_value(); }))
    return DType::kF16;
  const bool are_bf16 = std::ranges::all_of(
      numbers, [](float x) { return (std::bit_cast<uint32_t>(x) & 0xffff) == 0; });
  return are_bf16 ? DType::kBF16 : DType::kF32;
}

ValueId packed_panels(LoweringContext& context, mlir::Value b, int64_t depth, int64_t columns,
                      bool transposed, DType dtype) {
  const mlir::ElementsAttr elements = context.constant_of(b);
  const std::string key =
      key_of("panels", elements, {depth, columns, transposed, static_cast<int64_t>(dtype)});
  return context.constant(key, b, [&] {
    const Constant source = graph::constant_of_elements(elements, DType::kF32);
    const float* from = reinterpret_cast<const float*>(source.data);
    const std::vector<int64_t> dims = {(columns + kPanelColumns - 1) / kPanelColumns, depth,
                                       kPanelColumns};
    const auto packed = [&](auto panels) {
      return packed_constant(dtype, std::move(panels), dims, "packed panels");
    };
    if (dtype == DType::kF16)
      return packed(panels_of<uint16_t>(from, depth, columns, transposed, f16_bits));
    if (dtype == DType::kBF16)
      return packed(panels_of<uint16_t>(from, depth, columns, transposed, bf16_bits));
    return packed(panels_of<float>(from, depth, columns, transposed, std::identity()));
  });
}

ValueId packed_quad_panels(LoweringContext& context, mlir::Value b, int64_t depth,
                           int64_t columns) {
  const mlir::ElementsAttr elements = context.constant_of(b);
  return context.constant(key_of("quads", elements, {depth, columns}), b, [&] {
    Constant source = graph::constant_of_elements(elements, DType::kI8);
    int64_t panels = (columns + kPanelColumns - 1) / kPanelColumns, steps = (depth + 3) / 4;
    std::vector<uint8_t> packed(panels * steps * kPanelColumns * 4);
    for (int64_t k = 0; k < depth; ++k)
      for (int64_t j = 0; j < columns; ++j) {
        int64_t panel = j / kPanelColumns, column = j % kPanelColumns;
        int64_t quad = (panel * steps + k / 4) * kPanelColumns + column;
        packed[quad * 4 + k % 4] = source.data[k * columns + j];
      }
    return packed_constant(DType::kI32, std::move(packed), {panels, steps, kPanelColumns},
                           "packed quads");
  });
}

ValueId packed_integers(LoweringContext& context, mlir::Value q, int64_t depth, int64_t columns,
                        const BlockFormat& format) {
  const mlir::ElementsAttr elements = context.constant_of(q);
  return context.constant(key_of("integers", elements, {depth, columns, format.bits}), q, [&] {
    const Constant source = graph::constant_of_elements(elements, DType::kU8);
    const int64_t panels = (columns + kPanelColumns - 1) / kPanelColumns, bits = format.bits;
    const int64_t panel_bytes = format.panel_bytes(depth), row_bytes = source.dims[1];
    std::vector<uint8_t> packed(panels * panel_bytes);
    for (int64_t column = 0; column < columns; ++column) {
      uint8_t* to = packed.data() + column / kPanelColumns * panel_bytes;
      const uint8_t* from = source.data + column * row_bytes;
      for (int64_t k = 0; k < depth; ++k) {
        const int64_t bit = format.bit_of(k, column % kPanelColumns);
        const int integer = from[k * bits / 8] >> (k * bits % 8) & ((1 << bits) - 1);
        to[bit / 8] |= static_cast<uint8_t>(integer << (bit % 8));
      }
    }
    return packed_constant(DType::kU8, std::move(packed), {panels, panel_bytes}, "packed integers");
  });
}

ValueId packed_rows(LoweringContext& context, mlir::Value w, int64_t groups, int64_t rows,
                    int64_t channels, int64_t kernel) {
  const mlir::ElementsAttr elements = context.constant_of(w);
  return context.constant(key_of("rows", elements, {groups, rows, channels, kernel}), w, [&] {
    Constant source = graph::constant_of_elements(elements, DType::kF32);
    const float* from = reinterpret_cast<const float*>(source.data);
    int64_t tiles = (rows + kTileRows - 1) / kTileRows, depth = kernel * channels;
    std::vector<float> packed(groups * tiles * depth * kTileRows);
    for (int64_t group = 0; group < groups; ++group)
      for (int64_t tile = 0; tile < tiles; ++tile) {
        float* to = packed.data() + (group * tiles + tile) * depth * kTileRows;
        // The rows of the tile, as tile_start() computes them.
        int64_t first = tile * rows / tiles, last = (tile + 1) * rows / tiles;
        for (int64_t r = first; r < last; ++r) {
          const float* row = from + (group * rows + r) * depth;
          for (int64_t c = 0; c < channels; ++c)
            for (int64_t p = 0; p < kernel; ++p)
              to[(p * channels + c) * kTileRows + r - first] = row[c * kernel + p];
        }
      }
    return packed_constant(DType::kF32, std::move(packed), {groups, tiles, depth, kTileRows},
                           "packed rows");
  });
}

namespace {

// Calls `place` for each element of weights with these dims: its number, that of the element of
// the layout, and its channel in that.
template <typename Place>
void each_element(llvm::ArrayRef<int64_t> dims, const BlockLayout& layout, Place place) {
  const auto& [pixel, groups, element_channels] = layout;
  const int64_t rows = dims[0], channels = dims[1], taps = dims[2] * dims[3];
  const int64_t steps = layout.planes(channels) * taps * pixel;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t channel = 0; channel < channels; ++channel)
      for (int64_t tap = 0; tap < taps; ++tap) {
        const int64_t block = row / kChannelBlock, group = groups.group_of(block);
        const int64_t first = groups.first_block(group), element = channel / element_channels;
        const int64_t step = (element / pixel * taps + tap) * pixel + element % pixel;
        place((row * channels + channel) * taps + tap,
              (first * steps + step * groups.size(group) + (block - first)) * kChannelBlock +
                  row % kChannelBlock,
              channel % element_channels);
      }
}

}  // namespace

ValueId packed_blocks(LoweringContext& context, mlir::Operation* op, mlir::Value w, DType dtype,
                      const BlockLayout& layout) {
  llvm::SmallVector<int64_t> dims;
  for (DimExpr dim : graph::type_of(w).getShape()) dims.push_back(*dim.as_constant());
  const DType from = graph::type_of(w).getDtype();
  const bool is_padded =
      dims[0] % kChannelBlock != 0 || dims[1] % (layout.pixel * layout.element_channels) != 0;
  if (!packs_constant(context, w, is_padded))
    return pack_blocks(context, op, context.value_of(w), from, dims, dtype, layout);
  const mlir::ElementsAttr elements = context.constant_of(w);
  const std::string key =
      key_of("blocks", elements, {layout.pixel, layout.groups.most, static_cast<int64_t>(dtype)});
  return context.constant(key, w, [&] {
    const Constant source = graph::constant_of_elements(elements, from);
    const auto packed = [&](auto blocks, auto convert) {
      each_element(dims, layout, [&](int64_t number, int64_t to, int64_t channel) {
        blocks[to * layout.element_channels + channel] = convert(number);
      });
      return packed_constant(dtype, std::move(blocks), layout.dims(dims), "packed blocks");
    };
    const auto count = static_cast<size_t>(layout.elements(dims));
    const auto* bytes = reinterpret_cast<const int8_t*>(source.data);
    if (dtype == DType::kI32)
      return packed(std::vector<int8_t>(count * layout.element_channels),
                    [&](int64_t i) { return bytes[i]; });
    if (from == DType::kI8)
      return packed(std::vector<float>(count),
                    [&](int64_t i) { return static_cast<float>(bytes[i]); });
    const auto* numbers = reinterpret_cast<const float*>(source.data);
    return packed(std::vector<float>(count), [&](int64_t i) { return numbers[i]; });
  });
}

ValueId packed_winograd(LoweringContext& context, mlir::Value w, int64_t group_blocks) {
  const mlir::ElementsAttr elements = context.constant_of(w);
  return context.constant(key_of("winograd", elements, {group_blocks}), w, [&] {
    constexpr int64_t kTaps = 3, kInputs = 6, kPositions = kInputs * kInputs;
    const auto transform = winograd_weights();
    const Constant source = graph::constant_of_elements(elements, DType::kF32);
    const float* from = reinterpret_cast<const float*>(source.data);
    const int64_t rows = source.dims[0], channels = source.dims[1];
    const int64_t planes = (channels + kChannelBlock - 1) / kChannelBlock,
                  blocks = (rows + kChannelBlock - 1) / kChannelBlock;
    std::vector<float> packed(blocks * kChannelBlock * planes * kChannelBlock * kPositions);
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t channel = 0; channel < channels; ++channel) {
        const float* g = from + (row * channels + channel) * kTaps * kTaps;
        for (int64_t i = 0; i < kInputs; ++i)
          for (int64_t j = 0; j < kInputs; ++j) {
            double sum = 0;
            for (int64_t y = 0; y < kTaps; ++y)
              for (int64_t x = 0; x < kTaps; ++x)
                sum += transform[i][y] * transform[j][x] * g[y * kTaps + x];
            const int64_t block = row / kChannelBlock;
            const int64_t line = (block / group_blocks * kPositions + i * kInputs + j) * planes +
                                 channel / kChannelBlock;
            const int64_t step = line * kChannelBlock + channel % kChannelBlock;
            packed[(step * group_blocks + block % group_blocks) * kChannelBlock +
                   row % kChannelBlock] = static_cast<float>(sum);
          }
      }
    return packed_constant(
        DType::kF32, std::move(packed),
        {blocks / group_blocks, kPositions, planes, kChannelBlock, group_blocks, kChannelBlock},
        "packed Winograd weights");
  });
}

}  // namespace scopevm::compiler::kernels
