// Types of f32 tensors. Layouts are written in oneDNN's notation of format tags: "abcd16b16a" has
// the blocks of dims 1 and 0 inside, and the dims outside of them in the order 0, 1, 2, 3.
#pragma once

#include <dnnl.hpp>
#include <optional>
#include <string>

namespace scopevm::onednn {

// Row-major.
dnnl::memory::desc plain(const dnnl::memory::dims& dims);

// Row-major except for the last two dims: the last dim but one is contiguous.
dnnl::memory::desc transposed(const dnnl::memory::dims& dims);

// The tag of a type; empty if its layout is not a dense blocked one.
std::string layout_of(const dnnl::memory::desc& type);

// The f32 type with these dims in this layout; nothing if `layout` is not a tag for this rank.
// REQUIRES: every dim is at least 1, and all together have at most 2^40 elements.
std::optional<dnnl::memory::desc> type_in(const std::string& layout,
                                          const dnnl::memory::dims& dims);

}  // namespace scopevm::onednn
