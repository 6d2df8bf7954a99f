// Reads and writes NumPy's .npy format; see npy.h.
#include "tools/tensors/npy.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/tensor/small_type.h"
#include "tools/files/file.h"
#include "tools/files/standard_streams.h"
#include "tools/tensors/npy_string.h"
#include "tools/tensors/small_tensor.h"

namespace scopevm::tool {
namespace {

struct TypeName {
  DType dtype;
  const char* descr;
};
constexpr TypeName kTypes[] = {
    {DType::kBool, "|b1"},
    {DType::kI8, "|i1"},
    {DType::kI16, "<i2"},
    {DType::kI32, "<i4"},
    {DType::kI64, "<i8"},
    {DType::kU8, "|u1"},
    {DType::kU16, "<u2"},
    {DType::kU32, "<u4"},
    {DType::kU64, "<u8"},
    {DType::kF16, "<f2"},
    {DType::kBF16, "|V2"},
    {DType::kF32, "<f4"},
    {DType::kF64, "<f8"},
    // Elements of a small type: its floats have no type in NumPy.
    {DType::kU8, "|V1"},
};
constexpr char kMagic[] = "\x93NUMPY";
constexpr size_t kMagicSize = 6;
constexpr size_t kMaxHeader = size_t{1} << 20;

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

struct Header {
  DType dtype = DType::kF32;
  NpyString text;  // for string arrays
  std::vector<int64_t> dims;
  bool is_big_endian = false;
  bool is_fortran = false;  // the first axis varies fastest

