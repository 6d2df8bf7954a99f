// Forward data-flow analysis of register contents and of the shape functions in effect: a worklist
// algorithm over basic blocks (Kildall), with the state at each block's start.
#include <algorithm>
#include <deque>
#include <unordered_map>

#include "vm/format/verify/transfer.h"

namespace scopevm::format {
namespace {

using isa::Instruction;
using State = Transfer::State;

// Bounds on the cost of a malicious module: about 130 MB and a few seconds.
constexpr uint64_t kMaxStates = uint64_t{1} << 22;  // blocks times registers
constexpr uint64_t kMaxWork = uint64_t{1} << 28;    // words visited and registers merged

class FlowVerifier {
 public:
  FlowVerifier(const ModuleContents& module, const FunctionDecl& function,
               const std::vector<uint32_t>& starts, const FlowTables& tables)
      : function_(function),
        starts_(starts),
        shape_functions_(tables.shape_functions),
        transfer_(module, function, tables) {}

  Status run() {
    find_blocks();
    if (blocks_.size() * uint64_t{function_.register_count} > kMaxStates) return too_large();
    State entry{.registers = std::vector<RegisterState>(function_.register_count)};
    for (size_t i = 0; i < function_.inputs.size(); ++i) {
      // All other registers are empty at the entry.
      entry[i] = transfer_.state_of(function_.inputs[i]);
    }
    SCOPEVM_RETURN_IF_ERROR(reach(0, entry));
    while (!pending_.empty()) {
      Block& block = blocks_[pending_.front()];
      pending_.pop_front();
      block.is_pending = false;
      SCOPEVM_RETURN_IF_ERROR(walk(block));
    }
    return {};
  }

 private:
  struct Block {
    size_t first = 0;  // index of the first instruction
    bool is_reached = false;
    bool is_pending = false;
    State at_start;
  };

  static Status too_large() {
    return Status(StatusCode::kUnsupported, "control flow is too large to verify");
  }

  // Decodes the instruction again on each visit. Decoding is cheap, and stored instructions would
  // take many times the memory of the code.
  Instruction instruction(uint32_t start) const {
    return isa::verified_instruction(function_.code, start);
  }

  // A block starts at the entry and at every jump target.
  void find_blocks() {
    std::vector<uint32_t> words = {0};
    for (uint32_t start : starts_) {
      const Instruction in = instruction(start);
      for (const Instruction::Field& field : in.fields())
        if (field.form() == isa::FieldForm::target_form) words.push_back(field.words[0]);
    }
    std::ranges::sort(words);
    words.erase(std::ranges::unique(words).begin(), words.end());
    for (size_t i = 0, next = 0; i < starts_.size() && next < words.size(); ++i) {
      if (starts_[i] != words[next]) continue;
      block_at_[words[next++]] = blocks_.size();
      blocks_.push_back({i});
    }
  }

  // Joins `state` into the start state of the block at `word`, and queues the block if its start
  // state changed.
  Status reach(uint32_t word, const State& state) {
    size_t index = block_at_.at(word);
    Block& block = blocks_[index];
    bool has_changed = !block.is_reached;
    if (!block.is_reached) {
      block.at_start = state;
    } else {
      for (uint32_t i = 0; i < state.registers.size(); ++i) {
        RegisterState merged = merge(block.at_start[i], state[i]);
        has_changed = has_changed || merged != block.at_start[i];
        block.at_start[i] = merged;
      }
      SCOPEVM_ASSIGN_OR_RETURN(
          const int32_t in_effect,
          common_ancestor(block.at_start.shape_function, state.shape_function));
      has_changed = has_changed || in_effect != block.at_start.shape_function;
      block.at_start.shape_function = in_effect;
    }
    block.is_reached = true;
    if (has_changed && !block.is_pending) {
      block.is_pending = true;
      pending_.push_back(index);
    }
    return spend(state.registers.size() + 1);
  }

  // The shape functions in effect on both paths are those above the common ancestor.
  Result<int32_t> common_ancestor(int32_t a, int32_t b) {
    for (; !shape_functions_.is_in_effect(a, b); a = shape_functions_.parent(a))
      SCOPEVM_RETURN_IF_ERROR(spend(1));
    return a;
  }

  Status walk(const Block& block) {
    // A copy, because a jump back to this block can change at_start during the walk.
    State state = block.at_start;
    for (size_t i = block.first; i < starts_.size(); ++i) {
      const Instruction in = instruction(starts_[i]);
      // Control falls through into the next block. The analysis of that block continues from its
      // joined state.
      if (i != block.first && block_at_.contains(in.start)) return reach(in.start, state);
      Status status = transfer_.apply(in, state);
      if (!status.ok())
        return std::move(status).with_context("word " + std::to_string(in.start) + ": " +
                                              std::string(in.row->name));
      SCOPEVM_RETURN_IF_ERROR(spend(in.word_count));
      for (const Instruction::Field& field : in.fields())
        if (field.form() == isa::FieldForm::target_form)
          SCOPEVM_RETURN_IF_ERROR(reach(field.words[0], state));
      if (in.row->has(isa::Trait::no_fall_through)) return {};
    }
    return {};
  }

  Status spend(uint64_t work) {
    work_ += work;
    return work_ > kMaxWork ? too_large() : Status();
  }

  const FunctionDecl& function_;
  const std::vector<uint32_t>& starts_;
  const ShapeFunctionTree& shape_functions_;
  Transfer transfer_;
  std::vector<Block> blocks_;
  std::unordered_map<uint32_t, size_t> block_at_;
  std::deque<size_t> pending_;
  uint64_t work_ = 0;
};

}  // namespace

Status verify_flow(const ModuleContents& module, const FunctionDecl& function,
                   const std::vector<uint32_t>& starts, const FlowTables& tables) {
  return FlowVerifier(module, function, starts, tables).run();
}

}  // namespace scopevm::format
