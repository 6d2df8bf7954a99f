// Prints states, code and tensors; see inspector.h.
#include "tools/scopevm/commands/debug/inspector.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "runtime/count_text.h"
#include "runtime/tensor/element_types.h"
#include "runtime/tensor/shape.h"
#include "tools/execution/state_tensor.h"
#include "tools/files/standard_streams.h"
#include "tools/tensors/element_text.h"
#include "tools/tensors/small_tensor.h"
#include "vm/format/schema/formula.h"

namespace scopevm::tool {
namespace {

using format::FormulaOp;
using runtime::count_text;
using runtime::type_text;

// A storage has no type. The verifier keeps storages and tensors apart, but a run does not.
bool is_storage(const RegisterValue& value) {
  return !value.is_list && value.dims.empty() && value.dtype == DType::kU8 && value.bytes != 1;
}

std::optional<uint32_t> parse_index(std::string_view text) {
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// What a name of a formula denotes.
struct FormulaName {
  enum class Kind : uint8_t { kSlot, kDim, kRank };
  Kind kind;
  uint32_t index;     // of the slot or register
  uint32_t axis = 0;  // of a dim
};

// Parses `s3`, `r5.0` or `r5.rank`.
std::optional<FormulaName> parse_formula_name(std::string_view name) {
  if (name.size() < 2) return std::nullopt;
  const size_t dot = name.find('.');
  const auto index = parse_index(name.substr(1, dot == std::string_view::npos ? dot : dot - 1));
  if (!index) return std::nullopt;
  if (name[0] == 's' && dot == std::string_view::npos)
    return FormulaName{FormulaName::Kind::kSlot, *index};
  if (name[0] != 'r' || dot == std::string_view::npos) return std::nullopt;
  if (name.substr(dot + 1) == "rank") return FormulaName{FormulaName::Kind::kRank, *index};
  const auto axis = parse_index(name.substr(dot + 1));
  if (!axis) return std::nullopt;
  return FormulaName{FormulaName::Kind::kDim, *index, *axis};
}

bool exists_in(const format::FunctionDecl& function, const FormulaName& name) {
  return name.index <
         (name.kind == FormulaName::Kind::kSlot ? function.slot_count : function.register_count);
}

// Only checks names: each formula has the value 1.
struct NameAlgebra {
  using Value = int64_t;
  const format::ModuleContents& module;

  std::optional<int64_t> symbol(std::string_view name) const {
    const auto& functions = module.functions;
    const std::optional<FormulaName> parsed = parse_formula_name(name);
    const bool is_known = std::ranges::any_of(functions, [&](const auto& function) {
      return std::ranges::find(function.dimensions, name, &format::DimensionDecl::name) !=
                 function.dimensions.end() ||
             (parsed && exists_in(function, *parsed));
    });
    return is_known ? std::optional<int64_t>(1) : std::nullopt;
  }
  static std::optional<int64_t> apply(FormulaOp, int64_t, int64_t) { return 1; }
};

struct StateAlgebra {
  using Value = int64_t;
  const DimensionValues& dimensions;
  const format::ModuleContents& module;
  const ExecutionState* state;

  std::optional<int64_t> symbol(std::string_view name) const {
    if (const auto found = dimensions.find(name); found != dimensions.end()) return found->second;
    const std::optional<FormulaName> parsed = parse_formula_name(name);
    if (state == nullptr || !parsed) return std::nullopt;
    if (!exists_in(module.functions[state->next().function], *parsed)) return std::nullopt;
    if (parsed->kind == FormulaName::Kind::kSlot) return state->slot(parsed->index);
    const RegisterValue value = state->register_value(parsed->index);
    if (value.data == nullptr || value.is_list || is_storage(value)) return std::nullopt;
    if (parsed->kind == FormulaName::Kind::kRank) return static_cast<int64_t>(value.dims.size());
    if (parsed->axis >= value.dims.size()) return std::nullopt;
    return value.dims[parsed->axis];
  }
  static std::optional<int64_t> apply(FormulaOp op, int64_t a, int64_t b) {
    return format::apply(op, a, b);
  }
};

// Calls visit(index, element) for each element of a tensor of numbers.
template <typename Visit>
void for_each_number(const Tensor& tensor, Visit visit) {
  if (is_small(tensor.dtype())) {
    for (int64_t i = 0; i < tensor.element_count(); ++i) visit(i, small_element(tensor, i));
    return;
  }
  const auto* const bytes = static_cast<const std::byte*>(tensor.data());
  runtime::visit_element_type(tensor.dtype(), [&](auto type) {
    using T = decltype(type);
    for (int64_t i = 0; i < tensor.element_count(); ++i)
      visit(i,
            static_cast<double>(runtime::load_element<T>(bytes + i * byte_size(tensor.dtype()))));
  });
}

void print_statistics(const Tensor& tensor) {
  double least = std::numeric_limits<double>::infinity(), most = -least, sum = 0;
  int64_t finite = 0, nans = 0, infinities = 0;
  for_each_number(tensor, [&](int64_t, double value) {
    nans += std::isnan(value) ? 1 : 0;
    infinities += std::isinf(value) ? 1 : 0;
    if (!std::isfinite(value)) return;
    ++finite;
    sum += value;
    least = std::min(least, value);
    most = std::max(most, value);
  });
  if (finite > 0)
    print("  min {:.6g}, max {:.6g}, mean {:.6g}\n", least, most,
          sum / static_cast<double>(finite));
  if (nans + infinities > 0)
    print("  {}, {}\n", count_text(nans, "NaN"),
          infinities == 1 ? "1 infinity" : std::to_string(infinities) + " infinities");
}

std::string dims_text(const std::vector<std::string>& dims) {
  return fmt::format("[{}]", fmt::join(dims, ", "));
}

}  // namespace

std::optional<int64_t> find_special(const Tensor& tensor, bool infinite) {
  if (!is_float(tensor.dtype())) return std::nullopt;
  std::optional<int64_t> found;
  for_each_number(tensor, [&](int64_t i, double value) {
    if (!found && (infinite ? std::isinf(value) : std::isnan(value))) found = i;
  });
  return found;
}

bool is_formula(const std::string& text, const format::ModuleContents& module) {
  return format::FormulaParser<NameAlgebra>(text, {module}).parse().has_value();
}

std::optional<int64_t> Inspector::evaluate(const std::string& formula,
                                           const ExecutionState* state) const {
  return format::FormulaParser<StateAlgebra>(formula, {dimensions_, code_.module(), state}).parse();
}

const std::vector<format::assembly::CodeLine>& Inspector::lines(uint32_t function) {
  const auto [found, is_new] = lines_.try_emplace(function);
  if (is_new)
    found->second = format::assembly::code_lines(code_.module().functions[function], references_);
  return found->second;
}

void Inspector::print_place(int64_t position, InstructionPlace place) {
  const auto& code = lines(place.function);
  const auto line =
      std::ranges::lower_bound(code, place.word, {}, &format::assembly::CodeLine::word);
  print("{}: {}: {}\n", position, code_.text(place), line->text);
}

void Inspector::print_code(InstructionPlace place, size_t before, size_t after) {
  const auto& code = lines(place.function);
  const auto at = static_cast<size_t>(
      std::ranges::lower_bound(code, place.word, {}, &format::assembly::CodeLine::word) -
      code.begin());
  for (size_t i = at - std::min(at, before); i < std::min(code.size(), at + after + 1); ++i) {
    if (code[i].is_target) print("  L{}:\n", code[i].word);
    print("{} {:>5}  {}\n", i == at ? "=>" : "  ", code[i].word, code[i].text);
  }
}

void Inspector::print_backtrace(const ExecutionState& state) const {
  print("#0 {} {}\n", code_.text(state.next()), code_.name(state.next()));
  for (size_t level = state.depth(); --level > 0;) {
    const InstructionPlace call = code_.before(state.return_place(level));
    const std::string_view op = code_.op(call);
    print("#{} {} {}{}{}\n", state.depth() - level, code_.text(call), code_.name(call),
          op.empty() ? "" : " of ", op);
  }
}

void Inspector::print_dims(const ExecutionState* state) const {
  for (const auto& [name, value] : dimensions_) print("{} = {}\n", name, value);
  const format::FunctionDecl& function =
      state != nullptr ? code_.module().functions[state->next().function] : *code_.module().main();
  const auto print_type = [&](std::string_view what, const format::TensorDecl& decl) {
    print("{} {}: {}{}", what, decl.name, name(decl.dtype), dims_text(decl.dims));
    std::vector<std::string> values;
    for (const std::string& dim : decl.dims) {
      const std::optional<int64_t> value = evaluate(dim, nullptr);
      values.push_back(value ? std::to_string(*value) : "?");
    }
    print(" = {}\n", dims_text(values));
  };
  for (const format::TensorDecl& input : function.inputs) print_type("input", input);
  for (const format::TensorDecl& output : function.outputs) print_type("output", output);
}

// "f32[2, 10], cpu.global.workspace".
std::string Inspector::describe(const RegisterValue& value) const {
  std::string text;
  if (value.is_list)
    text = "list or closure";
  else if (is_storage(value))
    text = "storage of " + count_text(value.bytes, "byte");
  else
    text = type_text(value.dtype, value.dims);
  if (value.pool < 0) return text + ", not in a pool";
  const format::PoolDecl& pool = code_.module().pools[static_cast<size_t>(value.pool)];
  return text + ", " + code_.module().devices[pool.device].name + "." + pool.scope;
}

void Inspector::print_registers(const ExecutionState& state) const {
  const format::FunctionDecl& function = code_.function(state.next());
  for (uint32_t i = 0; i < function.register_count; ++i)
    if (const RegisterValue value = state.register_value(i); value.data != nullptr)
      print("%r{}: {}\n", i, describe(value));
}

Status Inspector::print_register(const ExecutionState& state, uint32_t index,
                                 ElementRange range) const {
  const uint32_t count = code_.function(state.next()).register_count;
  if (index >= count)
    return {StatusCode::kInvalidArgument, "no register %r" + std::to_string(index) +
                                              "; the function has " +
                                              count_text(count, "register")};
  const RegisterValue value = state.register_value(index);
  const std::string label = "%r" + std::to_string(index);
  if (value.data == nullptr) {
    print("{}: empty\n", label);
    return {};
  }
  const std::string text = describe(value);
  if (value.is_list || is_storage(value)) {
    print("{}: {}\n", label, text);
    return {};
  }
  SCOPEVM_ASSIGN_OR_RETURN(const Tensor tensor, copy_tensor(state, value));
  print_tensor(label, text.substr(text.rfind("], ") + 1), tensor, range);
  return {};
}

void Inspector::print_tensor(const std::string& name, const std::string& pool, const Tensor& tensor,
                             ElementRange range) const {
  print("{}: {}{}, {}\n", name, type_text(tensor.dtype(), tensor.dims()), pool,
        count_text(tensor.bytes(), "byte"));
  if (tensor.dtype() != DType::kStr) print_statistics(tensor);
  const int64_t count = tensor.element_count();
  const int64_t begin = std::min(range.begin, count), end = std::min(range.end, count);
  if (begin >= end) return;
  print("  {}:", index_text(tensor.dims(), begin));
  for (int64_t i = begin; i < end; ++i) print(" {}", element_text(tensor, i));
  print("{}\n", end < count ? " ..." : "");
}

}  // namespace scopevm::tool
