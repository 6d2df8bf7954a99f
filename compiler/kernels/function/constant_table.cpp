// Finds equal constants: see the header.
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

int ConstantTable::add(Constant constant) {
  const uint64_t hash =
      llvm::xxh3_64bits(llvm::ArrayRef(constant.data, static_cast<size_t>(constant.bytes)));
  auto [first, last] = by_hash_.equal_range(hash);
  for (; first != last; ++first)
    if (are_equal(constants_[first->second], constant)) return first->second;
  const int index = static_cast<int>(constants_.size());
  by_hash_.emplace(hash, index);
  constants_.push_back(std::move(constant));
  return index;
}

int32_t ConstantTable::id_of_text(llvm::StringRef text) {
  if (texts_.empty() && !text.empty()) (void)id_of_text("");
  auto [entry, is_new] = ids_.try_emplace(text, static_cast<int32_t>(texts_.size()));
  if (is_new) texts_.push_back(text.str());
  return entry->second;
}

}  // namespace scopevm::compiler::kernels
