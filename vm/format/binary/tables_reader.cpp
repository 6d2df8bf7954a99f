// Parses the tables section into ModuleContents. The input is untrusted: a buffer that the
// FlatBuffers verifier accepts can still reference one string a million times. Therefore every
// copied element and byte is charged to a budget, the size of the section.
#include <algorithm>
#include <cstring>
#include <limits>

#include "vm/format/binary/layout.h"
#include "vm/format/binary/schema_fields.h"
#include "vm/format/binary/tables.h"

namespace scopevm::format {
namespace {

using flatbuffers::Offset;
using flatbuffers::String;

// Maximum table nesting that the FlatBuffers verifier accepts. The schema has three levels:
// Module, Function, Tensor.
constexpr flatbuffers::uoffset_t kMaxDepth = 8;

// What the readers of all tables share.
struct ReadState {
  // A file of the writer never exceeds the budget: tables and strings are not shared, so every
  // element takes at least four bytes.
  uint64_t budget;
  std::string error = {};  // the first error, or empty
  std::vector<uint32_t> code_words = {};

  bool pay(uint64_t bytes) {
    if (bytes > budget) {
      // The budget becomes 0, so that everything after the first violation is rejected too and
      // reading ends quickly.
      budget = 0;
      fail("tables or strings overlap");
      return false;
    }
    budget -= bytes;
    return true;
  }

  void fail(const std::string& what) {
    if (error.empty()) error = what;
  }
};

// Reads one record.
template <typename Table>
class TableReader {
 public:
  TableReader(const Table& table, ReadState& state)
      : table_(reinterpret_cast<const flatbuffers::Table&>(table)), state_(state) {}

  // The visitor interface. `const char*` converts to a field of the member's type.
  template <typename T>
  using FieldOf = std::type_identity_t<Field<Table, T>>;

  template <typename T>
  void bare(FieldOf<T> field, T& value) {
    using Type = typename FieldOf<T>::Type;
    if constexpr (std::is_pointer_v<Type>) {
      if (const auto stored = table_.GetPointer<Type>(field.vtable_offset())) read(*stored, value);
    } else if (!field.can_be_absent() || table_.CheckField(field.vtable_offset())) {
      // A byte other than 0 and 1 is not a valid bool.
      using Number = std::conditional_t<std::same_as<Type, bool>, uint8_t, Type>;
      read(static_cast<Type>(table_.GetField<Number>(field.vtable_offset(), 0)), value);
    }
  }
  template <typename T>
  void named(FieldOf<T> field, T& value, std::string_view = "") {
    bare<T>(field, value);
  }
  template <typename T>
  void optional(FieldOf<T> field, T& value, const std::type_identity_t<T>& = {},
                std::string_view = "") {
    bare<T>(field, value);
  }
  template <typename T>
  void limited(FieldOf<T> field, T& value, Range<T>, const std::type_identity_t<T>& = {}) {
    bare<T>(field, value);
  }
  void slot(Field<Table, uint32_t> field, uint32_t& slot, std::string_view = "") {
    bare<uint32_t>(field, slot);
  }
  void optional_slots(Field<Table, std::vector<uint32_t>> field, std::vector<uint32_t>& slots) {
    bare<std::vector<uint32_t>>(field, slots);
  }
  template <typename Record>
  void part(FieldOf<Record> field, std::optional<Record>& record) {
    using Type = typename FieldOf<Record>::Type;
    if (const auto stored = table_.GetPointer<Type>(field.vtable_offset()))
      read(*stored, record.emplace());
  }
  void size(Field<Table, uint32_t> field, std::vector<uint32_t>&) {
    bare<uint32_t>(field, state_.code_words.emplace_back());
  }
  // read_module() sets the data when it has located the section.
  void size(Field<Table, uint64_t> field, Bytes& bytes) { bare<uint64_t>(field, bytes.size); }
  template <typename Record>
  void list(FieldOf<std::vector<Record>> field, std::vector<Record>& records, std::string_view) {
    bare<std::vector<Record>>(field, records);
  }

