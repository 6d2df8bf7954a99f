// The server: its models, its addresses and its life from start to the end of the last request.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "scopevm/scheduler.h"
#include "scopevm/status.h"
#include "tools/serve/http/http_server.h"
#include "tools/serve/tls/credentials.h"

namespace scopevm::serve {

struct ServerOptions {
  std::filesystem::path models;
  std::string http = "127.0.0.1:8000";     // empty: none
  std::string grpc = "127.0.0.1:8001";     // empty: none
  std::string metrics = "127.0.0.1:8002";  // empty: none
  std::string agent;                       // for checks of haproxy; empty: none
  std::string access_log;                  // a file; empty: none
  std::optional<TlsFiles> tls;             // of `http` and `grpc`; none: without TLS
  std::filesystem::path cache;             // of compiled modules; empty: none
  std::vector<PoolCapacity> capacities;
  std::vector<std::string> public_keys;  // texts of keys; if not empty, modules must be signed
  std::string transport;                 // as for tool::transport_name()
  int threads = 0;                       // workers, and threads of a loop; 0: one per CPU
  std::chrono::seconds poll{0};          // between two looks at the folder; 0: never
  std::chrono::seconds drain_timeout{30};
  HttpOptions limits;
};

// On another rank than 0 of a job, computes the parts of this rank until rank 0 ends. Otherwise
// serves until SIGTERM or SIGINT. Then it stops accepting, waits for the requests in flight, at
// most `drain_timeout` or until a second signal, and cancels the others. SIGHUP loads what has
// changed in the folder, reads the files of `tls` again, and opens the access log again. Errors:
// kInvalidArgument (an address or file cannot be used), kNotFound (no such folder), and those of
// Scheduler::create(), Transport::load() and follow_job().
Status serve(const ServerOptions& options);

}  // namespace scopevm::serve
