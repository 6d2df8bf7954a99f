// Compares modules by a fingerprint; see sample_modules.h.
#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/vm/format/sample_modules.h"

namespace scopevm::format {
namespace {

using isa::Int;

// Concatenates fields, each after its length. Different field values give different strings.
struct Fingerprint {
  std::string text;

  Fingerprint& add(std::string_view part) {
    text += std::to_string(part.size()) + ":";
    text += part;
    return *this;
  }
  Fingerprint& add(int64_t value) { return add(std::to_string(value)); }
  Fingerprint& add(const std::vector<std::string>& parts) {
    add(static_cast<int64_t>(parts.size()));
    for (const std::string& part : parts) add(part);
    return *this;
  }
  Fingerprint& add(const std::vector<uint32_t>& numbers) {
    add(static_cast<int64_t>(numbers.size()));
    for (uint32_t number : numbers) add(int64_t{number});
    return *this;
  }
  Fingerprint& add(const Bytes& bytes) {
    return add({reinterpret_cast<const char*>(bytes.data), bytes.size});
  }
  Fingerprint& add(const TensorDecl& t) {
    return add(t.name)
        .add(static_cast<int64_t>(t.dtype))
        .add(t.dims)
        .add(static_cast<int64_t>(t.kind))
        .add(int64_t{t.pool})
        .add(int64_t{t.default_constant})
        .add(int64_t{t.state_output})
        .add(int64_t{t.is_in_place});
  }
  Fingerprint& add(const std::vector<ExternalTensor>& tensors) {
    add(static_cast<int64_t>(tensors.size()));
    for (const ExternalTensor& t : tensors) add(static_cast<int64_t>(t.dtype)).add(int64_t{t.rank});
    return *this;
  }
  Fingerprint& add(const std::optional<ExternalDecl>& external) {
    if (!external) return add("image");
    return add("external")
        .add(external->library)
        .add(external->description)
        .add(external->operands)
        .add(external->results);
  }
  Fingerprint& add(const FunctionDecl& f) {
    add(f.name).add(int64_t{f.register_count}).add(int64_t{f.slot_count});
    for (const TensorDecl& t : f.inputs) add("in").add(t);
    for (const TensorDecl& t : f.outputs) add("out").add(t);
    for (const DimensionDecl& d : f.dimensions)
      add("dim").add(d.name).add(d.min).add(d.max).add(d.multiple_of).add(int64_t{d.is_batch});
    add("code").add(f.code);
    for (const MemoryDecl& m : f.memory)
      add("mem")
          .add(int64_t{m.pool})
          .add(m.what)
          .add(int64_t{m.is_result})
          .add(int64_t{m.bytes_slot})
          .add(int64_t{m.lower_bound_slot})
          .add(m.formula)
          .add(int64_t{m.depends_on_data});
    for (const FormulaDefinition& d : f.definitions) add("def").add(d.name).add(d.formula);
    for (const SourceDecl& s : f.sources) add("src").add(int64_t{s.word}).add(s.name);
    return *this;
  }
};

std::string fingerprint(const ModuleContents& module) {
  Fingerprint print;
  print.add(module.producer).add(module.messages).add(module.strings);
  for (const DeviceDecl& d : module.devices)
    print.add("device")
        .add(d.name)
        .add(d.kind)
        .add(d.workers)
        .add(int64_t{d.number})
        .add(int64_t{d.rank});
  for (const PoolDecl& p : module.pools)
    print.add("pool")
        .add(p.scope)
        .add(static_cast<int64_t>(p.kind))
        .add(int64_t{p.device})
        .add(p.limit)
        .add(std::bit_cast<int64_t>(p.speed.read_bytes_per_second))
        .add(std::bit_cast<int64_t>(p.speed.write_bytes_per_second))
        .add(std::bit_cast<int64_t>(p.speed.latency_seconds))
        .add(p.speed.burst_bytes)
        .add(std::bit_cast<int64_t>(p.speed.write_latency_seconds))
        .add(int64_t{p.alignment})
        .add(int64_t{p.pinned_for})
        .add(p.shared_with);
  for (const FunctionDecl& f : module.functions) print.add("function").add(f);
  for (const VariantDecl& v : module.variants) {
    print.add("variant").add(int64_t{v.function});
    for (const DimensionDecl& d : v.dimensions)
      print.add("dim").add(d.name).add(d.min).add(d.max).add(d.multiple_of);
  }
  for (const ShapeFunctionDecl& f : module.shape_functions) {
    print.add("shape")
        .add(f.symbol)
        .add(int64_t{f.slot_count})
        .add(int64_t{f.dim_count})
        .add(int64_t{f.first_slot})
        .add(int64_t{f.follows});
    for (const CheckDecl& c : f.checks) {
      print.add(c.message).add(int64_t{c.lhs_slot}).add(int64_t{c.rhs_slot});
      print.add(c.more_slots);
    }
  }
  for (const KernelDecl& k : module.kernels)
    print.add("kernel")
        .add(k.symbol)
        .add(int64_t{k.buffer_count})
        .add(int64_t{k.param_count})
        .add(int64_t{k.device})
        .add(k.external);
  for (const LaunchDecl& l : module.launches) {
    print.add("launch")
        .add(int64_t{l.kernel})
        .add(int64_t{l.params.value})
        .add(int64_t{l.grid.word()})
        .add(int64_t{l.grain.word()})
        .add(int64_t{l.read_only})
        .add(int64_t{l.shape_function});
    for (const Int bytes : l.bytes) print.add("bytes").add(int64_t{bytes.word()});
  }
  for (const ConstantDecl& c : module.constants) {
    print.add("constant").add(c.name).add(static_cast<int64_t>(c.dtype)).add(int64_t{c.pool});
    for (int64_t dim : c.dims) print.add("d").add(dim);
    print.add(c.bytes);
  }
  for (const ImageDecl& i : module.images)
    print.add("image")
        .add(i.devices)
        .add(i.target_cpu)
        .add(i.features)
        .add(i.bytes)
        .add(int64_t{i.kernel_abi});
  print.add("features").add(module.required_features);
  for (const SectionDecl& s : module.sections)
    print.add("section").add(s.name).add(int64_t{s.is_required}).add(s.bytes);
  return print.text;
}

}  // namespace

bool are_equal(const ModuleContents& a, const ModuleContents& b) {
  return fingerprint(a) == fingerprint(b);
}

}  // namespace scopevm::format
