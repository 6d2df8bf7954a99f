// Finds members of records in the schema, module.fbs, at compile time.
#pragma once

#include <flatbuffers/flatbuffers.h>

#include <array>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "vm/format/schema/module_generated.h"
#include "vm/format/schema/records.h"

namespace scopevm::format {

// An operand or result of an external function is encoded as dtype + (rank << kRankShift).
inline constexpr uint32_t kRankShift = 8;

// The schema's table for each record that is stored in one.
template <typename Record>
struct TableOf;
// clang-format off
template <> struct TableOf<DeviceDecl> { using Type = fb::Device; };
template <> struct TableOf<PoolDecl> { using Type = fb::Pool; };
template <> struct TableOf<DimensionDecl> { using Type = fb::Dimension; };
template <> struct TableOf<TensorDecl> { using Type = fb::Tensor; };
template <> struct TableOf<MemoryDecl> { using Type = fb::Memory; };
template <> struct TableOf<FormulaDefinition> { using Type = fb::Definition; };
template <> struct TableOf<SourceDecl> { using Type = fb::Source; };
template <> struct TableOf<FunctionDecl> { using Type = fb::Function; };
template <> struct TableOf<CheckDecl> { using Type = fb::Check; };
template <> struct TableOf<VariantDecl> { using Type = fb::Variant; };
template <> struct TableOf<ShapeFunctionDecl> { using Type = fb::ShapeFunction; };
template <> struct TableOf<ExternalDecl> { using Type = fb::External; };
template <> struct TableOf<KernelDecl> { using Type = fb::Kernel; };
template <> struct TableOf<LaunchDecl> { using Type = fb::Launch; };
template <> struct TableOf<ConstantDecl> { using Type = fb::Constant; };
template <> struct TableOf<ImageDecl> { using Type = fb::Image; };
template <> struct TableOf<ModuleContents> { using Type = fb::Module; };
// clang-format on

// The type of a field of the schema that stores a member of type T.
template <typename T>
struct Stored {
  using Type = T;  // a number
};
template <>
struct Stored<isa::Int> {
  using Type = uint32_t;
};
template <>
struct Stored<ExternalTensor> {
  using Type = uint32_t;
};
template <typename T>
  requires std::is_enum_v<T>
struct Stored<T> {
  using Type = std::underlying_type_t<T>;
};
template <>
struct Stored<std::string> {
  using Type = const flatbuffers::String*;
};
template <typename T>
  requires requires { typename TableOf<T>::Type; }
struct Stored<T> {
  using Type = const typename TableOf<T>::Type*;
};
template <typename T>
struct Stored<std::vector<T>> {
  using Element = typename Stored<T>::Type;
  // Elements that are pointers are stored as offsets.
  using Type = const flatbuffers::Vector<std::conditional_t<
      std::is_pointer_v<Element>,
      flatbuffers::Offset<std::remove_const_t<std::remove_pointer_t<Element>>>, Element>>*;
};

// A field of a table, converted from the name of a member of type T. Code with a name that the
// schema lacks, or that has another type there, does not compile.
template <typename Table, typename T>
class Field {
 public:
  using Type = typename Stored<T>::Type;

  consteval Field(const char* name) : index_(find(name)) {
    const bool has_type = kTypes[index_] == &kTypeId<Type>;
    can_be_absent_ = kTypes[index_] == &kTypeId<flatbuffers::Optional<Type>>;
    if (!has_type && !can_be_absent_) throw "the field in module.fbs has another type";
  }

  constexpr size_t index() const { return index_; }
  // True if the schema's default is null. The usual value is then stored as an absent field.
  constexpr bool can_be_absent() const { return can_be_absent_; }
  // As FlatBuffers numbers the fields of a table.
  flatbuffers::voffset_t vtable_offset() const {
    return flatbuffers::FieldIndexToOffset(static_cast<flatbuffers::voffset_t>(index_));
  }

 private:
  template <typename>
  static constexpr char kTypeId = 0;
  template <size_t... kIndices>
  static constexpr auto type_ids(std::index_sequence<kIndices...>) {
    return std::array{&kTypeId<typename Table::Traits::template FieldType<kIndices>>...};
  }
  static constexpr auto kTypes = type_ids(std::make_index_sequence<Table::Traits::fields_number>());

  static consteval size_t find(std::string_view name) {
    size_t index = 0;
    while (name != Table::Traits::field_names.at(index)) ++index;
    return index;
  }

  size_t index_;
  bool can_be_absent_;
};

}  // namespace scopevm::format
