// Converts between NumPy's fixed-width strings and string tensors; see npy_string.h.
#include "tools/tensors/npy_string.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <vector>

#include "runtime/string/utf8.h"

namespace scopevm::tool {
namespace {

Status wrong_element(size_t index, const std::string& what) {
  return {StatusCode::kInvalidArgument, "element " + std::to_string(index) + " " + what};
}

Result<std::string> decode(NpyString type, const uint8_t* at) {
  std::string text;
  if (!type.is_unicode) {
    text.assign(reinterpret_cast<const char*>(at), static_cast<size_t>(type.width));
  } else {
    for (int64_t i = 0; i < type.width; ++i) {
      char32_t c = 0;
      std::memcpy(&c, at + 4 * i, sizeof c);
      if (!runtime::is_character(c))
        return Status(StatusCode::kInvalidArgument, "is not valid Unicode");
      runtime::encode_utf8(c, [&](char byte) { text += byte; });
    }
  }
  // NumPy pads fixed-width strings with NUL characters.
  text.erase(text.find_last_not_of('\0') + 1);
  return text;
}

}  // namespace

std::optional<NpyString> parse_npy_string(std::string_view descr) {
  NpyString type;
  if (descr.starts_with("<U"))
    type.is_unicode = true;
  else if (!descr.starts_with("|S"))
    return std::nullopt;
  descr.remove_prefix(2);
  const auto [end, error] = std::from_chars(descr.data(), descr.data() + descr.size(), type.width);
  const bool is_number = error == std::errc() && end == descr.data() + descr.size();
  if (!is_number || type.width < 1 || type.width > INT32_MAX) return std::nullopt;
  return type;
}

Result<Tensor> decode_npy_string(NpyString type, std::span<const uint8_t> bytes,
                                 std::span<const int64_t> dims) {
  std::vector<std::string> strings;
  int64_t count = 1;
  for (const int64_t dim : dims) count *= dim;
  for (int64_t i = 0; i < count; ++i) {
    Result<std::string> text = decode(type, bytes.data() + i * type.element_bytes());
    if (!text.ok())
      return wrong_element(static_cast<size_t>(i), std::string(text.status().message()));
    strings.push_back(*std::move(text));
  }
  return Tensor::from_strings(std::vector<std::string_view>(strings.begin(), strings.end()), dims);
}

Result<EncodedNpyString> encode_npy_string(const Tensor& strings) {
  std::vector<std::u32string> decoded(static_cast<size_t>(strings.element_count()));
  size_t width = 1;  // NumPy's width for arrays of empty strings
  for (size_t i = 0; i < decoded.size(); ++i) {
    std::string_view rest = strings.string_at(static_cast<int64_t>(i));
    while (!rest.empty()) {
      const auto [c, bytes] = runtime::decode_utf8(rest);
      if (bytes == 0) return wrong_element(i, "is not valid UTF-8");
      decoded[i] += c;
      rest.remove_prefix(bytes);
    }
    width = std::max(width, decoded[i].size());
  }
  EncodedNpyString encoded{"<U" + std::to_string(width), {}};
  for (std::u32string& text : decoded) {
    text.resize(width);
    encoded.characters += text;
  }
  return encoded;
}

}  // namespace scopevm::tool
