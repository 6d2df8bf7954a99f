// Encodes and decodes recordings; see recording.h.
#include "tools/execution/recording.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "runtime/cpu/parallel.h"
#include "runtime/tensor/shape.h"
#include "tools/execution/byte_reader.h"
#include "tools/execution/byte_writer.h"
#include "vm/format/records/records.h"

namespace scopevm::tool {
namespace {

constexpr std::string_view kKind = "recording";
constexpr std::string_view kRun = "run", kInputs = "inputs", kLaunches = "launches",
                           kResults = "results";

// Appends the parts of a recording.
class Encoder {
 public:
  void write(DType dtype, std::span<const int64_t> dims) {
    out_.u8(static_cast<uint8_t>(dtype));
    out_.u8(static_cast<uint8_t>(dims.size()));
    for (const int64_t dim : dims) out_.i64(dim);
  }

  void write(const Tensor& tensor) {
    write(tensor.dtype(), tensor.dims());
    if (tensor.dtype() == DType::kStr)
      for (int64_t i = 0; i < tensor.element_count(); ++i) out_.text(tensor.string_at(i));
    else
      out_.bytes({static_cast<const uint8_t*>(tensor.data()), static_cast<size_t>(tensor.bytes())});
  }

  void write(const TensorDigest& digest) {
    write(digest.dtype, digest.dims);
    out_.u64(digest.digest.low);
    out_.u64(digest.digest.high);
    out_.u64(digest.blocks.size());
    for (const uint64_t block : digest.blocks) out_.u64(block);
  }

  template <typename T>
  void list(const std::vector<T>& values) {
    out_.u64(values.size());
    for (const T& value : values) write(value);
  }

  void write(int64_t number) { out_.i64(number); }
  void write(const std::string& text) { out_.text(text); }

  void write(const DeviceBinding& binding) {
    out_.text(binding.device);
    out_.text(binding.kind);
    out_.i64(binding.number);
  }

  void write(const ScopeLimit& limit) {
    out_.text(limit.scope);
    out_.i64(limit.bytes);
  }

  void write(const NamedValue& value) {
    out_.text(value.name);
    out_.u8(static_cast<uint8_t>(value.kind));
    out_.u8(value.has_value ? 1 : 0);
    list(value.elements);
  }

  void write(const RecordedLaunch& launch) {
    out_.i64(launch.position);
    out_.text(launch.function);
    out_.u32(launch.word);
    out_.text(launch.name);
    out_.text(launch.op);
    list(launch.outputs);
    list(launch.tensors);
  }

  std::span<const uint8_t> written() const { return out_.written(); }

 private:
  ByteWriter out_;
};

// Reads the parts of a recording from untrusted bytes. An invalid value makes ok() of the reader
// false.
class Decoder {
 public:
  explicit Decoder(ByteReader& in) : in_(in) {}

  bool read_type(DType& dtype, std::vector<int64_t>& dims) {
    const uint8_t type = in_.u8(), rank = in_.u8();
    if (type >= kDTypeCount || rank > kMaxRank) in_.fail();
    if (!in_.ok()) return false;
    dtype = static_cast<DType>(type);
    for (uint8_t axis = 0; axis < rank; ++axis) dims.push_back(in_.i64());
    if (!runtime::shape_bytes(dtype, dims).ok()) in_.fail();
    return in_.ok();
  }

  void read(Tensor& tensor) {
    DType dtype{};
    std::vector<int64_t> dims;
    if (!read_type(dtype, dims)) return;
    const auto bytes = static_cast<uint64_t>(*runtime::shape_bytes(dtype, dims));
    Result<Tensor> made = Tensor();
    if (dtype == DType::kStr) {
      std::vector<std::string_view> strings;
      // Each string has a size of 8 bytes, so this ends at the end of the bytes.
      for (uint64_t i = 0; i < bytes / sizeof(int32_t) && in_.ok(); ++i)
        strings.push_back(in_.text());
      if (!in_.ok()) return;
      made = Tensor::from_strings(strings, dims);
    } else {
      const std::span<const uint8_t> elements = in_.bytes(bytes);
      if (!in_.ok()) return;
      made = Tensor::allocate(dtype, dims);
      if (made.ok() && bytes > 0) std::memcpy(made->data(), elements.data(), bytes);
    }
    if (!made.ok()) return in_.fail();
    tensor = *std::move(made);
  }

