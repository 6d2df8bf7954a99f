// Encodes typed instructions as bytecode words.
//
//   Encoder code;
//   Encoder::Label done = code.new_label();
//   code.emit(op::branch{.condition = Int::slot({3}), .then_to = code.target(done), ...});
//   code.bind(done);
//   code.emit(op::ret{.values = results});
//   SCOPEVM_ASSIGN_OR_RETURN(std::vector<uint32_t> words, code.finish());
#pragma once

#include <cstdint>
#include <vector>

#include "scopevm/status.h"
#include "vm/isa/opcodes.h"

namespace scopevm::isa {

class Encoder {
 public:
  // A jump target that can be used before it is bound.
  struct Label {
    uint32_t index = 0;
  };

  Label new_label();
  // Binds the label to the instruction that is emitted next.
  void bind(Label label);
  // The value of a target field before the label is bound. finish() replaces it by the label's word
  // index.
  static Target target(Label label) { return {label.index}; }

  // Appends the instruction and returns the word index of its first word. Target fields hold labels
  // (from target()), not word indices.
  template <typename Op>
  uint32_t emit(const Op& in) {
    uint32_t start = begin();
    visit_fields(in, [this](const auto& field) { this->append(field); });
    end(start, Op::kOpcode);
    return start;
  }

  // The number of words emitted: the index of the next instruction's first word.
  uint32_t size() const { return static_cast<uint32_t>(words_.size()); }

  // Returns the code with all labels resolved and resets the encoder. Errors: kInternal (a label is
  // used but not bound), kUnsupported (an instruction is longer than kMaxInstructionWords).
  Result<std::vector<uint32_t>> finish();

 private:
  static constexpr uint32_t kUnbound = ~uint32_t{0};

  uint32_t begin();
  void append(DType dtype) { words_.push_back(static_cast<uint32_t>(dtype)); }
  void append(Target label);
  template <typename T>
  void append(const T& value) {
    words_.push_back(value.word());
  }
  template <typename T>
  void append(const List<T>& list) {
    words_.push_back(list.size());
    words_.insert(words_.end(), list.words(), list.words() + list.size());
  }
  void end(uint32_t start, Opcode opcode);

  std::vector<uint32_t> words_;
  std::vector<uint32_t> label_words_;   // word index by label
  std::vector<uint32_t> target_words_;  // words that hold a label
  Status first_error_;
};

}  // namespace scopevm::isa
