// Tags of layouts; see layout.h.
#include "plugins/dnnl/run/layout.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

namespace scopevm::onednn {

using dnnl::memory;

namespace {

constexpr size_t kMaxBlocks = 4;
constexpr int64_t kMaxBlock = 256;  // elements

struct Tag {
  std::vector<size_t> order;                       // dims outside of the blocks
  std::vector<std::pair<int64_t, size_t>> blocks;  // size and dim
};

std::optional<Tag> parse_tag(const std::string& text, size_t rank) {
  Tag tag;
  int64_t block = 0;
  for (char c : text) {
    if (c >= '0' && c <= '9') {
      block = 10 * block + (c - '0');
      if (block > kMaxBlock) return std::nullopt;
      continue;
    }
    const auto dim = static_cast<size_t>(c - 'a');
    if (c < 'a' || dim >= rank) return std::nullopt;
    if (block > 0)
      tag.blocks.emplace_back(block, dim);
    else if (tag.blocks.empty() && std::ranges::find(tag.order, dim) == tag.order.end())
      tag.order.push_back(dim);
    else
      return std::nullopt;
    block = 0;
  }
  if (block != 0 || tag.order.size() != rank || tag.blocks.size() > kMaxBlocks) return std::nullopt;
  return tag;
}

}  // namespace

memory::desc plain(const memory::dims& dims) {
  memory::dims strides(dims.size(), 1);
  for (size_t i = dims.size() - 1; i > 0; --i) strides[i - 1] = strides[i] * dims[i];
  return {dims, memory::data_type::f32, strides};
}

memory::desc transposed(const memory::dims& dims) {
  memory::desc type = plain(dims);
  dnnl_dim_t* strides = type.data.format_desc.blocking.strides;
  const size_t last = dims.size() - 1;
  strides[last] = dims[last - 1];
  strides[last - 1] = 1;
  return type;
}

std::string layout_of(const memory::desc& type) {
  const dnnl_memory_desc_t& data = type.data;
  if (data.format_kind != dnnl_blocked || data.extra.flags != 0) return "";
  const dnnl_blocking_desc_t& blocking = data.format_desc.blocking;
  const auto rank = static_cast<size_t>(data.ndims);
  std::vector<size_t> order(rank);
  std::iota(order.begin(), order.end(), size_t{0});
  // Among dims of equal strides, only the outermost one can be larger than 1.
  std::ranges::sort(order, std::ranges::greater(), [&](size_t dim) {
    return std::tuple(blocking.strides[dim], data.dims[dim], rank - dim);
  });
  std::string text;
  for (size_t dim : order) text += static_cast<char>('a' + dim);
  for (int i = 0; i < blocking.inner_nblks; ++i)
    text +=
        std::to_string(blocking.inner_blks[i]) + static_cast<char>('a' + blocking.inner_idxs[i]);
  const auto same = type_in(text, type.dims());
  // oneDNN's comparison ignores the strides of dims of size 1, which some implementations require.
  const bool is_same = same && *same == type &&
                       std::equal(blocking.strides, blocking.strides + rank,
                                  same->data.format_desc.blocking.strides);
  return is_same ? text : "";
}

std::optional<memory::desc> type_in(const std::string& layout, const memory::dims& dims) {
  const auto tag = parse_tag(layout, dims.size());
  if (!tag) return std::nullopt;
  memory::desc type = plain(dims);
  dnnl_blocking_desc_t& blocking = type.data.format_desc.blocking;
  memory::dims block_of_dim(dims.size(), 1);
  int64_t stride = 1;
  blocking.inner_nblks = static_cast<int>(tag->blocks.size());
  for (size_t i = 0; i < tag->blocks.size(); ++i) {
    const auto [size, dim] = tag->blocks[i];
    blocking.inner_blks[i] = size;
    blocking.inner_idxs[i] = static_cast<dnnl_dim_t>(dim);
    block_of_dim[dim] *= size;
    stride *= size;
  }
  for (size_t i = tag->order.size(); i-- > 0;) {
    const size_t dim = tag->order[i];
    const int64_t blocks = (dims[dim] + block_of_dim[dim] - 1) / block_of_dim[dim];
    type.data.padded_dims[dim] = blocks * block_of_dim[dim];
    blocking.strides[dim] = stride;
    stride *= blocks;
  }
  return type;
}

}  // namespace scopevm::onednn
