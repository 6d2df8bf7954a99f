// Emits words and resolves labels; see encoder.h.
#include "vm/isa/encoder.h"

#include <string>

namespace scopevm::isa {

Encoder::Label Encoder::new_label() {
  label_words_.push_back(kUnbound);
  return {static_cast<uint32_t>(label_words_.size() - 1)};
}

void Encoder::bind(Label label) { label_words_[label.index] = size(); }

uint32_t Encoder::begin() {
  words_.push_back(0);
  return size() - 1;
}

void Encoder::append(Target label) {
  target_words_.push_back(size());
  words_.push_back(label.value);
}

void Encoder::end(uint32_t start, Opcode opcode) {
  uint32_t count = size() - start;
  if (count > kMaxInstructionWords && first_error_.ok()) {
    first_error_ = Status(StatusCode::kUnsupported,
                          std::string(find_opcode(static_cast<uint32_t>(opcode))->name) +
                              ": instruction of " + std::to_string(count) +
                              " words, the limit is " + std::to_string(kMaxInstructionWords));
  }
  // finish() reports the error. Until then, encoding continues with a truncated word count.
  words_[start] = instruction_word(opcode, count & 0xFFFF);
}

Result<std::vector<uint32_t>> Encoder::finish() {
  for (uint32_t at : target_words_) {
    uint32_t label = words_[at];
    if (label >= label_words_.size() || label_words_[label] == kUnbound) {
      if (first_error_.ok())
        first_error_ = Status(StatusCode::kInternal, "undefined label " + std::to_string(label));
      break;
    }
    words_[at] = label_words_[label];
  }
  std::vector<uint32_t> words = std::move(words_);
  Status status = std::move(first_error_);
  *this = Encoder();
  if (!status.ok()) return status;
  return words;
}

}  // namespace scopevm::isa
