// The values of instruction fields: strong indices, integer operands, and lists that view the words
// of an instruction. A list is encoded as a count word followed by one word per element, and every
// other value as one 32-bit word. Decoding costs no more than reading the words.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "scopevm/dtype.h"
#include "vm/isa/index.h"

namespace scopevm::isa {

// An integer operand: a slot of the frame, or an immediate.
struct Int {
  static constexpr uint32_t kSlotBit = uint32_t{1} << 31;
  static constexpr int64_t kMaxImmediate = kSlotBit - 1;

  uint32_t bits = 0;

  // REQUIRES: slot.value < 2^31.
  static constexpr Int slot(SlotIndex slot) { return {slot.value | kSlotBit}; }
  // REQUIRES: 0 <= value <= kMaxImmediate. Other integers must be stored in a slot.
  static constexpr Int immediate(int64_t value) { return {static_cast<uint32_t>(value)}; }
  static constexpr Int from_word(uint32_t word) { return {word}; }

  constexpr uint32_t word() const { return bits; }
  constexpr bool is_slot() const { return (bits & kSlotBit) != 0; }
  // REQUIRES: is_slot().
  constexpr SlotIndex slot_index() const { return {bits & ~kSlotBit}; }
  // REQUIRES: !is_slot().
  constexpr int64_t immediate_value() const { return bits; }
  constexpr int64_t value(const int64_t* slots) const {
    return is_slot() ? slots[bits & ~kSlotBit] : int64_t{bits};
  }
  friend bool operator==(const Int&, const Int&) = default;
};

// A list that views words owned elsewhere: the code of a decoded instruction, or the caller's
// vector of an instruction to encode. Each access converts a word to an element.
template <typename T>
class List {
 public:
  constexpr List() = default;
  constexpr List(const uint32_t* words, uint32_t size) : words_(words), size_(size) {}
  // Views `values`, which must outlive the list.
  List(std::span<const T> values)
      : words_(reinterpret_cast<const uint32_t*>(values.data())),
        size_(static_cast<uint32_t>(values.size())) {
    static_assert(sizeof(T) == sizeof(uint32_t));
  }
  List(const std::vector<T>& values) : List(std::span<const T>(values)) {}

  constexpr uint32_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr T operator[](uint32_t i) const { return T::from_word(words_[i]); }
  constexpr const uint32_t* words() const { return words_; }

 private:
  const uint32_t* words_ = nullptr;
  uint32_t size_ = 0;
};

// An optional sequence is a list of lists; deeper nesting does not occur.
inline constexpr uint32_t kMaxListDepth = 2;
// Equal to kMaxRank in include/scopevm/tensor.h.
inline constexpr uint32_t kMaxElementRank = 16;

// The type of a result of call_closure: a closure, or a tensor with an element type and a rank.
// Encoded in one word.
struct ValueType {
  static constexpr uint32_t kClosureBit = 1 << 16;

  DType dtype = DType::kF32;
  uint32_t rank = 0;
  bool is_closure = false;

  // REQUIRES: is_valid(word).
  static constexpr ValueType from_word(uint32_t word) {
    return {static_cast<DType>(word & 0xFF), (word >> 8) & 0xFF, word == kClosureBit};
  }
  constexpr uint32_t word() const {
    return is_closure ? kClosureBit : static_cast<uint32_t>(dtype) | rank << 8;
  }
  static constexpr bool is_valid(uint32_t word) {
    return word == kClosureBit ||
           ((word & 0xFF) < static_cast<uint32_t>(kDTypeCount) && word >> 8 <= kMaxElementRank);
  }
};

using RegisterList = List<RegisterIndex>;
using IntList = List<Int>;

}  // namespace scopevm::isa
