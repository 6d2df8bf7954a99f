// Writes recordings; see run_record.h.
#include "tools/scopevm/commands/run/run_record.h"

#include <span>
#include <utility>

#include "tools/execution/zeroed_memory.h"
#include "tools/files/file.h"

namespace scopevm::tool {

void RunRecord::prepare(SessionOptions& session, const ObservedModule& module) {
  session.wrap_allocator = zeroed_memory(module.contents);
}

Status RunRecord::write(const std::string& path, Recording about, const Call& call,
                        const Status& outcome) {
  SCOPEVM_RETURN_IF_ERROR(launches_.failure());
  about.module_digest = module_.digest;
  about.producer = module_.contents.producer;
  about.error = outcome.message();
  about.launches = launches_.take();
  if (outcome.ok()) {
    SCOPEVM_ASSIGN_OR_RETURN(about.results, results_of(call, module_.module.signature()));
  }
  const std::vector<uint8_t> bytes = write_recording(about);
  const std::span<const uint8_t> pieces[] = {bytes};
  return write_file(path, pieces);
}

}  // namespace scopevm::tool
