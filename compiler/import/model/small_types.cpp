// The codes of small element types; see small_types.h.
#include "compiler/import/model/small_types.h"

#include <iterator>

namespace scopevm::compiler::frontend {

const SmallType* small_type(int onnx_code) {
  // The enumeration of libonnx does not have all codes.
  constexpr int kFirst = 17;
  constexpr DType kTypes[] = {
      DType::kF8E4M3Fn, DType::kF8E4M3Fnuz, DType::kF8E5M2,    DType::kF8E5M2Fnuz, DType::kU4,
      DType::kI4,       DType::kF4E2M1Fn,   DType::kF8E8M0Fnu, DType::kU2,         DType::kI2};
  const int index = onnx_code - kFirst;
  if (index < 0 || index >= static_cast<int>(std::size(kTypes))) return nullptr;
  return runtime::small_type(kTypes[index]);
}

}  // namespace scopevm::compiler::frontend
