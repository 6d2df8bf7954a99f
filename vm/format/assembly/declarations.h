// The assembly syntax of each declaration, defined once for both directions: the disassembler
// visits the declarations with a printer, the assembler with a parser. A visitor has
//
//   word(w)          the literal word
//   string(s)        "quoted"
//   number(n)        decimal
//   slot(n)          s12
//   slots(v)         [s12, s13]; omitted if empty
//   integer(n)       an immediate or a slot: 16, s12
//   integers(v)      [16, s12]
//   dtype(d)         f32
//   choice(e, names) one of the names, indexed by the enumerator
//   optional_choice(e, names)   one of the names; omitted for the first enumerator
//   flag(b, w)       the word; omitted if false
//   strings(v), numbers(v)   [a, b]
//   optional_number(w, n), optional_real(w, x), optional_numbers(w, v)   the word and the value;
//   omitted for 0 or an empty vector
//   optional_part(w, part, visit)   the word, then visit(part); omitted if `part` has no value
//   tensor_types(v)   [f32 2, i64 0]: element types and ranks
//   optional_number(w, n, usual)   the word and the value; omitted if n is `usual`
#pragma once

#include <string_view>

#include "vm/format/module_contents.h"

namespace scopevm::format::assembly {

inline constexpr std::string_view kPoolKindNames[] = {"heap", "arena", "stack", "constant"};

inline constexpr std::string_view kValueKindNames[] = {"tensor", "sequence", "optional",
                                                       "optional_sequence", "closure"};

template <typename V, typename Device>
void visit_device(V& v, Device& device) {
  v.string(device.name);
  v.word("kind");
  v.string(device.kind);
  v.optional_number("workers", device.workers);
  v.optional_number("number", device.number);
}

template <typename V, typename Pool>
void visit_pool(V& v, Pool& pool) {
  v.string(pool.scope);
  v.choice(pool.kind, kPoolKindNames);
  v.word("device");
  v.number(pool.device);
  v.word("limit");
  v.number(pool.limit);
  v.optional_numbers("shared_with", pool.shared_with);
  v.optional_real("read_bytes_per_second", pool.speed.read_bytes_per_second);
  v.optional_real("write_bytes_per_second", pool.speed.write_bytes_per_second);
  v.optional_real("latency_seconds", pool.speed.latency_seconds);
  v.optional_number("burst_bytes", pool.speed.burst_bytes, 1);
  v.optional_number("alignment", pool.alignment, kLeastAlignment);
  v.optional_number("pinned_for", pool.pinned_for, -1);
}

template <typename V, typename External>
void visit_external(V& v, External& external) {
  v.string(external.library);
  v.word("operands");
  v.tensor_types(external.operands);
  v.word("results");
  v.tensor_types(external.results);
  v.word("description");
  v.string(external.description);
}

template <typename V, typename Kernel>
void visit_kernel(V& v, Kernel& kernel) {
  v.string(kernel.symbol);
  v.word("buffers");
  v.number(kernel.buffer_count);
  v.word("params");
  v.number(kernel.param_count);
  v.optional_number("device", kernel.device);
  v.optional_part("external", kernel.external, [&](auto& part) { visit_external(v, part); });
}

template <typename V, typename ShapeFunction>
void visit_shape_function(V& v, ShapeFunction& function) {
  v.string(function.symbol);
  v.word("slots");
  v.number(function.slot_count);
  v.word("dims");
  v.number(function.dim_count);
  v.optional_number("first_slot", function.first_slot);
  v.optional_number("follows", function.follows, -1);
}

template <typename V, typename Launch>
void visit_launch(V& v, Launch& launch) {
  v.word("kernel");
  v.number(launch.kernel);
  v.word("params");
  v.slot(launch.params.value);
  v.word("grid");
  v.integer(launch.grid);
  v.word("grain");
  v.integer(launch.grain);
  v.word("bytes");
  v.integers(launch.bytes);
  v.optional_number("reads", launch.read_only);
  v.optional_number("requires", launch.shape_function, -1);
}

template <typename V, typename Check>
void visit_check(V& v, Check& check) {
  v.slot(check.lhs_slot);
  v.slot(check.rhs_slot);
  v.string(check.message);
  v.slots(check.more_slots);
}

template <typename V, typename Function>
void visit_function(V& v, Function& function) {
  v.string(function.name);
  v.word("registers");
  v.number(function.register_count);
  v.word("slots");
  v.number(function.slot_count);
}

template <typename V, typename Dimension>
void visit_dimension(V& v, Dimension& dimension) {
  v.string(dimension.name);
  v.word("min");
  v.number(dimension.min);
  v.word("max");
  v.number(dimension.max);
  v.word("multiple_of");
  v.number(dimension.multiple_of);
}

template <typename V, typename Variant>
void visit_variant(V& v, Variant& variant) {
  v.word("function");
  v.number(variant.function);
}

// The kind is omitted for a tensor: input "xs" sequence f32 ["?", "4"].
template <typename V, typename Tensor>
void visit_tensor(V& v, Tensor& tensor) {
  v.string(tensor.name);
  v.optional_choice(tensor.kind, kValueKindNames);
  v.dtype(tensor.dtype);
  v.strings(tensor.dims);
  v.optional_number("pool", tensor.pool);
}

template <typename V, typename Definition>
void visit_definition(V& v, Definition& definition) {
  v.string(definition.name);
  v.word("formula");
  v.string(definition.formula);
}

template <typename V, typename Memory>
void visit_memory(V& v, Memory& memory) {
  v.string(memory.what);
  v.flag(memory.is_result, "result");
  v.flag(memory.depends_on_data, "data");
  v.word("pool");
  v.number(memory.pool);
  v.word("bytes");
  v.slot(memory.bytes_slot);
  v.word("lower_bound");
  v.slot(memory.lower_bound_slot);
  v.word("formula");
  v.string(memory.formula);
}

template <typename V, typename Source>
void visit_source(V& v, Source& source) {
  v.number(source.word);
  v.string(source.name);
}

template <typename V, typename Constant>
void visit_constant(V& v, Constant& constant) {
  v.string(constant.name);
  v.dtype(constant.dtype);
  v.numbers(constant.dims);
  v.word("pool");
  v.number(constant.pool);
}

template <typename V, typename Image>
void visit_image(V& v, Image& image) {
  v.word("devices");
  v.numbers(image.devices);
  v.word("cpu");
  v.string(image.target_cpu);
  v.word("features");
  v.strings(image.features);
}

}  // namespace scopevm::format::assembly
