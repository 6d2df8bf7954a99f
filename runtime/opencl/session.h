// Between the files of this folder: what a device, its blocks and its images share.
#pragma once

#include <memory>
#include <string>

#include "runtime/opencl/api.h"

namespace scopevm::runtime::opencl {

// One device with a context and an in-order queue. Members end in reverse order, the context last.
struct Session {
  const Api& api;
  cl_device_id device;
  std::string description;
  int64_t memory_bytes;  // that blocks may have together
  std::string build_options;
  Handle<cl_context> context;
  Handle<cl_command_queue> queue;
};

}  // namespace scopevm::runtime::opencl
