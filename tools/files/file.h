// Reads and writes whole files.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/mapped_file.h"
#include "scopevm/status.h"

namespace scopevm::tool {

// The name of an input file in messages: "standard input" for "-".
std::string input_name(const std::string& path);

// Maps a file, or reads a pipe to its end, such as a shell's <(COMMAND). "-" denotes stdin, which
// can be read once. Errors: kNotFound.
Result<runtime::MappedFile> map_input(const std::string& path);

// Like map_input(), with a copy of the bytes.
Result<std::vector<uint8_t>> read_file(const std::string& path);

// Fails if `output` is the same regular file as one of the inputs: the command would overwrite its
// input. Empty strings denote no file. Errors: kInvalidArgument.
Status check_is_no_input(const std::string& output, std::initializer_list<std::string> inputs);

// Fails if `output` cannot be written, so that a long computation is not lost. Empty strings denote
// no file. Errors: kInvalidArgument.
Status check_is_writable(const std::string& output);

// See format::write_file. "-" denotes stdout; finish_output() reports a failure to write to it.
Status write_file(const std::string& path, std::span<const std::span<const uint8_t>> pieces);
Status write_file(const std::string& path, std::string_view text);

}  // namespace scopevm::tool
