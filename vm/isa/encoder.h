// Instruction words, written one instruction at a time. Field by field as vm/isa/opcodes.def says.
#pragma once

#include <cstdint>
#include <vector>

#include "vm/isa/opcode.h"

namespace scopevm::isa {

class Encoder {
 public:
  // Appends one instruction: a word per single field, count and words per list field. REQUIRES: the
  // arguments are the opcode's fields, in order.
  template <typename... Fields>
  void emit(Opcode opcode, const Fields&... fields) {
    size_t at = words_.size();
    words_.push_back(0);
    (add(fields), ...);
    words_[at] = static_cast<uint32_t>(opcode) | static_cast<uint32_t>(words_.size() - at) << 16;
  }
  size_t size() const { return words_.size(); }
  std::vector<uint32_t> take() { return std::move(words_); }

 private:
  void add(uint32_t word) { words_.push_back(word); }
  void add(const std::vector<uint32_t>& list) {
    words_.push_back(static_cast<uint32_t>(list.size()));
    words_.insert(words_.end(), list.begin(), list.end());
  }

  std::vector<uint32_t> words_;
};

}  // namespace scopevm::isa
