// Assigns frame offsets to the stack-pool allocations of a function; see frame_storages.h.
#include "vm/load/frame_storages.h"

#include <algorithm>

#include "vm/isa/instruction.h"
#include "vm/load/frame_layout.h"

namespace scopevm::vm {

size_t FrameStorages::offset_at(uint32_t word) const {
  return std::ranges::lower_bound(allocations, word, {}, &Allocation::word)->offset;
}

FrameStorages find_stacks(const format::ModuleContents& contents,
                          const format::FunctionDecl& function) {
  FrameStorages stacks;
  const auto is_stack = [](const format::PoolDecl& pool) {
    return pool.kind == format::PoolKind::kStack;
  };
  if (std::ranges::none_of(contents.pools, is_stack)) return stacks;
  const std::vector<uint32_t>& code = function.code;
  for (uint32_t at = 0; at < code.size(); at += isa::word_count(code[at])) {
    const isa::Instruction in = isa::verified_instruction(code, at);
    for (const isa::Instruction::Field& field : in.fields())
      for (const isa::Rule& rule : field.row->rules()) {
        if (rule.kind != isa::RuleKind::allocates) continue;
        const uint32_t pool = field.words[0];
        if (!is_stack(contents.pools[pool])) continue;
        const int64_t size = in.integer(rule, 0).immediate_value();
        // Instructions do not share bytes. The verifier limits the sum of their sizes per frame.
        const size_t bytes = align_in_frame(static_cast<size_t>(size));
        stacks.allocations.push_back({at, stacks.bytes});
        stacks.bytes += bytes;
        auto use = std::ranges::find(stacks.uses, pool, &FrameStorages::Use::pool);
        if (use == stacks.uses.end()) use = stacks.uses.insert(use, {pool, 0});
        use->bytes += static_cast<int64_t>(bytes);
      }
  }
  return stacks;
}

}  // namespace scopevm::vm
