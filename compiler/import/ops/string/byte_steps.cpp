#include "compiler/import/ops/string/byte_steps.h"

#include <algorithm>
#include <string>

#include "runtime/string/utf8.h"

namespace scopevm::compiler::frontend {
namespace {

constexpr size_t kMostSteps = size_t{1} << 18;

using CodeRange = CharacterSet::Range;
using Kind = Pattern::Kind;

std::vector<uint8_t> encoded(char32_t c) {
  std::vector<uint8_t> bytes;
  runtime::encode_utf8(c, [&](char byte) { bytes.push_back(static_cast<uint8_t>(byte)); });
  return bytes;
}

}  // namespace

ByteSteps::ByteSteps(const Pattern& pattern) {
  steps_.push_back({});
  initial_ = add(pattern, 0);
}

int32_t ByteSteps::add_step(const ByteStep& step) {
  is_full_ = is_full_ || steps_.size() >= kMostSteps;
  if (is_full_) return 0;
  steps_.push_back(step);
  return static_cast<int32_t>(steps_.size()) - 1;
}

int32_t ByteSteps::add(const Pattern& pattern, int32_t next) {
  switch (pattern.kind) {
    case Kind::kSequence:
      for (size_t i = pattern.parts.size(); i-- > 0;) next = add(pattern.parts[i], next);
      return next;
    case Kind::kChoice: {
      int32_t result = add(pattern.parts.back(), next);
      for (size_t i = pattern.parts.size() - 1; i-- > 0;)
        result = either(add(pattern.parts[i], next), result);
      return result;
    }
    case Kind::kRepeat:
      return add_repeat(pattern, next);
    case Kind::kCharacter:
      return add_characters(pattern.characters, next);
    case Kind::kByte:
      return add_step({.kind = ByteStep::Kind::kBytes, .first = 0, .last = 0xff, .next = next});
    case Kind::kAssertion:
      return add_step(
          {.kind = ByteStep::Kind::kAssertion, .assertion = pattern.assertion, .next = next});
  }
  return next;
}

// x{2,4} as xx(x(x)?)?, x{2,} as xxx*.
int32_t ByteSteps::add_repeat(const Pattern& pattern, int32_t next) {
  const Pattern& part = pattern.parts.front();
  int32_t result = next;
  if (pattern.most < 0) {
    result = either(0, next);
    const int32_t body = add(part, result);
    if (!is_full_) steps_[static_cast<size_t>(result)].next = body;
  }
  for (int i = pattern.least; i < pattern.most && !is_full_; ++i)
    result = either(add(part, result), next);
  for (int i = 0; i < pattern.least && !is_full_; ++i) result = add(part, result);
  return result;
}

int32_t ByteSteps::add_characters(const CharacterSet& set, int32_t next) {
  // The last characters with an encoding of 1, 2 and 3 bytes, and those around the surrogates.
  constexpr CodeRange kEncodings[] = {
      {0, 0x7f}, {0x80, 0x7ff}, {0x800, 0xd7ff}, {0xe000, 0xffff}, {0x10000, 0x10ffff}};
  known_.clear();
  int32_t result = -1;
  for (const CodeRange& range : set.ranges())
    for (const CodeRange& encoding : kEncodings) {
      const char32_t first = std::max(range.first, encoding.first),
                     last = std::min(range.last, encoding.last);
      if (last < first) continue;
      const int32_t step = add_bytes(encoded(first), encoded(last), next);
      result = result < 0 ? step : either(step, result);
    }
  if (result >= 0) return result;
  return add_step({.kind = ByteStep::Kind::kBytes, .first = 1, .last = 0});  // the empty set
}

// The encodings of all characters between two with encodings of the same size.
int32_t ByteSteps::add_bytes(std::span<const uint8_t> first, std::span<const uint8_t> last,
                             int32_t next) {
  const auto step = [&](uint8_t from, uint8_t to, int32_t then) {
    const auto [at, is_new] = known_.try_emplace({from, to, then}, 0);
    if (is_new)
      at->second =
          add_step({.kind = ByteStep::Kind::kBytes, .first = from, .last = to, .next = then});
    return at->second;
  };
  uint8_t from = first.front(), to = last.front();
  if (first.size() == 1) return step(from, to, next);
  const std::span<const uint8_t> more = first.subspan(1), end = last.subspan(1);
  if (from == to) return step(from, to, add_bytes(more, end, next));
  constexpr uint8_t kLeast[] = {0x80, 0x80, 0x80}, kMost[] = {0xbf, 0xbf, 0xbf};
  const std::span least = std::span(kLeast).first(more.size()),
                  most = std::span(kMost).first(more.size());
  int32_t result = -1;
  const auto add_choice = [&](int32_t choice) {
    result = result < 0 ? choice : either(choice, result);
  };
  if (!std::ranges::equal(more, least)) {
    add_choice(step(from, from, add_bytes(more, most, next)));
    ++from;
  }
  if (!std::ranges::equal(end, most)) {
    add_choice(step(to, to, add_bytes(least, end, next)));
    --to;
  }
  if (from <= to) add_choice(step(from, to, add_bytes(least, most, next)));
  return result;
}

}  // namespace scopevm::compiler::frontend
