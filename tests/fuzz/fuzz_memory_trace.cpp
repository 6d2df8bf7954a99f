// Fuzz target: bytes -> events of a memory trace.
#include <cstddef>
#include <cstdint>

#include "tools/lab/trace/trace_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto reader = scopevm::lab::TraceReader::open({data, size});
  if (!reader.ok()) return 0;
  while (true) {
    const auto event = reader->next();
    if (!event.ok() || !event->has_value()) return 0;
  }
}
