// Parses the tables section into ModuleContents. The input is untrusted: a buffer that the
// FlatBuffers verifier accepts can still reference one string a million times. Therefore every
// copied element and byte is charged to a budget, the size of the section.
#include <flatbuffers/flatbuffers.h>

#include <cstring>
#include <limits>

#include "vm/format/module_generated.h"
#include "vm/format/tables.h"

namespace scopevm::format {
namespace {

template <typename T>
using Vector = flatbuffers::Vector<T>;
using flatbuffers::Offset;
using flatbuffers::String;

// Maximum table nesting that the FlatBuffers verifier accepts. The schema has three levels:
// Module, Function, Tensor.
constexpr flatbuffers::uoffset_t kMaxDepth = 8;

class TablesReader {
 public:
  // A file of the writer never exceeds the budget: tables and strings are not shared, so every
  // element takes at least four bytes.
  explicit TablesReader(uint64_t section_size) : budget_(section_size) {}

  ModuleContents read(const fb::Module& in) {
    ModuleContents out;
    out.producer = text(in.producer());
    each(*in.devices(), out.devices, [&](const fb::Device& d) {
      return DeviceDecl{text(d.name()), text(d.kind()), d.workers(), d.number()};
    });
    each(*in.pools(), out.pools, [&](const fb::Pool& p) { return pool(p); });
    each(*in.functions(), out.functions, [&](const fb::Function& f) { return function(f); });
    each(*in.shape_functions(), out.shape_functions,
         [&](const fb::ShapeFunction& f) { return shape_function(f); });
    each(*in.kernels(), out.kernels, [&](const fb::Kernel& k) { return kernel(k); });
    each(*in.launches(), out.launches, [&](const fb::Launch& l) { return launch(l); });
    each(*in.constants(), out.constants, [&](const fb::Constant& c) { return constant(c); });
    each(*in.images(), out.images, [&](const fb::Image& i) { return image(i); });
    out.messages = strings(*in.messages());
    each(*in.variants(), out.variants, [&](const fb::Variant& v) {
      return VariantDecl{v.function(), dimensions(*v.dimensions())};
    });
    out.strings = strings(*in.strings());
    return out;
  }

  // The first error, or empty.
  const std::string& error() const { return error_; }
  std::vector<uint32_t> take_code_words() { return std::move(code_words_); }

 private:
  static constexpr uint64_t kElementBytes = 4;

  bool pay(uint64_t bytes) {
    if (bytes > budget_) {
      // The budget becomes 0, so that everything after the first violation is rejected too and
      // reading ends quickly.
      budget_ = 0;
      fail("tables or strings overlap");
      return false;
    }
    budget_ -= bytes;
    return true;
  }

  void fail(const std::string& what) {
    if (error_.empty()) error_ = what;
  }

  std::string text(const String* s) { return pay(s->size()) ? s->str() : std::string(); }

  template <typename Table, typename Item, typename Make>
  void each(const Vector<Offset<Table>>& in, std::vector<Item>& out, Make make) {
    if (!error_.empty() || !pay(in.size() * kElementBytes)) return;
    out.reserve(in.size());
    for (const Table* table : in) {
      if (!error_.empty()) return;
      out.push_back(make(*table));
    }
  }

  std::vector<std::string> strings(const Vector<Offset<String>>& in) {
    std::vector<std::string> out;
    each(in, out, [&](const String& s) { return text(&s); });
    return out;
  }

  std::vector<uint32_t> numbers(const Vector<uint32_t>& in) {
    if (!error_.empty() || !pay(in.size() * uint64_t{sizeof(uint32_t)})) return {};
    return {in.begin(), in.end()};
  }

  DType dtype(uint8_t value) {
    if (value < kDTypeCount) return static_cast<DType>(value);
    fail("unknown element type " + std::to_string(value));
    return DType::kF32;
  }

  PoolKind pool_kind(uint8_t value) {
    if (value <= static_cast<uint8_t>(PoolKind::kConstant)) return static_cast<PoolKind>(value);
    fail("unknown pool kind " + std::to_string(value));
    return PoolKind::kHeap;
  }

  PoolDecl pool(const fb::Pool& p) {
    PoolDecl pool{text(p.scope()), pool_kind(p.kind()), p.device(), p.limit(),
                  numbers(*p.shared_with())};
    pool.speed = {p.read_bytes_per_second(), p.write_bytes_per_second(), p.latency_seconds(),
                  p.burst_bytes()};
    if (const char* member = pool.speed.invalid_member())
      fail(std::string(member) + " of a pool is out of range");
    pool.alignment = p.alignment();
    pool.pinned_for = p.pinned_for();
    return pool;
  }