  // The bytes of a number that are stored in reverse order in a big-endian file.
  size_t number_bytes() const {
    if (dtype == DType::kStr) return text.is_unicode ? sizeof(char32_t) : 1;
    return static_cast<size_t>(byte_size(dtype));
  }
  size_t element_bytes() const {
    return dtype == DType::kStr ? static_cast<size_t>(text.element_bytes()) : number_bytes();
  }
};

Status wrong(const std::string& what) { return {StatusCode::kInvalidArgument, what}; }

// Returns the text after `'key':` in the header's Python dictionary.
std::optional<std::string_view> value_of(std::string_view header, std::string_view key) {
  const size_t at = header.find("'" + std::string(key) + "':");
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = header.substr(at + key.size() + 3);
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  return rest;
}

// Parses "(1, 3, 48)", "(7,)" or "()".
Result<std::vector<int64_t>> parse_dims(std::string_view text) {
  const size_t close = text.find(')');
  if (text.empty() || text.front() != '(' || close == std::string_view::npos)
    return wrong("invalid shape in the header: expected a tuple of integers");
  std::vector<int64_t> dims;
  const std::string inside(text.substr(1, close - 1));
  const char* at = inside.c_str();
  for (;;) {
    at += std::strspn(at, " ,");
    if (*at == '\0') return dims;
    char* end = nullptr;
    errno = 0;
    dims.push_back(std::strtoll(at, &end, 10));
    if (end == at || errno != 0)
      return wrong("invalid shape (" + inside + "): expected 64-bit integers");
    at = end;
  }
}

// Sets the element type. `descr` is a NumPy type, such as "<f4". Returns false if it is unknown.
bool parse_descr(std::string descr, Header& header) {
  header.is_big_endian = descr.starts_with(">");
  if (header.is_big_endian) descr.front() = '<';
  for (const TypeName& candidate : kTypes)
    if (descr == candidate.descr) {
      header.dtype = candidate.dtype;
      return true;
    }
  const std::optional<NpyString> text = parse_npy_string(descr);
  if (!text) return false;
  header.dtype = DType::kStr;
  header.text = *text;
  return true;
}

// Reverses the bytes of each number.
void swap_bytes(std::span<uint8_t> bytes, size_t number_bytes) {
  for (size_t at = 0; at < bytes.size(); at += number_bytes)
    std::ranges::reverse(bytes.subspan(at, number_bytes));
}

// Returns the elements of a tensor in row-major order. `bytes` has them in column-major order.
std::vector<uint8_t> to_row_major(std::span<const uint8_t> bytes, const Header& header) {
  const size_t size = header.element_bytes(), rank = header.dims.size();
  std::vector<uint8_t> result(bytes.size());
  std::vector<int64_t> index(rank);
  for (size_t to = 0; to < bytes.size(); to += size) {
    int64_t from = 0;
    for (size_t axis = rank; axis-- > 0;) from = from * header.dims[axis] + index[axis];
    std::memcpy(&result[to], &bytes[static_cast<size_t>(from) * size], size);
    for (size_t axis = rank; axis-- > 0;) {
      if (++index[axis] < header.dims[axis]) break;
      index[axis] = 0;
    }
  }
  return result;
}

Result<Header> parse_header(std::string_view text) {
  const std::optional<std::string_view> descr = value_of(text, "descr");
  const std::optional<std::string_view> order = value_of(text, "fortran_order");
  const std::optional<std::string_view> shape = value_of(text, "shape");
  if (!descr || !order || !shape)
    return wrong("incomplete header: expected descr, fortran_order and shape");
  const std::string_view type = descr->substr(0, descr->find_first_of(",}"));
  Header header;
  const bool is_quoted = type.size() > 2 && type.front() == '\'' && type.back() == '\'';
  if (!is_quoted || !parse_descr(std::string(type.substr(1, type.size() - 2)), header))
    return Status(StatusCode::kUnsupported, "unsupported element type " + std::string(type));
  header.is_fortran = order->starts_with("True");
  SCOPEVM_ASSIGN_OR_RETURN(header.dims, parse_dims(*shape));
  return header;
}

// The size of a regular file; no value for a pipe.
std::optional<int64_t> size_of(std::FILE* file) {
  struct stat status;
  if (::fstat(::fileno(file), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return status.st_size;
}

// Whether a file of a known size ends before elements of these dims do. Memory for them is then not
// allocated. Tensor::allocate() reports invalid dims.
bool ends_before(std::FILE* file, std::optional<int64_t> size, std::span<const int64_t> dims,
                 DType dtype) {
  if (!size) return false;
  int64_t bytes = byte_size(dtype);
  for (const int64_t dim : dims)
    if (dim < 0 || __builtin_mul_overflow(bytes, dim, &bytes)) return false;
  return bytes > *size - ::ftello(file);
}

Result<Tensor> read_from(std::FILE* file, std::optional<int64_t> file_size) {
  std::array<uint8_t, 12> start{};
  if (std::fread(start.data(), 1, 10, file) != 10 ||
      std::memcmp(start.data(), kMagic, kMagicSize) != 0)
    return wrong("not a .npy file");
  size_t size = start[8] | static_cast<size_t>(start[9]) << 8;
  // Version 1 of the format stores the length of the header in 2 bytes; later versions use 4 bytes.
  if (start[6] > 1) {
    if (std::fread(start.data() + 10, 1, 2, file) != 2) return wrong("truncated file");
    size |= static_cast<size_t>(start[10]) << 16 | static_cast<size_t>(start[11]) << 24;
  }
  if (size > kMaxHeader)
    return wrong("header of " + std::to_string(size) + " bytes exceeds the limit of " +
                 std::to_string(kMaxHeader) + " bytes");
  std::string text(size, '\0');
  if (std::fread(text.data(), 1, size, file) != size) return wrong("truncated file");
  SCOPEVM_ASSIGN_OR_RETURN(const Header header, parse_header(text));
  std::vector<int64_t> dims = header.dims;
  if (header.dtype == DType::kStr) dims.push_back(header.text.element_bytes());
  const DType stored = header.dtype == DType::kStr ? DType::kU8 : header.dtype;
  if (ends_before(file, file_size, dims, stored)) return wrong("truncated file");
  SCOPEVM_ASSIGN_OR_RETURN(Tensor tensor, Tensor::allocate(stored, dims));
  const auto bytes = static_cast<size_t>(tensor.bytes());
  if (std::fread(tensor.data(), 1, bytes, file) != bytes) return wrong("truncated file");
  const std::span elements(static_cast<uint8_t*>(tensor.data()), bytes);
  if (header.is_big_endian) swap_bytes(elements, header.number_bytes());
  if (header.is_fortran && !elements.empty())
    std::ranges::copy(to_row_major(elements, header), elements.begin());
  if (header.dtype == DType::kStr)
    return decode_npy_string(header.text, tensor.elements<uint8_t>(), header.dims);
  return tensor;
}

std::string descr_of(DType dtype) {
  for (const TypeName& type : kTypes)
    if (type.dtype == dtype) return type.descr;
  return "";
}

// The bytes before the elements, in version 1 of the format.
std::string header_of(const Tensor& tensor, const std::string& descr) {
  std::string text = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (";
  for (const int64_t dim : tensor.dims()) text += std::to_string(dim) + ", ";
  text += "), }";
  // The header is padded so that the elements start at a multiple of 64 bytes.
  const size_t unpadded = kMagicSize + 4 + text.size() + 1;
  text.append((64 - unpadded % 64) % 64, ' ');
  text += '\n';
  std::string start(kMagic, kMagicSize);
  start += {1, 0, static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
  return start + text;
}

// Writes the bytes of the header and the elements.
Status write_bytes(const std::string& path, const Tensor& tensor, const std::string& descr,
                   std::span<const std::byte> elements) {
  const std::string header = header_of(tensor, descr);
  const auto bytes = [](const auto& data) {
    return std::span(reinterpret_cast<const uint8_t*>(data.data()), data.size());
  };
  const std::span<const uint8_t> pieces[] = {bytes(header), bytes(elements)};
  return write_file(path, pieces);
}

std::span<const std::byte> bytes_of(const Tensor& tensor) {
  return {static_cast<const std::byte*>(tensor.data()), static_cast<size_t>(tensor.bytes())};
}

Status write_small(const std::string& path, const Tensor& tensor) {
  SCOPEVM_ASSIGN_OR_RETURN(const Tensor bytes, small_to_bytes(tensor));
  const bool has_numbers =
      runtime::small_type(tensor.dtype())->kind == runtime::SmallType::Kind::kInteger;
  return write_bytes(path, bytes, has_numbers ? descr_of(bytes.dtype()) : "|V1", bytes_of(bytes));
}

}  // namespace

Result<Tensor> read_npy(const std::string& path) {
  // Several arrays can follow one another on stdin, so it stays open.
  const bool is_stdin = path == kStandardStream;
  const File file(is_stdin ? nullptr : std::fopen(path.c_str(), "rb"));
  if (file == nullptr && !is_stdin)
    return Status(StatusCode::kNotFound, path + ": " + std::strerror(errno));
  std::FILE* const opened = is_stdin ? stdin : file.get();
  Result<Tensor> tensor = read_from(opened, size_of(opened));
  if (!tensor.ok()) return std::move(tensor).status().with_context(input_name(path));
  return tensor;
}

Result<Tensor> read_npy_bytes(std::span<const uint8_t> bytes) {
  if (bytes.empty()) return wrong("not a .npy file");
  // The stream only reads the bytes.
  const File file(::fmemopen(const_cast<uint8_t*>(bytes.data()), bytes.size(), "rb"));
  if (file == nullptr) return Status::out_of_memory();
  return read_from(file.get(), static_cast<int64_t>(bytes.size()));
}

Status write_npy(const std::string& path, const Tensor& tensor) {
  if (is_small(tensor.dtype())) return write_small(path, tensor);
  if (tensor.dtype() != DType::kStr)
    return write_bytes(path, tensor, descr_of(tensor.dtype()), bytes_of(tensor));
  Result<EncodedNpyString> strings = encode_npy_string(tensor);
  if (!strings.ok()) return std::move(strings).status().with_context(path);
  return write_bytes(path, tensor, strings->descr, std::as_bytes(std::span(strings->characters)));
}

}  // namespace scopevm::tool
