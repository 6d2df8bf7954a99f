#include "plugins/triton/config.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "plugins/triton/status.h"

namespace scopevm::triton {
namespace {

using nlohmann::json;

Status invalid(std::string message) {
  return {StatusCode::kInvalidArgument, "model configuration: " + std::move(message)};
}

std::string quoted_name(std::string_view kind, std::string_view name) {
  return std::string(kind) + " \"" + std::string(name) + "\"";
}

std::optional<int64_t> parse_number(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Triton writes integers as numbers, protobuf as strings.
std::optional<int64_t> integer_of(const json& value) {
  if (value.is_number_integer()) return value.get<int64_t>();
  if (value.is_string()) return parse_number(value.get_ref<const std::string&>());
  return std::nullopt;
}

// A field of an object that is a list; an empty list if there is none.
Result<json> list_of(const json& object, const char* field) {
  const auto found = object.find(field);
  if (found == object.end() || found->is_null()) return json::array();
  if (!found->is_array()) return invalid("\"" + std::string(field) + "\" is not a list");
  for (const json& element : *found)
    if (std::string_view(field) != "dims" && std::string_view(field) != "shape" &&
        !element.is_object())
      return invalid("\"" + std::string(field) + "\" has an element of another type than object");
  return *found;
}

Result<std::string> string_of(const json& object, const char* field, const char* in) {
  const auto found = object.find(field);
  if (found == object.end() || !found->is_string())
    return invalid("an element of \"" + std::string(in) + "\" has no string \"" + field + "\"");
  return found->get<std::string>();
}

Result<std::vector<int64_t>> dims_of(const json& object, const char* field, std::string_view name) {
  SCOPEVM_ASSIGN_OR_RETURN(const json list, list_of(object, field));
  std::vector<int64_t> dims;
  for (const json& element : list) {
    const std::optional<int64_t> dim = integer_of(element);
    if (!dim || *dim < -1)
      return invalid("\"" + std::string(name) + "\" has the dim " + element.dump() +
                     ", expected -1 or a size");
    dims.push_back(*dim);
  }
  return dims;
}

Result<std::vector<TensorConfig>> tensors_of(const json& config, const char* field) {
  SCOPEVM_ASSIGN_OR_RETURN(const json list, list_of(config, field));
  std::vector<TensorConfig> tensors;
  for (const json& element : list) {
    TensorConfig tensor;
    SCOPEVM_ASSIGN_OR_RETURN(tensor.name, string_of(element, "name", field));
    SCOPEVM_ASSIGN_OR_RETURN(tensor.type, string_of(element, "data_type", field));
    const auto reshape = element.find("reshape");
    const bool is_reshaped = reshape != element.end() && reshape->is_object();
    SCOPEVM_ASSIGN_OR_RETURN(tensor.dims, is_reshaped ? dims_of(*reshape, "shape", tensor.name)
                                                      : dims_of(element, "dims", tensor.name));
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

// "64 MiB", "64MiB" or "67108864".
std::optional<int64_t> parse_bytes(std::string_view text) {
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::optional<int64_t> number = parse_number(text.substr(0, digits));
  std::string_view unit = text.substr(digits);
  if (unit.starts_with(' ')) unit.remove_prefix(1);
  int shift = -1;
  constexpr std::string_view kUnits[] = {"", "KiB", "MiB", "GiB"};
  for (int i = 0; i < 4; ++i)
    if (unit == kUnits[i]) shift = 10 * i;
  if (!number || shift < 0 || *number > (INT64_MAX >> shift)) return std::nullopt;
  return *number << shift;
}

Status read_parameter(const std::string& key, const json& value, Config& config) {
  constexpr std::string_view kLimit = "memory_limit.";
  const bool is_limit = key.starts_with(kLimit);
  if (key != "threads" && !is_limit) {
    if (!key.starts_with("TRITON_"))
      log(TRITONSERVER_LOG_WARN, ("scopevm: the parameter \"" + key + "\" is unknown").c_str());
    return {};
  }
  if (!value.is_object() || !value.contains("string_value") || !value["string_value"].is_string())
    return invalid("the parameter \"" + key + "\" has no string_value");
  const std::string& text = value["string_value"].get_ref<const std::string&>();
  if (is_limit) {
    const std::optional<int64_t> bytes = parse_bytes(text);
    if (!bytes)
      return invalid("the parameter \"" + key + "\" is \"" + text +
                     "\", expected bytes such as \"64 MiB\"");
    config.memory_limits.push_back({key.substr(kLimit.size()), *bytes});
    return {};
  }
  const std::optional<int64_t> threads = parse_number(text);
  if (!threads || *threads < 0 || *threads > 4096)
    return invalid("the parameter \"threads\" is \"" + text + "\", expected 0 to 4096");
  config.threads = static_cast<int>(*threads);
  return {};
}

Status read_sequences(const json& batching, Config& config) {
  SCOPEVM_ASSIGN_OR_RETURN(const json states, list_of(batching, "state"));
  for (const json& element : states) {
    StateConfig state;
    SCOPEVM_ASSIGN_OR_RETURN(state.input, string_of(element, "input_name", "state"));
    SCOPEVM_ASSIGN_OR_RETURN(state.output, string_of(element, "output_name", "state"));
    config.states.push_back(std::move(state));
  }
  SCOPEVM_ASSIGN_OR_RETURN(const json controls, list_of(batching, "control_input"));
  for (const json& element : controls) {
    SCOPEVM_ASSIGN_OR_RETURN(std::string name, string_of(element, "name", "control_input"));
    config.control_inputs.push_back(std::move(name));
  }
  return {};
}

// The named dimension of the signature; null for numbers and expressions.
const DimensionSignature* dimension_named(const Signature& signature, std::string_view name) {
  for (const DimensionSignature& dimension : signature.dimensions)
    if (dimension.name == name) return &dimension;
  return nullptr;
}

std::string text_of(std::span<const int64_t> dims) {
  std::string text = "[";
  for (const int64_t dim : dims) text += (text.size() > 1 ? ", " : "") + std::to_string(dim);
  return text + "]";
}

std::string text_of(std::span<const std::string> dims) {
  std::string text = "[";
  for (const std::string& dim : dims) text += (text.size() > 1 ? ", " : "") + dim;
  return text + "]";
}

// The dims of the signature that the configuration declares: without the batch.
std::span<const std::string> declared_dims(const TensorSignature& tensor, int64_t max_batch_size) {
  return std::span(tensor.dims).subspan(max_batch_size > 0 ? 1 : 0);
}

bool dim_agrees(int64_t given, const std::string& dim, bool is_input, const Signature& signature) {
  if (const std::optional<int64_t> size = parse_number(dim))
    return given == *size || (given == -1 && !is_input);
  const DimensionSignature* dimension = dimension_named(signature, dim);
  if (given == -1 || dimension == nullptr) return true;
  return given >= dimension->min && given <= dimension->max && given % dimension->multiple_of == 0;
}

Status check_tensor(const TensorConfig& given, const TensorSignature& tensor, bool is_input,
                    int64_t max_batch_size, const Signature& signature) {
  const std::string name = quoted_name(is_input ? "input" : "output", given.name);
  const std::string_view type = config_name(*type_of(tensor.dtype));
  if (given.type != type)
    return invalid(name + " has data_type " + given.type + ", expected " + std::string(type));
  const std::span<const std::string> dims = declared_dims(tensor, max_batch_size);
  bool agrees = dims.size() == given.dims.size();
  for (size_t i = 0; agrees && i < dims.size(); ++i)
    agrees = dim_agrees(given.dims[i], dims[i], is_input, signature);
  if (agrees) return {};
  return invalid(name + " has dims " + text_of(given.dims) + ", the module has " + text_of(dims) +
                 (max_batch_size > 0 ? " after the batch" : ""));
}

// That Triton can represent the tensor, and that its first dim is `batch` if that is not empty.
Status check_signature(const TensorSignature& tensor, const char* kind, std::string_view batch) {
  const std::string name = quoted_name(kind, tensor.name);
  if (tensor.kind != ValueKind::kTensor)
    return {StatusCode::kUnsupported, name + " of the module has the kind " +
                                          std::string(scopevm::name(tensor.kind)) +
                                          ", which Triton cannot represent"};
  if (!type_of(tensor.dtype))
    return {StatusCode::kUnsupported, name + " of the module has the element type " +
                                          std::string(scopevm::name(tensor.dtype)) +
                                          ", which Triton cannot represent"};
  if (batch.empty() || (!tensor.dims.empty() && tensor.dims[0] == batch)) return {};
  return invalid("max_batch_size is above 0, but the first dim of " + name + " is " +
                 (tensor.dims.empty() ? "missing" : tensor.dims[0]) + ", expected the batch \"" +
                 std::string(batch) + "\"");
}

Status check_batch(const Config& config, const Signature& signature, std::string_view& batch) {
  if (config.max_batch_size == 0) return {};
  if (signature.inputs.empty() || signature.inputs[0].dims.empty())
    return invalid("max_batch_size is above 0, but the module has no first input with a batch");
  const std::string& first = signature.inputs[0].dims[0];
  const DimensionSignature* dimension = dimension_named(signature, first);
  if (dimension == nullptr)
    return invalid("max_batch_size is above 0, but the first dim of " +
                   quoted_name("input", signature.inputs[0].name) + " is " + first +
                   ", expected a named dimension");
  if (config.max_batch_size > dimension->max)
    return invalid("max_batch_size is " + std::to_string(config.max_batch_size) +
                   ", the dimension \"" + first + "\" of the module is at most " +
                   std::to_string(dimension->max));
  batch = first;
  return {};
}

template <typename Tensors>
auto find_tensor(Tensors& tensors, std::string_view name) {
  return std::find_if(tensors.begin(), tensors.end(),
                      [&](const auto& tensor) { return tensor.name == name; });
}

bool is_provided(const Config& config, const std::string& input) {
  const auto has_input = [&](const StateConfig& state) { return state.input == input; };
  return find_tensor(config.inputs, input) != config.inputs.end() ||
         std::find_if(config.states.begin(), config.states.end(), has_input) !=
             config.states.end() ||
         std::find(config.control_inputs.begin(), config.control_inputs.end(), input) !=
             config.control_inputs.end();
}

Status check_names(const Config& config, const Signature& signature) {
  const auto check = [&](const std::string& name, const std::vector<TensorSignature>& tensors,
                         const char* kind) -> Status {
    if (find_tensor(tensors, name) != tensors.end()) return {};
    std::string names;
    for (const TensorSignature& tensor : tensors)
      names += (names.empty() ? "\"" : ", \"") + tensor.name + "\"";
    return invalid(quoted_name(kind, name) + " does not exist, the module has " + names);
  };
  for (const TensorConfig& input : config.inputs)
    SCOPEVM_RETURN_IF_ERROR(check(input.name, signature.inputs, "input"));
  for (const std::string& input : config.control_inputs)
    SCOPEVM_RETURN_IF_ERROR(check(input, signature.inputs, "input"));
  for (const TensorConfig& output : config.outputs)
    SCOPEVM_RETURN_IF_ERROR(check(output.name, signature.outputs, "output"));
  for (const StateConfig& state : config.states) {
    SCOPEVM_RETURN_IF_ERROR(check(state.input, signature.inputs, "input"));
    SCOPEVM_RETURN_IF_ERROR(check(state.output, signature.outputs, "output"));
  }
  for (const TensorSignature& input : signature.inputs)
    if (!input.has_default && !is_provided(config, input.name))
      return invalid(quoted_name("input", input.name) + " of the module is not declared");
  return {};
}

json described(const TensorSignature& tensor, int64_t max_batch_size, bool is_input) {
  json dims = json::array();
  for (const std::string& dim : declared_dims(tensor, max_batch_size))
    dims.push_back(parse_number(dim).value_or(-1));
  json result = {{"name", tensor.name}, {"data_type", config_name(*type_of(tensor.dtype))}};
  if (dims.empty()) {  // Triton requires at least one dim
    result["dims"] = {1};
    result["reshape"] = {{"shape", dims}};
  } else {
    result["dims"] = dims;
  }
  if (is_input && tensor.has_default) result["optional"] = true;
  return result;
}

}  // namespace

Result<Config> read_config(std::string_view text) {
  Config config;
  config.json = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!config.json.is_object()) return invalid("expected a JSON object");
  if (const auto found = config.json.find("max_batch_size"); found != config.json.end()) {
    const std::optional<int64_t> size = integer_of(*found);
    if (!size || *size < 0) return invalid("max_batch_size is " + found->dump());
    config.max_batch_size = *size;
  }
  SCOPEVM_ASSIGN_OR_RETURN(config.inputs, tensors_of(config.json, "input"));
  SCOPEVM_ASSIGN_OR_RETURN(config.outputs, tensors_of(config.json, "output"));
  if (const auto found = config.json.find("sequence_batching");
      found != config.json.end() && found->is_object())
    SCOPEVM_RETURN_IF_ERROR(read_sequences(*found, config));
  if (const auto found = config.json.find("parameters");
      found != config.json.end() && found->is_object())
    for (const auto& [key, value] : found->items())
      SCOPEVM_RETURN_IF_ERROR(read_parameter(key, value, config));
  return config;
}

bool complete_config(Config& config, const Signature& signature) {
  const bool needs_inputs = config.inputs.empty() && !signature.inputs.empty();
  const bool needs_outputs = config.outputs.empty() && !signature.outputs.empty();
  const auto is_state = [&](const std::string& name) {
    return std::any_of(config.states.begin(), config.states.end(), [&](const StateConfig& state) {
      return state.input == name || state.output == name;
    });
  };
  json inputs = json::array();
  json outputs = json::array();
  for (const TensorSignature& input : signature.inputs)
    if (!is_provided(config, input.name))
      inputs.push_back(described(input, config.max_batch_size, true));
  for (const TensorSignature& output : signature.outputs)
    if (!is_state(output.name)) outputs.push_back(described(output, config.max_batch_size, false));
  if (needs_inputs) config.json["input"] = inputs;
  if (needs_outputs) config.json["output"] = outputs;
  return needs_inputs || needs_outputs;
}

Status check_module(const Config& config, const Signature& signature) {
  std::string_view batch;
  SCOPEVM_RETURN_IF_ERROR(check_batch(config, signature, batch));
  for (const TensorSignature& input : signature.inputs)
    SCOPEVM_RETURN_IF_ERROR(check_signature(input, "input", batch));
  for (const TensorSignature& output : signature.outputs)
    SCOPEVM_RETURN_IF_ERROR(check_signature(output, "output", batch));
  return {};
}

Status check_config(const Config& config, const Signature& signature) {
  SCOPEVM_RETURN_IF_ERROR(check_names(config, signature));
  for (const TensorConfig& input : config.inputs)
    SCOPEVM_RETURN_IF_ERROR(check_tensor(input, *find_tensor(signature.inputs, input.name), true,
                                         config.max_batch_size, signature));
  for (const TensorConfig& output : config.outputs)
    SCOPEVM_RETURN_IF_ERROR(check_tensor(output, *find_tensor(signature.outputs, output.name),
                                         false, config.max_batch_size, signature));
  return {};
}

}  // namespace scopevm::triton