  ValueKind value_kind(uint8_t value) {
    if (value < kValueKindCount) return static_cast<ValueKind>(value);
    fail("unknown value kind " + std::to_string(value));
    return ValueKind::kTensor;
  }

  TensorDecl tensor(const fb::Tensor& t) {
    return {text(t.name()), dtype(t.dtype()), strings(*t.dims()), value_kind(t.kind()), t.pool()};
  }

  std::vector<DimensionDecl> dimensions(const Vector<Offset<fb::Dimension>>& in) {
    std::vector<DimensionDecl> out;
    each(in, out, [&](const fb::Dimension& d) {
      return DimensionDecl{text(d.name()), d.min(), d.max(), d.multiple_of()};
    });
    return out;
  }

  FunctionDecl function(const fb::Function& f) {
    FunctionDecl out;
    out.name = text(f.name());
    each(*f.inputs(), out.inputs, [&](const fb::Tensor& t) { return tensor(t); });
    each(*f.outputs(), out.outputs, [&](const fb::Tensor& t) { return tensor(t); });
    out.dimensions = dimensions(*f.dimensions());
    out.register_count = f.register_count();
    out.slot_count = f.slot_count();
    code_words_.push_back(f.code_words());
    each(*f.memory(), out.memory, [&](const fb::Memory& m) {
      return MemoryDecl{m.pool(),           text(m.what()),       m.is_result(),
                        m.bytes_slot(),     m.lower_bound_slot(), text(m.formula()),
                        m.depends_on_data()};
    });
    each(*f.sources(), out.sources,
         [&](const fb::Source& s) { return SourceDecl{s.word(), text(s.name())}; });
    each(*f.definitions(), out.definitions, [&](const fb::Definition& d) {
      return FormulaDefinition{text(d.name()), text(d.formula())};
    });
    return out;
  }

  ShapeFunctionDecl shape_function(const fb::ShapeFunction& f) {
    ShapeFunctionDecl out{text(f.symbol()), f.slot_count(), f.dim_count(), {},
                          f.first_slot(),   f.follows()};
    each(*f.checks(), out.checks, [&](const fb::Check& c) {
      CheckDecl check{text(c.message()), c.lhs_slot(), c.rhs_slot(), {}};
      if (c.more_slots() != nullptr) check.more_slots = numbers(*c.more_slots());
      return check;
    });
    return out;
  }

  std::vector<ExternalTensor> external_tensors(const Vector<uint32_t>& words) {
    std::vector<ExternalTensor> tensors;
    for (const uint32_t word : numbers(words))
      tensors.push_back({dtype(static_cast<uint8_t>(word)), word >> kRankShift});
    return tensors;
  }

  KernelDecl kernel(const fb::Kernel& k) {
    KernelDecl out{text(k.symbol()), k.buffer_count(), k.param_count(), k.device()};
    if (const fb::External* external = k.external(); external != nullptr)
      out.external = {text(external->library()), text(external->description()),
                      external_tensors(*external->operands()),
                      external_tensors(*external->results())};
    return out;
  }

  LaunchDecl launch(const fb::Launch& l) {
    LaunchDecl out{.kernel = l.kernel(),
                   .params = {l.params()},
                   .grid = {l.grid()},
                   .grain = {l.grain()},
                   .bytes = {},
                   .read_only = l.read_only(),
                   .shape_function = l.shape_function()};
    for (const uint32_t word : numbers(*l.bytes())) out.bytes.push_back({word});
    return out;
  }

  ConstantDecl constant(const fb::Constant& c) {
    ConstantDecl out{text(c.name()), dtype(c.dtype()), {}, c.pool(), {}};
    uint64_t bytes = c.dims()->size() * sizeof(int64_t);
    if (bytes != 0 && pay(bytes)) {
      // memcpy, because the FlatBuffers verifier accepts vectors of longs at 4-byte alignment.
      out.dims.resize(c.dims()->size());
      std::memcpy(out.dims.data(), c.dims()->Data(), bytes);
    }
    // read_module() sets the data when it has located the section of constants.
    out.bytes.size = c.bytes();
    return out;
  }

  ImageDecl image(const fb::Image& i) {
    ImageDecl out{numbers(*i.devices()), text(i.target_cpu()), strings(*i.features()), {}};
    out.bytes.size = i.bytes();
    return out;
  }

  uint64_t budget_;
  std::string error_;
  std::vector<uint32_t> code_words_;
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
  TablesReader reader(section.size());
  Tables tables{reader.read(*fb::GetModule(section.data())), reader.take_code_words()};
  if (!reader.error().empty()) return Status(StatusCode::kInvalidModel, reader.error());
  return tables;
}

}  // namespace scopevm::format
