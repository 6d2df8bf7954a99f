// Converts the spool of a recorded process image (tools/scopevm_record/spool.h) to a memory trace.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scopevm/status.h"
#include "tools/lab/trace/event.h"

namespace scopevm::lab {

// A recorded program image: a process, between two calls of execve().
struct RecordedImage {
  std::string spool;  // path without extension
  uint32_t pid = 0;
  int image = 0;        // position among the images of the process
  std::string command;  // the program and its arguments, separated by spaces
};

// The images in the folder, by process and image. Files that are not spools are ignored.
std::vector<RecordedImage> recorded_images(const std::string& folder);

// Writes the trace of an image to `path`. `ticks_per_ns` is the rate of now_ticks(). Returns the
// counts. Errors: kNotFound, kInvalidArgument (a file cannot be read or written).
Result<TraceTotals> convert(const RecordedImage& image, double ticks_per_ns,
                            const std::string& path);

}  // namespace scopevm::lab