  void read(TensorDigest& digest) {
    if (!read_type(digest.dtype, digest.dims)) return;
    digest.digest.low = in_.u64();
    digest.digest.high = in_.u64();
    for (uint64_t blocks = in_.count(sizeof(uint64_t)); blocks > 0; --blocks)
      digest.blocks.push_back(in_.u64());
  }

  template <typename T>
  void list(std::vector<T>& values) {
    for (uint64_t count = in_.count(1); count > 0 && in_.ok(); --count) read(values.emplace_back());
  }

  void read(std::string& text) { text = in_.text(); }

  void read(DeviceBinding& binding) {
    read(binding.device);
    read(binding.kind);
    binding.number = static_cast<int>(in_.i64());
  }

  void read(ScopeLimit& limit) {
    read(limit.scope);
    limit.bytes = in_.i64();
  }

  void read(NamedValue& value) {
    read(value.name);
    const uint8_t kind = in_.u8();
    if (kind >= kValueKindCount) in_.fail();
    value.kind = static_cast<ValueKind>(kind);
    value.has_value = in_.u8() != 0;
    list(value.elements);
    const bool is_list =
        value.kind == ValueKind::kSequence || value.kind == ValueKind::kOptionalSequence;
    if (value.has_value && !is_list && value.elements.size() != 1) in_.fail();
  }

  void read(RecordedLaunch& launch) {
    launch.position = in_.i64();
    read(launch.function);
    launch.word = in_.u32();
    read(launch.name);
    read(launch.op);
    list(launch.outputs);
    list(launch.tensors);
    if (!launch.tensors.empty() && launch.tensors.size() != launch.outputs.size()) in_.fail();
  }

 private:
  ByteReader& in_;
};

// Decodes the record `name` with `decode`.
template <typename Decode>
Status decode_record(const format::Records& records, std::string_view name, Decode decode) {
  const format::Record* const record = records.find(name);
  if (record == nullptr)
    return {StatusCode::kInvalidArgument, "the record \"" + std::string(name) + "\" is missing"};
  ByteReader in(record->bytes);
  Decoder decoder(in);
  decode(decoder, in);
  if (in.is_finished()) return {};
  return {StatusCode::kInvalidArgument, "the record \"" + std::string(name) + "\" is invalid"};
}

}  // namespace

std::vector<uint8_t> write_recording(const Recording& recording) {
  Encoder run;
  run.write(recording.module);
  run.write(recording.producer);
  run.write(recording.threads);
  run.write(int64_t{recording.is_emulated});
  run.list(recording.devices);
  run.list(recording.memory_limits);
  run.list(recording.external_libraries);
  run.write(recording.error);
  format::RecordWriter out(kKind, recording.module_digest);
  out.add(kRun, {run.written()});
  const auto add = [&out](std::string_view name, const auto& values) {
    Encoder bytes;
    bytes.list(values);
    out.add(name, {bytes.written()});
  };
  add(kInputs, recording.inputs);
  add(kLaunches, recording.launches);
  add(kResults, recording.results);
  return std::move(out).finish();
}

Result<Recording> read_recording(std::span<const uint8_t> file) {
  SCOPEVM_ASSIGN_OR_RETURN(const format::Records records, format::read_records(file, kKind));
  Recording recording;
  recording.module_digest = records.module;
  SCOPEVM_RETURN_IF_ERROR(decode_record(records, kRun, [&](Decoder& decoder, ByteReader& in) {
    decoder.read(recording.module);
    decoder.read(recording.producer);
    const int64_t threads = in.i64();
    if (threads < 0 || threads > runtime::kMaxThreads) in.fail();
    recording.threads = static_cast<int>(threads);
    recording.is_emulated = in.i64() != 0;
    decoder.list(recording.devices);
    decoder.list(recording.memory_limits);
    decoder.list(recording.external_libraries);
    decoder.read(recording.error);
  }));
  const auto decode = [&records](std::string_view name, auto& values) {
    return decode_record(records, name,
                         [&](Decoder& decoder, ByteReader&) { decoder.list(values); });
  };
  SCOPEVM_RETURN_IF_ERROR(decode(kInputs, recording.inputs));
  SCOPEVM_RETURN_IF_ERROR(decode(kLaunches, recording.launches));
  SCOPEVM_RETURN_IF_ERROR(decode(kResults, recording.results));
  return recording;
}

}  // namespace scopevm::tool
