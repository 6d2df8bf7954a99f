#include "vm/load/result_sites.h"

#include <algorithm>
#include <optional>

#include "vm/load/words.h"

namespace scopevm::vm {
namespace {

using isa::Opcode;

constexpr uint32_t kNowhere = UINT32_MAX;

// Where each register is written, and which storages a single tensor takes whole.
class Definitions {
 public:
  explicit Definitions(const format::FunctionDecl& function)
      : code_(function.code),
        word_(function.register_count, kNowhere),
        writes_(function.register_count, 0),
        readers_(function.register_count, 0) {
    for (uint32_t i = 0; i < function.inputs.size(); ++i) ++writes_[i];
    for (uint32_t pc = 0; pc < code_.size(); pc += isa::word_count(code_[pc])) add(pc);
  }

  const std::vector<uint32_t>& returns() const { return returns_; }

  // The instruction that writes `reg`, when there is exactly one.
  std::optional<uint32_t> only_write(uint32_t reg) const {
    if (writes_[reg] != 1 || word_[reg] == kNowhere) return std::nullopt;
    return word_[reg];
  }
  uint32_t readers(uint32_t reg) const { return readers_[reg]; }

 private:
  void write(uint32_t reg, uint32_t pc) {
    ++writes_[reg];
    word_[reg] = pc;
  }

  void add(uint32_t pc) {
    const uint32_t* w = &code_[pc];
    switch (isa::opcode(*w)) {
      case Opcode::alloc_storage:
      case Opcode::load_const:
        write(w[1], pc);
        break;
      case Opcode::alloc_tensor:
      case Opcode::alloc_view:
      case Opcode::move:
        write(w[1], pc);
        ++readers_[w[2]];
        break;
      case Opcode::call:
        for (uint32_t i = 0; i < w[2]; ++i) ++readers_[w[3 + i]];
        for (uint32_t i = 0; i < w[3 + w[2]]; ++i) write(w[4 + w[2] + i], pc);
        break;
      case Opcode::ret:
        returns_.push_back(pc);
        break;
      default:
        break;
    }
  }

  const std::vector<uint32_t>& code_;
  std::vector<uint32_t> word_;
  std::vector<uint32_t> writes_;
  std::vector<uint32_t> readers_;  // instructions that make another name for it
  std::vector<uint32_t> returns_;
};

std::optional<ResultSite> trace_back(const std::vector<uint32_t>& code,
                                     const Definitions& definitions, uint32_t reg) {
  ResultSite site;
  std::optional<uint32_t> pc = definitions.only_write(reg);
  if (!pc) return std::nullopt;
  site.tensor_word = *pc;
  while (pc && isa::opcode(code[*pc]) == Opcode::alloc_view)
    pc = definitions.only_write(code[*pc + 2]);
  if (!pc || isa::opcode(code[*pc]) != Opcode::alloc_tensor) return std::nullopt;
  const uint32_t storage = code[*pc + 2];
  const bool takes_it_whole = code[*pc + 3] == 0;
  const uint32_t bytes = code[*pc + 4];
  const std::optional<uint32_t> alloc = definitions.only_write(storage);
  if (!alloc || isa::opcode(code[*alloc]) != Opcode::alloc_storage || !takes_it_whole ||
      code[*alloc + 3] != bytes || definitions.readers(storage) != 1)
    return std::nullopt;
  site.alloc_word = *alloc;
  return site;
}

}  // namespace

std::vector<ResultSite> find_result_sites(const format::FunctionDecl& function) {
  std::vector<ResultSite> sites;
  const Definitions definitions(function);
  if (definitions.returns().size() != 1) return sites;
  const uint32_t* returned = &function.code[definitions.returns().front()];
  for (uint32_t i = 0; i < returned[1]; ++i) {
    std::optional<ResultSite> site = trace_back(function.code, definitions, returned[2 + i]);
    if (!site) continue;
    site->output = i;
    // A storage that is two results can be only one caller's buffer.
    if (std::ranges::find(sites, site->alloc_word, &ResultSite::alloc_word) == sites.end())
      sites.push_back(*site);
  }
  return sites;
}

}  // namespace scopevm::vm
