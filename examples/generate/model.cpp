#include "model.h"

#include <algorithm>
#include <numeric>
#include <utility>

using namespace scopevm;

namespace {

Status invalid(const std::string& message) { return Status(StatusCode::kInvalidArgument, message); }

// The compiler's name for the size of the buffers whose number of rows is `past`.
std::string capacity_of(const std::string& past) { return past + "_capacity"; }

// The sum over all memory scopes.
int64_t sum(const MemoryBound& bound) {
  int64_t bytes = 0;
  for (const ScopeBound& scope : bound.scopes) bytes += scope.bytes;
  return bytes;
}

}  // namespace

Result<LanguageModel> LanguageModel::create(Module module) {
  LanguageModel model(std::move(module));
  Status status = model.find_roles();
  if (status.ok()) status = model.find_dims();
  if (!status.ok()) return status;
  return model;
}

Status LanguageModel::find_roles() {
  const Signature& signature = module_.signature();
  std::vector<bool> is_cache(signature.outputs.size());
  for (const TensorSignature& input : signature.inputs) {
    if (input.state_output >= 0) {
      is_cache[static_cast<size_t>(input.state_output)] = true;
      roles_.push_back(Role::kState);
    } else if (input.name == "input_ids") {
      roles_.push_back(Role::kTokens);
    } else if (input.name == "attention_mask") {
      roles_.push_back(Role::kMask);
    } else if (input.name == "position_ids") {
      roles_.push_back(Role::kPositions);
    } else {
      return invalid("input \"" + input.name + "\" is not one of this program");
    }
    const bool is_integer = input.dtype == DType::kI64 || input.dtype == DType::kI32;
    if (roles_.back() != Role::kState && (!is_integer || input.dims.size() != 2))
      return invalid("input \"" + input.name + "\": expected i64[1, tokens] or i32[1, tokens]");
  }
  if (std::ranges::find(roles_, Role::kTokens) == roles_.end())
    return invalid("the model has no input \"input_ids\"");
  logits_ = static_cast<size_t>(std::ranges::find(is_cache, false) - is_cache.begin());
  if (std::ranges::find(is_cache, true) == is_cache.end())
    return invalid("the module has no states; compile it with --state INPUT=OUTPUT");
  if (logits_ == is_cache.size() || signature.outputs[logits_].dtype != DType::kF32)
    return invalid("the model has no output of logits of type f32");
  return {};
}

Status LanguageModel::find_dims() {
  const Signature& signature = module_.signature();
  const auto is_name = [&](const std::string& dim) {
    return std::ranges::find(signature.dimensions, dim, &DimensionSignature::name) !=
           signature.dimensions.end();
  };
  for (size_t i = 0; i < roles_.size(); ++i) {
    const std::vector<std::string>& dims = signature.inputs[i].dims;
    if (roles_[i] == Role::kTokens) {
      batch_ = is_name(dims[0]) ? dims[0] : "";
      tokens_ = is_name(dims[1]) ? dims[1] : "";
    } else if (roles_[i] == Role::kMask && is_name(dims[1])) {
      total_ = dims[1];
    } else if (roles_[i] == Role::kState && dims.size() == 2 && dims[1] == "0") {
      pasts_.push_back(dims[0]);
    }
  }
  if (tokens_.empty()) return invalid("the number of tokens of a call is fixed");
  for (const std::string& past : pasts_)
    if (!is_name(capacity_of(past)))
      return invalid("the size of the caches is fixed: compile without --dim " + capacity_of(past));
  for (const DimensionSignature& dimension : signature.dimensions)
    if (!dims(1, 0, 1).contains(dimension.name))
      return invalid("dimension \"" + dimension.name + "\" has no value in this program");
  return {};
}

std::map<std::string, int64_t> LanguageModel::cache_dims(int64_t capacity) const {
  std::map<std::string, int64_t> values;
  if (!batch_.empty()) values[batch_] = 1;
  for (const std::string& past : pasts_) values[capacity_of(past)] = capacity;
  return values;
}

std::map<std::string, int64_t> LanguageModel::dims(int64_t tokens, int64_t past,
                                                   int64_t capacity) const {
  std::map<std::string, int64_t> values = cache_dims(capacity);
  values[tokens_] = tokens;
  for (const std::string& name : pasts_) values[name] = past;
  if (!total_.empty()) values[total_] = past + tokens;
  return values;
}

Result<SequenceBytes> LanguageModel::bytes(int64_t capacity, int64_t step, int threads) const {
  // The bound of a call contains the results that the state stores.
  const Result<MemoryBound> one = module_.memory_bound(dims(1, 0, capacity), threads);
  if (!one.ok()) return one.status();
  SequenceBytes bytes;
  const Signature& signature = module_.signature();
  for (const TensorSignature& input : signature.inputs) {
    if (input.state_output < 0) continue;
    const std::string& cache = signature.outputs[static_cast<size_t>(input.state_output)].name;
    for (const MemoryLine& line : one->lines)
      if (line.is_result && line.what == cache) bytes.caches += line.bytes;
  }
  // The largest step has the most tokens after the most others.
  std::map<std::string, DimRange> ranges;
  std::map<std::string, int64_t> most = dims(step, capacity - 1, capacity);
  if (!total_.empty()) most[total_] = capacity;
  for (const auto& [name, least] : dims(1, 0, capacity)) ranges[name] = {least, most[name]};
  const Result<MemoryBound> largest = module_.largest_bound(ranges, threads);
  if (!largest.ok()) return largest.status();
  for (const MemoryLine& line : largest->lines)
    if (line.depends_on_data)
      return Status(StatusCode::kUnsupported,
                    "the size of the memory for " + line.what + " depends on data");
  bytes.call = sum(*largest) - bytes.caches;
  // So that sums of the sizes of many sequences do not overflow.
  constexpr int64_t kMost = int64_t{1} << 44;
  if (bytes.caches > kMost || bytes.call > kMost)
    return Status(StatusCode::kResourceLimit, "the sequence needs more than 16 TiB");
  return bytes;
}

Status LanguageModel::set_input(Call& call, size_t input, std::span<const int64_t> values) const {
  const DType dtype = module_.signature().inputs[input].dtype;
  const Result<Tensor> tensor = Tensor::allocate(dtype, {1, static_cast<int64_t>(values.size())});
  if (!tensor.ok()) return tensor.status();
  if (dtype == DType::kI64)
    std::ranges::copy(values, tensor->elements<int64_t>().begin());
  else
    std::ranges::transform(values, tensor->elements<int32_t>().begin(),
                           [](int64_t value) { return static_cast<int32_t>(value); });
  return call.set_input(input, *tensor);
}

Status LanguageModel::set_inputs(Call& call, std::span<const int64_t> tokens, int64_t past) const {
  const auto count = static_cast<int64_t>(tokens.size());
  std::vector<int64_t> positions(tokens.size());
  std::iota(positions.begin(), positions.end(), past);
  for (size_t i = 0; i < roles_.size(); ++i) {
    Status status;
    if (roles_[i] == Role::kTokens)
      status = set_input(call, i, tokens);
    else if (roles_[i] == Role::kPositions)
      status = set_input(call, i, positions);
    else if (roles_[i] == Role::kMask)
      status = set_input(call, i, std::vector<int64_t>(static_cast<size_t>(past + count), 1));
    if (!status.ok()) return status;
  }
  return {};
}
