// A server whose processes are the ranks of a job (docs/ranks.md): rank 0 answers requests, and the
// others compute their parts of the model that has several ranks.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "scopevm/c/transport.h"
#include "scopevm/module.h"
#include "scopevm/status.h"
#include "tools/ranks/exchange.h"

namespace scopevm::serve {

// What rank 0 sends to the others between sessions: the files of modules. Thread-safe.
class Job {
 public:
  // `transport` is that of rank 0, and must outlive the job.
  explicit Job(const scopevm_transport& transport) : transport_(transport), exchange_(transport) {}
  // Ends follow_job() of the others. REQUIRES: no model uses the ranks.
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  // Until the last copy of a use is destroyed, no other model can use the ranks.
  using Use = std::shared_ptr<const scopevm_transport>;
  // The others load the module in the file `path`, which must exist until a session with the
  // transport has been created. Waits up to 5 seconds for the requests of a model that was
  // unloaded. Errors: kInvalidArgument (the job has another number of ranks than the module),
  // kUnsupported (another model uses the ranks), kDevice (the transport failed), kInvalidModel (a
  // rank cannot load the module; the message names it).
  Result<Use> begin(const std::string& path, int ranks);

 private:
  const scopevm_transport& transport_;
  tool::Exchange exchange_;
  std::mutex mutex_;
  std::weak_ptr<const scopevm_transport> use_;
};

// On another rank than 0: computes the parts of this rank, with `threads` threads for each loop,
// until the job ends. Errors: kDevice (the transport failed), those of Session::create() and
// Session::follow(). After an error, the process must end without waiting for the others, which
// expect it to take part.
Status follow_job(const scopevm_transport& transport, const LoadOptions& load, int threads);

}  // namespace scopevm::serve
