// Computes frame layouts, the signature and the variants of a module; see loaded_module.h.
#include "vm/load/loaded_module.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "runtime/name_text.h"
#include "vm/format/verify/defined_rank.h"
#include "vm/isa/instruction.h"
#include "vm/load/result_allocations.h"

namespace scopevm::vm {
namespace {

void raise(uint32_t& most, size_t needed) { most = std::max(most, static_cast<uint32_t>(needed)); }

// Raises the maxima of the layout to the requirements of one instruction: the rank of written
// registers, the buffers of a launch, the dims of a shape function.
void count_instruction(const format::ModuleContents& contents, const isa::Instruction& in,
                       FrameLayout& layout) {
  for (const isa::Instruction::Field& field : in.fields()) {
    if (is_written(field.access()))
      for (uint32_t i = 0; i < field.words.size(); ++i)
        raise(layout.max_rank, format::defined_rank(contents, in, field, i));
    if (field.form() == isa::FieldForm::shape_fn_form)
      // The number of threads follows the dims.
      raise(layout.max_shape_dims, contents.shape_functions[field.words[0]].dim_count + 1);
    for (const isa::Rule& rule : field.row->rules())
      if (rule.kind == isa::RuleKind::buffers_of) raise(layout.max_buffers, field.words.size());
  }
}

FrameLayout layout_of(const format::ModuleContents& contents, const format::FunctionDecl& function,
                      size_t stack_bytes) {
  FrameLayout layout;
  for (const format::TensorDecl& input : function.inputs) raise(layout.max_rank, input.dims.size());
  for (uint32_t pc = 0; pc < function.code.size(); pc += isa::word_count(function.code[pc]))
    count_instruction(contents, isa::verified_instruction(function.code, pc), layout);
  // Registers come first: FrameStack::push() clears them with one memset.
  layout.dims_offset = function.register_count * sizeof(Register);
  layout.dims_per_register = (layout.max_rank + kDimBlock - 1) / kDimBlock * kDimBlock;
  layout.slots_offset = layout.dims_offset + size_t{function.register_count} *
                                                 layout.dims_per_register * sizeof(int64_t);
  layout.buffers_offset = layout.slots_offset + size_t{function.slot_count} * sizeof(int64_t);
  layout.shape_dims_offset = layout.buffers_offset + layout.max_buffers * sizeof(void*);
  layout.stack_offset =
      align_in_frame(layout.shape_dims_offset + layout.max_shape_dims * sizeof(int64_t));
  // Never 0: FrameStack treats a chunk without used bytes as empty.
  layout.bytes = std::max(kFrameAlignment, layout.stack_offset + stack_bytes);
  return layout;
}

TensorSignature signature_of(const format::TensorDecl& tensor) {
  return {tensor.name,        tensor.dtype, tensor.dims, tensor.kind, tensor.default_constant >= 0,
          tensor.state_output};
}

AxisRule axis_rule(const std::string& dim, const std::vector<DimensionSignature>& dimensions) {
  AxisRule rule;
  const auto [end, error] = std::from_chars(dim.data(), dim.data() + dim.size(), rule.exact);
  if (error == std::errc() && end == dim.data() + dim.size()) return rule;
  rule.exact = -1;
  // A dim is a formula, in which a name can be in quotes.
  const auto known = std::ranges::find_if(dimensions, [&](const DimensionSignature& dimension) {
    return runtime::name_text(dimension.name) == dim;
  });
  if (known != dimensions.end()) rule.dimension = static_cast<int32_t>(known - dimensions.begin());
  return rule;
}

bool admits(int64_t value, const format::DimensionDecl& dimension) {
  return value >= dimension.min && value <= dimension.max &&
         (dimension.multiple_of == 1 || value % dimension.multiple_of == 0);
}

}  // namespace

Result<std::shared_ptr<const LoadedModule>> LoadedModule::create(format::ModuleContents contents,
                                                                 uint64_t digest,
                                                                 std::optional<int> rank) {
  std::shared_ptr<LoadedModule> module(new LoadedModule(std::move(contents), digest, rank));
  SCOPEVM_RETURN_IF_ERROR(module->prepare());
  return std::shared_ptr<const LoadedModule>(std::move(module));
}

Status LoadedModule::check_rank(const scopevm_transport* transport) const {
  if (!rank_ || (transport != nullptr && transport->rank == *rank_)) return {};
  return {
      StatusCode::kInvalidArgument,
      "the module was loaded with the weights of rank " + std::to_string(*rank_) + " only, " +
          (transport == nullptr ? "and the session has no transport"
                                : "but this process is rank " + std::to_string(transport->rank))};
}

Status LoadedModule::prepare() {
  const format::FunctionDecl* entry = contents_.main();
  if (entry == nullptr) return {StatusCode::kInvalidModel, "module has no function \"main\""};
  main_ = static_cast<uint32_t>(entry - contents_.functions.data());
  for (const format::FunctionDecl& function : contents_.functions) {
    FrameStorages stacks = find_stacks(contents_, function);
    const FrameLayout layout = layout_of(contents_, function, stacks.bytes);
    // The pointer stays valid, because contents_ does not change any more.
    functions_.push_back({&function, layout, std::move(stacks), {}});
  }
  SCOPEVM_RETURN_IF_ERROR(prepare_signature());
  for (const format::PoolDecl& pool : contents_.pools) {
    const format::DeviceDecl& device = contents_.devices[pool.device];
    if (!heap_pool_ && pool.kind == format::PoolKind::kHeap && device.is_host())
      heap_pool_ = static_cast<uint32_t>(memory_scopes_.size());
    memory_scopes_.push_back({device.name, pool.scope, static_cast<int>(device.rank)});
  }
  strings_ = ModuleStrings(contents_.strings);
  // Only results of main and its variants can be stored in output buffers of the caller.
  functions_[main_].result_allocations = find_result_allocations(contents_, *main().decl);
  for (const format::VariantDecl& variant : contents_.variants)
    functions_[variant.function].result_allocations =
        find_result_allocations(contents_, contents_.functions[variant.function]);
  return {};
}

const LoadedFunction& LoadedModule::entry(std::span<const int64_t> dimensions) const {
  for (const format::VariantDecl& variant : contents_.variants)
    if (std::ranges::equal(dimensions, variant.dimensions, admits))
      return functions_[variant.function];
  return main();
}

std::vector<uint32_t> LoadedModule::entries() const {
  std::vector<uint32_t> entries = {main_};
  for (const format::VariantDecl& variant : contents_.variants) entries.push_back(variant.function);
  return entries;
}

Status LoadedModule::prepare_signature() {
  const format::FunctionDecl& entry = *main().decl;
  for (const format::DimensionDecl& dimension : entry.dimensions)
    signature_.dimensions.push_back(
        {dimension.name, dimension.min, dimension.max, dimension.multiple_of, dimension.is_batch});
  for (const format::TensorDecl& input : entry.inputs) {
    signature_.inputs.push_back(signature_of(input));
    input_names_.push_back(input.name);
    std::vector<AxisRule> rules;
    for (const std::string& dim : input.dims)
      rules.push_back(axis_rule(dim, signature_.dimensions));
    axis_rules_.push_back(std::move(rules));
    Tensor& value = default_inputs_.emplace_back();
    if (input.default_constant < 0) continue;
    const format::ConstantDecl& constant =
        contents_.constants[static_cast<size_t>(input.default_constant)];
    if (rank_ && constant.bytes.data == nullptr) continue;  // rank 0 has it
    SCOPEVM_ASSIGN_OR_RETURN(value, Tensor::borrow(static_cast<const void*>(constant.bytes.data),
                                                   constant.dtype, constant.dims));
  }
  for (const format::TensorDecl& output : entry.outputs) {
    signature_.outputs.push_back(signature_of(output));
    output_names_.push_back(output.name);
  }
  return {};
}

std::string_view LoadedModule::source_name(const format::FunctionDecl& function,
                                           uint32_t word) const {
  const auto source =
      std::ranges::lower_bound(function.sources, word, {}, &format::SourceDecl::word);
  if (source == function.sources.end() || source->word != word) return "";
  return source->name;
}

}  // namespace scopevm::vm
