#include "vm/load/result_sites.h"

#include <algorithm>
#include <optional>

#include "vm/isa/opcodes.h"

namespace scopevm::vm {
namespace {

namespace op = isa::op;
using isa::RegisterIndex;

// Where each register is written, and how often its bytes get another name.
class Definitions {
 public:
  explicit Definitions(const format::FunctionDecl& function)
      : code_(function.code),
        word_(function.register_count, kNowhere),
        writes_(function.register_count, 0),
        names_(function.register_count, 0) {
    for (uint32_t i = 0; i < function.inputs.size(); ++i) ++writes_[i];
    for (pc_ = 0; pc_ < code_.size(); pc_ += isa::word_count(code_[pc_])) {
      switch (isa::opcode(code_[pc_])) {
#define OPCODE(name, code, effect, ...)           \
  case isa::Opcode::name:                         \
    add(isa::decode<isa::op::name>(&code_[pc_])); \
    break;
#include "vm/isa/opcodes.def"
#undef OPCODE
      }
    }
  }

  const std::vector<uint32_t>& returns() const { return returns_; }

  // The instruction that writes `reg`, when there is exactly one.
  const uint32_t* only_write(RegisterIndex reg) const {
    if (writes_[reg.value] != 1 || word_[reg.value] == kNowhere) return nullptr;
    return &code_[word_[reg.value]];
  }
  uint32_t names(RegisterIndex reg) const { return names_[reg.value]; }

 private:
  static constexpr uint32_t kNowhere = UINT32_MAX;

  void write(RegisterIndex reg) {
    ++writes_[reg.value];
    word_[reg.value] = pc_;
  }
  void rename(RegisterIndex dst, RegisterIndex from) {
    write(dst);
    ++names_[from.value];
  }

  void add(const op::alloc_storage& in) { write(in.dst); }
  void add(const op::load_const& in) { write(in.dst); }
  void add(const op::alloc_tensor& in) { rename(in.dst, in.storage); }
  void add(const op::alloc_view& in) { rename(in.dst, in.of); }
  void add(const op::move& in) { rename(in.dst, in.from); }
  void add(const op::call& in) {
    for (uint32_t i = 0; i < in.arguments.size(); ++i) ++names_[in.arguments[i].value];
    for (uint32_t i = 0; i < in.results.size(); ++i) write(in.results[i]);
  }
  void add(const op::make_closure& in) {
    for (uint32_t i = 0; i < in.captured.size(); ++i) ++names_[in.captured[i].value];
    write(in.dst);
  }
  void add(const op::call_closure& in) {
    for (uint32_t i = 0; i < in.arguments.size(); ++i) ++names_[in.arguments[i].value];
    for (uint32_t i = 0; i < in.results.size(); ++i) write(in.results[i]);
  }
  void add(const op::ret&) { returns_.push_back(pc_); }
  void add(const op::jump&) {}
  void add(const op::branch&) {}
  void add(const op::branch_less&) {}
  void add(const op::fail&) {}
  void add(const op::kill&) {}
  void add(const op::device_copy&) {}
  void add(const op::launch&) {}
  void add(const op::parse_text&) {}
  void add(const op::format_text&) {}
  void add(const op::change_case&) {}
  void add(const op::shape_function&) {}
  void add(const op::load_dim&) {}
  void add(const op::load_element&) {}
  void add(const op::set_slot&) {}
  void add(const op::add_slot&) {}
  void add(const op::grow_storage& in) { write(in.storage); }
  void add(const op::make_list& in) {
    for (uint32_t i = 0; i < in.elements.size(); ++i) ++names_[in.elements[i].value];
    write(in.dst);
  }
  void add(const op::list_get& in) { write(in.dst); }
  void add(const op::list_insert& in) { rename(in.list, in.element); }
  void add(const op::list_append& in) { rename(in.list, in.element); }
  void add(const op::list_erase& in) { write(in.list); }
  void add(const op::list_size&) {}

  const std::vector<uint32_t>& code_;
  uint32_t pc_ = 0;
  std::vector<uint32_t> word_;
  std::vector<uint32_t> writes_;
  std::vector<uint32_t> names_;
  std::vector<uint32_t> returns_;
};

bool is(const uint32_t* w, isa::Opcode opcode) { return w != nullptr && isa::opcode(*w) == opcode; }

// From a returned register back to the alloc_storage behind it.
std::optional<ResultSite> trace_back(const std::vector<uint32_t>& code,
                                     const Definitions& definitions, RegisterIndex reg) {
  const uint32_t* w = definitions.only_write(reg);
  ResultSite site;
  if (w != nullptr) site.tensor_word = static_cast<uint32_t>(w - code.data());
  while (is(w, isa::Opcode::alloc_view))
    w = definitions.only_write(isa::decode<op::alloc_view>(w).of);
  if (!is(w, isa::Opcode::alloc_tensor)) return std::nullopt;
  const auto tensor = isa::decode<op::alloc_tensor>(w);
  w = definitions.only_write(tensor.storage);
  if (!is(w, isa::Opcode::alloc_storage)) return std::nullopt;
  const auto storage = isa::decode<op::alloc_storage>(w);
  const bool takes_it_whole =
      tensor.offset == isa::Int::immediate(0) && tensor.bytes == storage.size;
  if (!takes_it_whole || definitions.names(storage.dst) != 1) return std::nullopt;
  site.alloc_word = static_cast<uint32_t>(w - code.data());
  return site;
}

}  // namespace

isa::IntList result_dims(const uint32_t* words) {
  return is(words, isa::Opcode::alloc_view) ? isa::decode<op::alloc_view>(words).dims
                                            : isa::decode<op::alloc_tensor>(words).dims;
}

std::vector<ResultSite> find_result_sites(const format::FunctionDecl& function) {
  std::vector<ResultSite> sites;
  const Definitions definitions(function);
  if (definitions.returns().size() != 1) return sites;
  const auto returned = isa::decode<op::ret>(&function.code[definitions.returns().front()]);
  for (uint32_t i = 0; i < returned.values.size(); ++i) {
    std::optional<ResultSite> site = trace_back(function.code, definitions, returned.values[i]);
    if (!site) continue;
    site->output = i;
    // A storage that is two results can be only one caller's buffer.
    if (std::ranges::find(sites, site->alloc_word, &ResultSite::alloc_word) == sites.end())
      sites.push_back(*site);
  }
  return sites;
}

}  // namespace scopevm::vm
