#include "vm/load/frame_stacks.h"

#include <algorithm>

#include "vm/isa/opcodes.h"
#include "vm/load/frame_layout.h"

namespace scopevm::vm {

size_t FrameStacks::offset_at(uint32_t word) const {
  return std::ranges::lower_bound(sites, word, {}, &Site::word)->offset;
}

FrameStacks find_stacks(const format::ModuleContents& contents,
                        const format::FunctionDecl& function) {
  FrameStacks stacks;
  const std::vector<uint32_t>& code = function.code;
  for (size_t at = 0; at < code.size(); at += isa::word_count(code[at])) {
    if (isa::opcode(code[at]) != isa::Opcode::alloc_storage) continue;
    const auto in = isa::decode<isa::op::alloc_storage>(&code[at]);
    if (contents.pools[in.from.value].kind != format::PoolKind::kStack) continue;
    const size_t bytes = align_in_frame(static_cast<size_t>(in.size.immediate_value()));
    stacks.sites.push_back({static_cast<uint32_t>(at), stacks.bytes});
    stacks.bytes += bytes;
    auto use = std::ranges::find(stacks.uses, in.from.value, &FrameStacks::Use::pool);
    if (use == stacks.uses.end()) use = stacks.uses.insert(use, {in.from.value, 0});
    use->bytes += static_cast<int64_t>(bytes);
  }
  return stacks;
}

}  // namespace scopevm::vm
