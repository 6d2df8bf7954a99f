// Serialises the tables section of ModuleContents.
#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <optional>

#include "vm/format/binary/schema_fields.h"
#include "vm/format/binary/tables.h"

namespace scopevm::format {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

// Indices of the fields of a table, in the order in which their strings, vectors and tables are
// created. Modules keep their bytes only if this order does not change.
template <typename Table>
constexpr auto creation_order() {
  std::array<size_t, Table::Traits::fields_number> order;
  std::iota(order.begin(), order.end(), 0);
  const auto move_before = [&](const char* name, const char* next) {
    const auto at = [&](std::string_view field) {
      return std::ranges::find_if(order,
                                  [&](size_t i) { return field == Table::Traits::field_names[i]; });
    };
    std::rotate(at(next), at(name), at(name) + 1);
  };
  if constexpr (std::same_as<Table, fb::Module>) {
    move_before("launches", "constants");
    move_before("strings", "variants");
  } else if constexpr (std::same_as<Table, fb::Image>) {
    move_before("features", "devices");
    move_before("target_cpu", "features");
  }
  return order;
}

template <typename Record>
auto write(FlatBufferBuilder& builder, const Record& record);

// Writes one record: visits it once for each field, because FlatBuffers orders fields by the schema
// and does not nest the construction of tables.
template <typename Table>
class TableWriter {
 public:
  explicit TableWriter(FlatBufferBuilder& builder) : builder_(builder) {}

  template <typename Record>
  Offset<Table> write(const Record& record) {
    for (const size_t index : creation_order<Table>()) {
      current_ = index;
      visit(*this, record);
    }
    return finish();
  }

  // The visitor interface. `const char*` converts to a field of the member's type.
  template <typename T>
  using FieldOf = std::type_identity_t<Field<Table, T>>;

  template <typename T>
  void bare(FieldOf<T> field, const T& value) {
    if (field.index() == current_) set(store(value));
  }
  template <typename T>
  void named(FieldOf<T> field, const T& value, std::string_view = "") {
    bare<T>(field, value);
  }
  template <typename T>
  void optional(FieldOf<T> field, const T& value, const std::type_identity_t<T>& usual = {},
                std::string_view = "") {
    const bool may_be_absent = field.can_be_absent() || std::same_as<T, std::string>;
    if (!may_be_absent || value != usual) bare<T>(field, value);
  }
  template <typename T>
  void limited(FieldOf<T> field, const T& value, Range<T>,
               const std::type_identity_t<T>& usual = {}) {
    optional<T>(field, value, usual);
  }
  void slot(Field<Table, uint32_t> field, uint32_t slot, std::string_view = "") {
    bare<uint32_t>(field, slot);
  }
  void optional_slots(Field<Table, std::vector<uint32_t>> field,
                      const std::vector<uint32_t>& slots) {
    bare<std::vector<uint32_t>>(field, slots);
  }
  template <typename Record>
  void part(FieldOf<Record> field, const std::optional<Record>& record) {
    if (field.index() == current_ && record) set(format::write(builder_, *record));
  }
  void size(Field<Table, uint32_t> field, const std::vector<uint32_t>& code) {
    bare<uint32_t>(field, static_cast<uint32_t>(code.size()));
  }
  void size(Field<Table, uint64_t> field, const Bytes& bytes) { bare<uint64_t>(field, bytes.size); }
  template <typename Record>
  void list(FieldOf<std::vector<Record>> field, const std::vector<Record>& records,
            std::string_view) {
    bare<std::vector<Record>>(field, records);
  }

 private:
  // The bits of a number, or an offset.
  struct Value {
    uint64_t bits = 0;
    size_t size = 0;  // 0: absent
    bool is_offset = false;
  };

  template <typename T>
  void set(T value) {
    Value& stored = values_[current_];
    std::memcpy(&stored.bits, &value, sizeof value);
    stored.size = sizeof value;
    stored.is_offset = !std::is_arithmetic_v<T>;
  }

  template <typename T>
  auto store(const T& value) {
    if constexpr (std::is_enum_v<T>)
      return static_cast<std::underlying_type_t<T>>(value);
    else if constexpr (std::same_as<T, isa::Int>)
      return value.word();
    else if constexpr (std::same_as<T, ExternalTensor>)
      return static_cast<uint32_t>(value.dtype) | value.rank << kRankShift;
    else if constexpr (std::same_as<T, std::string>)
      return builder_.CreateString(value);
    else if constexpr (std::is_arithmetic_v<T>)
      return value;
    else
      return format::write(builder_, value);
  }
  template <typename T>
  auto store(const std::vector<T>& values) {
    std::vector<decltype(store(values[0]))> stored;
    stored.reserve(values.size());
    for (const T& value : values) stored.push_back(store(value));
    return builder_.CreateVector(stored);
  }

  // The order of fields in the table is that of FlatBuffers' generated code.
  Offset<Table> finish() {
    const flatbuffers::uoffset_t start = builder_.StartTable();
    for (size_t size = sizeof(uint64_t); size != 0; size /= 2)
      for (size_t i = values_.size(); i-- > 0;)
        if (values_[i].size == size)
          add(flatbuffers::FieldIndexToOffset(static_cast<flatbuffers::voffset_t>(i)), values_[i]);
    return Offset<Table>(builder_.EndTable(start));
  }
  void add(flatbuffers::voffset_t field, const Value& value) {
    if (value.is_offset)
      builder_.AddOffset(field, Offset<void>(static_cast<flatbuffers::uoffset_t>(value.bits)));
    else if (value.size == sizeof(uint64_t))
      builder_.AddElement(field, value.bits);
    else if (value.size == sizeof(uint32_t))
      builder_.AddElement(field, static_cast<uint32_t>(value.bits));
    else
      builder_.AddElement(field, static_cast<uint8_t>(value.bits));
  }

  FlatBufferBuilder& builder_;
  size_t current_ = 0;
  std::array<Value, Table::Traits::fields_number> values_;
};

template <typename Record>
auto write(FlatBufferBuilder& builder, const Record& record) {
  return TableWriter<typename TableOf<Record>::Type>(builder).write(record);
}

}  // namespace

std::vector<uint8_t> write_tables(const ModuleContents& module) {
  FlatBufferBuilder builder;
  builder.Finish(write(builder, module));
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

}  // namespace scopevm::format