 private:
  template <typename Number>
    requires std::is_arithmetic_v<Number>
  void read(Number stored, Number& value) {
    value = stored;
  }
  template <typename Enum>
    requires std::is_enum_v<Enum>
  void read(uint8_t stored, Enum& value) {
    const auto [count, what] = enumerators(value);
    if (stored < count)
      value = static_cast<Enum>(stored);
    else
      state_.fail("unknown " + std::string(what) + " " + std::to_string(stored));
  }
  void read(uint32_t stored, isa::Int& value) { value = isa::Int::from_word(stored); }
  void read(uint32_t stored, ExternalTensor& tensor) {
    read(static_cast<uint8_t>(stored), tensor.dtype);
    tensor.rank = stored >> kRankShift;
  }
  void read(const String& stored, std::string& text) {
    if (state_.pay(stored.size())) text = stored.str();
  }
  template <typename Stored, typename T>
  void read(const flatbuffers::Vector<Stored>& stored, std::vector<T>& values) {
    if (!state_.error.empty() || !state_.pay(stored.size() * uint64_t{sizeof(Stored)})) return;
    values.resize(stored.size());
    for (flatbuffers::uoffset_t i = 0; i < stored.size() && state_.error.empty(); ++i) {
      if constexpr (std::is_arithmetic_v<Stored>) {
        // memcpy, because the FlatBuffers verifier accepts vectors of longs at 4-byte alignment.
        Stored element;
        std::memcpy(&element, stored.Data() + i * sizeof element, sizeof element);
        read(element, values[i]);
      } else {
        read(*stored.Get(i), values[i]);
      }
    }
  }
  template <typename Record>
    requires requires { typename TableOf<Record>::Type; }
  void read(const typename TableOf<Record>::Type& stored, Record& record) {
    TableReader<typename TableOf<Record>::Type> reader(stored, state_);
    visit(reader, record);
  }

  static std::pair<size_t, std::string_view> enumerators(DType) {
    return {kDTypeCount, "element type"};
  }
  template <Enumeration Enum>
  static std::pair<size_t, std::string_view> enumerators(Enum) {
    return {std::size(Enumerators<Enum>::kNames), Enumerators<Enum>::kWhat};
  }

  const flatbuffers::Table& table_;
  ReadState& state_;
};

}  // namespace

Result<Tables> read_tables(std::span<const uint8_t> section) {
  constexpr size_t kMinTableBytes = 8;  // minimum size of a table; bounds the verifier's work
  flatbuffers::Verifier verifier(
      section.data(), section.size(), kMaxDepth,
      static_cast<flatbuffers::uoffset_t>(section.size() / kMinTableBytes + 1));
  // FlatBuffers limits a buffer to 2 GiB.
  if (section.size() > std::numeric_limits<int32_t>::max() || !fb::VerifyModuleBuffer(verifier))
    return Status(StatusCode::kInvalidModel, "malformed FlatBuffers data");
  const fb::Module& stored = *fb::GetModule(section.data());
  // Before the other members, because a file with an unknown feature can contain members with
  // unknown values.
  if (stored.required_features() != nullptr)
    for (const String* feature : *stored.required_features())
      if (std::ranges::find(kKnownFeatures, feature->string_view()) == kKnownFeatures.end())
        return Status(StatusCode::kInvalidModel,
                      "the module requires feature \"" + feature->str() +
                          "\", which this release does not implement; use a later release");
  ReadState state{section.size()};
  Tables tables;
  TableReader<fb::Module> reader(stored, state);
  visit(reader, tables.module);
  for (const PoolDecl& pool : tables.module.pools)
    if (const char* member = pool.speed.invalid_member())
      state.fail(std::string(member) + " of a pool is out of range");
  if (!state.error.empty()) return Status(StatusCode::kInvalidModel, state.error);
  tables.code_words = std::move(state.code_words);
  return tables;
}

}  // namespace scopevm::format
