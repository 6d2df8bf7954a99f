// Reads ONNX files and their tensors; see onnx_file.h.
#include "compiler/import/model/onnx_file.h"

#include <fcntl.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <limits>

#include "compiler/import/import.h"
#include "compiler/import/invalid.h"
#include "compiler/import/model/external_data.h"
#include "compiler/import/model/onnx_types.h"
#include "compiler/import/model/small_types.h"

namespace scopevm::compiler::frontend {
namespace {

using onnx::TensorProto;

// Copies the elements of a repeated protobuf field, converted to T.
template <typename T, typename Field>
Result<TensorBytes> copy_field(TensorBytes bytes, const Field& field) {
  if (field.size() * sizeof(T) != bytes.size)
    return invalid("expected " + std::to_string(bytes.size / sizeof(T)) +
                   " elements for its dims, given " + std::to_string(field.size()));
  auto values = std::make_shared<std::vector<char>>(bytes.size);
  char* to = values->data();
  for (auto element : field) {
    T value = static_cast<T>(element);
    std::memcpy(to, &value, sizeof(T));
    to += sizeof(T);
  }
  bytes.data = values->data();
  bytes.owner = values;
  return bytes;
}

// ONNX stores bools, integers of up to 32 bits and the bits of 16-bit floats in int32_data, except
// u32, which is in uint64_data.
Result<TensorBytes> typed_bytes(const TensorProto& tensor, TensorBytes bytes) {
  switch (bytes.dtype) {
    case DType::kBool:
    case DType::kI8:
      return copy_field<int8_t>(std::move(bytes), tensor.int32_data());
    case DType::kU8:
      return copy_field<uint8_t>(std::move(bytes), tensor.int32_data());
    case DType::kI16:
    case DType::kU16:
    case DType::kF16:
    case DType::kBF16:
      return copy_field<uint16_t>(std::move(bytes), tensor.int32_data());
    case DType::kI32:
      return copy_field<int32_t>(std::move(bytes), tensor.int32_data());
    case DType::kI64:
      return copy_field<int64_t>(std::move(bytes), tensor.int64_data());
    case DType::kU32:
      return copy_field<uint32_t>(std::move(bytes), tensor.uint64_data());
    case DType::kU64:
      return copy_field<uint64_t>(std::move(bytes), tensor.uint64_data());
    case DType::kF32:
      return copy_field<float>(std::move(bytes), tensor.float_data());
    case DType::kF64:
      return copy_field<double>(std::move(bytes), tensor.double_data());
    default:  // strings have no bytes, and small types are read as bytes
      break;
  }
  return invalid("its element type is not supported");
}

// The largest number of graphs in one another, the outermost one not counted.
size_t nesting_of(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes) {
  size_t most = 0;
  const auto count = [&](const onnx::GraphProto& graph) {
    most = std::max(most, nesting_of(graph.node()) + 1);
  };
  for (const onnx::NodeProto& node : nodes)
    for (const onnx::AttributeProto& attribute : node.attribute()) {
      if (attribute.has_g()) count(attribute.g());
      std::ranges::for_each(attribute.graphs(), count);
    }
  return most;
}

Status check_nesting(const onnx::ModelProto& model) {
  size_t most = nesting_of(model.graph().node());
  for (const onnx::FunctionProto& function : model.functions())
    most = std::max(most, nesting_of(function.node()));
  if (most <= kMaxNesting) return {};
  return invalid("graphs are nested more than " + std::to_string(kMaxNesting) + " deep");
}

bool parse(google::protobuf::io::ZeroCopyInputStream& raw, onnx::ModelProto& model) {
  google::protobuf::io::CodedInputStream stream(&raw);
  stream.SetTotalBytesLimit(std::numeric_limits<int>::max());
  // A nested graph is three messages deep: in an attribute of a node of a graph.
  constexpr int kMostMessages = 3 * (kMaxNesting + 1) + 16;
  stream.SetRecursionLimit(kMostMessages);
  return model.ParseFromCodedStream(&stream) && stream.ConsumedEntireMessage();
}

}  // namespace

Result<std::shared_ptr<OnnxFile>> read_onnx_file(
    const std::string& path, const std::optional<std::span<const uint8_t>>& bytes) {
  if (bytes && bytes->size() > std::numeric_limits<int>::max())
    return invalid(path + ": not an ONNX model: it has more than 2 GiB");
  const int descriptor = bytes ? -1 : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (!bytes && descriptor < 0)
    return Status(StatusCode::kNotFound, path + ": cannot open: " + strerror(errno));
  auto file = std::make_shared<OnnxFile>();
  file->folder = std::filesystem::path(path).parent_path().string();
  bool parsed = false;
  // Protobuf throws if it detects a fatal error.
  try {
    std::unique_ptr<google::protobuf::io::ZeroCopyInputStream> raw;
    if (bytes) {
      raw = std::make_unique<google::protobuf::io::ArrayInputStream>(
          bytes->data(), static_cast<int>(bytes->size()));
    } else {
      auto opened = std::make_unique<google::protobuf::io::FileInputStream>(descriptor);
      opened->SetCloseOnDelete(true);
      raw = std::move(opened);
    }
    parsed = parse(*raw, file->model);
  } catch (const std::bad_alloc&) {
    throw;  // not an error of the file
  } catch (const std::exception& error) {
    return invalid(path + ": not an ONNX model: " + error.what());
  }
  if (!parsed || !file->model.has_graph())
    return invalid(
        path + ": not an ONNX model, or the file is truncated, or graphs are nested more than " +
        std::to_string(kMaxNesting) + " deep");
  SCOPEVM_RETURN_IF_ERROR(check_nesting(file->model).with_context(path));
  return file;
}

namespace {

// The elements of a tensor that are not strings. `bytes` has all members but data and owner.
Result<TensorBytes> stored_bytes(const TensorProto& tensor, TensorBytes bytes, OnnxFile& file) {
  if (tensor.has_data_location() && tensor.data_location() == TensorProto::EXTERNAL)
    return external_bytes(tensor, std::move(bytes), file);
  if (!tensor.has_raw_data()) return typed_bytes(tensor, std::move(bytes));
  if (tensor.raw_data().size() != bytes.size)
    return invalid("expected " + std::to_string(bytes.size) + " bytes for its dims, given " +
                   std::to_string(tensor.raw_data().size()));
  bytes.data = tensor.raw_data().data();
  return bytes;
}

// The carriers of `count` elements of a small type.
Result<TensorBytes> unpacked_bytes(const TensorProto& tensor, const SmallType& type, size_t count,
                                   TensorBytes bytes, OnnxFile& file) {
  TensorBytes packed = bytes;
  packed.dtype = DType::kU8;
  packed.size = static_cast<size_t>(byte_size(type.dtype, static_cast<int64_t>(count)));
  SCOPEVM_ASSIGN_OR_RETURN(packed, stored_bytes(tensor, std::move(packed), file));
  auto elements = std::make_shared<std::vector<char>>(
      runtime::widened(type, packed.data, static_cast<int64_t>(count)));
  bytes.data = elements->data();
  bytes.size = elements->size();
  bytes.owner = elements;
  return bytes;
}

}  // namespace

Result<TensorBytes> tensor_bytes(const TensorProto& tensor, const std::shared_ptr<OnnxFile>& file) {
  std::optional<DType> dtype = dtype_of_onnx(tensor.data_type());
  if (!dtype)
    return Status(StatusCode::kUnsupported, "tensor \"" + tensor.name() + "\": element type " +
                                                onnx_type_name(tensor.data_type()) +
                                                " is not supported");
  TensorBytes bytes{*dtype, {tensor.dims().begin(), tensor.dims().end()}, nullptr, 0, file, {}};
  int64_t count = 1;
  for (int64_t dim : bytes.dims)
    // With this limit, the size in bytes fits 64 bits.
    if (dim < 0 || __builtin_mul_overflow(count, dim, &count) || count > (int64_t{1} << 40))
      return invalid("tensor \"" + tensor.name() +
                     "\": its dims must be at least 0, with at most 2^40 elements");
  if (dtype == DType::kStr) {
    if (tensor.string_data_size() != count)
      return invalid("tensor \"" + tensor.name() + "\": expected " + std::to_string(count) +
                     " strings for its dims, given " + std::to_string(tensor.string_data_size()));
    bytes.strings = {tensor.string_data().begin(), tensor.string_data().end()};
    return bytes;
  }
  bytes.size = static_cast<size_t>(count * byte_size(*dtype));
  const SmallType* small = small_type(tensor.data_type());
  Result<TensorBytes> read =
      small ? unpacked_bytes(tensor, *small, static_cast<size_t>(count), std::move(bytes), *file)
            : stored_bytes(tensor, std::move(bytes), *file);
  if (read.ok()) return read;
  return std::move(read).status().with_context("tensor \"" + tensor.name() + "\"");
}

}  // namespace scopevm::compiler::frontend
