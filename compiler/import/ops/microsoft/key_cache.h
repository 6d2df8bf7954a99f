// How com.microsoft.GroupQueryAttention stores the keys and values of earlier calls.
#pragma once

#include "compiler/import/node/node.h"

namespace scopevm::compiler::frontend {

// The stored form of keys or values [..., heads, keys, size]. Without a scale, it is the numbers
// themselves. Otherwise it is saturate(round(x / scale)): with 8 bits as i8, with 4 bits as u8. A
// byte then has two numbers plus 8, the first one in the low bits.
struct CacheFormat {
  int64_t bits = 8;
  Value scale;                        // f32, [] or [heads, 1, size]; null: not quantised
  DimExpr size = 1, stored_size = 1;  // the number of channels of a head, and of stored elements
};

// The attributes and inputs that define the format of the keys or the values.
struct CacheFormatSource {
  llvm::StringRef type;  // the attribute: NONE, PER_TENSOR or PER_CHANNEL
  size_t scale;          // the input
  size_t past;           // the input with the stored numbers, which can be absent
};
CacheFormat read_cache_format(Node& n, const CacheFormatSource& source, int64_t heads,
                              DimExpr size);

Value stored(Node& n, const CacheFormat& format, Value x);
// The numbers that are stored, as f32 if they are quantised. Bytes that are 0 represent numbers,
// too.
Value restored(Node& n, const CacheFormat& format, Value x);

}  // namespace scopevm::compiler::frontend
