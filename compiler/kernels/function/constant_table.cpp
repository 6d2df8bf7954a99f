// Deduplicates constants and strings.
#include "compiler/kernels/function/constant_table.h"

#include <cstring>

#include "llvm/Support/xxhash.h"

namespace scopevm::compiler::kernels {
namespace {

bool are_equal(const Constant& a, const Constant& b) {
  if (a.pool != b.pool || a.dtype != b.dtype || a.dims != b.dims || a.bytes != b.bytes)
    return false;
  return a.data == b.data || a.bytes == 0 ||
         std::memcmp(a.data, b.data, static_cast<size_t>(a.bytes)) == 0;
}

}  // namespace

ConstantIndex ConstantTable::add(Constant constant) {
  const uint64_t hash =
      llvm::xxh3_64bits(llvm::ArrayRef(constant.data, static_cast<size_t>(constant.bytes)));
  auto [first, last] = by_hash_.equal_range(hash);
  for (; first != last; ++first)
    if (are_equal(constants_[first->second], constant)) return first->second;
  const ConstantIndex index = constants_.next_index();
  by_hash_.emplace(hash, index);
  constants_.push_back(std::move(constant));
  return index;
}

int32_t ConstantTable::string_index(llvm::StringRef string) {
  // String 0 must be the empty string, because zero-initialised elements refer to it. The verifier
  // (vm/format/verify) checks this.
  if (strings_.empty() && !string.empty()) (void)string_index("");
  auto [entry, is_new] = string_indices_.try_emplace(string, static_cast<int32_t>(strings_.size()));
  if (is_new) strings_.push_back(string.str());
  return entry->second;
}

}  // namespace scopevm::compiler::kernels
