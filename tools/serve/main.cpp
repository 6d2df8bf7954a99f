// scopevm serve: a server for the models of a folder (docs/serve.md):
//   protocol/    the values of the Open Inference Protocol, and their JSON
//   model/       a loaded model, its sequences and its requests
//   repository/  the folder of models, loaded and replaced while requests run
//   http/        connections, requests and responses
//   api/         the paths of the server
//   grpc/        the service of gRPC
//   tls/         certificates of both
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "tools/command_line/arguments.h"
#include "tools/command_line/command.h"
#include "tools/command_line/exit_code.h"
#include "tools/command_line/parser.h"
#include "tools/files/file.h"
#include "tools/serve/check.h"
#include "tools/serve/program.h"
#include "tools/serve/server.h"

namespace scopevm::serve {
namespace {

struct Arguments {
  std::string models;
  std::string http = "127.0.0.1:8000";
  std::string grpc = "127.0.0.1:8001";
  std::string metrics = "127.0.0.1:8002";
  std::string agent;
  std::string access_log;
  TlsFiles tls;
  std::string cache;
  std::vector<std::string> capacities;
  std::vector<std::string> keys;
  std::string max_request = "64MiB";
  std::string transport;
  int threads = 0;
  int poll = 0;
  int drain = 30;
  int max_connections = 20'000;
  bool is_check = false;
};

constexpr char kNone[] = "none";

void declare_addresses(CLI::App& command, Arguments& arguments) {
  command
      .add_option("--http", arguments.http,
                  "ADDRESS:PORT or unix:PATH of the Open Inference Protocol; port 0 takes a free "
                  "one; none: no HTTP")
      ->capture_default_str();
  command
      .add_option("--grpc", arguments.grpc,
                  "ADDRESS:PORT or unix:PATH of the protocol over gRPC; port 0 takes a free one; "
                  "none: no gRPC")
      ->capture_default_str();
  command
      .add_option("--metrics", arguments.metrics,
                  "ADDRESS:PORT or unix:PATH of /metrics; none: no metrics")
      ->capture_default_str();
  command.add_option("--agent", arguments.agent,
                     "ADDRESS:PORT for the agent checks of haproxy: the weight of this server is "
                     "the free share of its memory");
  auto* const certificate =
      command
          .add_option(
              "--tls-cert", arguments.tls.certificate,
              "File of the server's certificate and its issuers, PEM: HTTP and gRPC use TLS")
          ->type_name("FILE");
  auto* const key =
      command.add_option("--tls-key", arguments.tls.key, "File of the key of the certificate, PEM");
  key->type_name("FILE")->needs(certificate);
  certificate->needs(key);
  command
      .add_option("--tls-client-ca", arguments.tls.client_ca,
                  "File of certificates, PEM: clients need a certificate that one of them issued")
      ->type_name("FILE")
      ->needs(certificate);
}

void declare(CLI::App& command, Arguments& arguments) {
  command
      .add_option("DIR", arguments.models,
                  "Folder of models: NAME/VERSION/module.bc or "
                  "model.onnx, NAME/config.json; or NAME.bc, NAME.onnx")
      ->required();
  declare_addresses(command, arguments);
  command.add_option("--threads", arguments.threads, "Number of worker threads; 0: one per CPU")
      ->check(tool::thread_count())
      ->capture_default_str();
  command.add_option("--transport", arguments.transport,
                     "NAME or PATH of a plug-in that connects the processes of a job, one for each "
                     "rank of a model; none: no job (default: mpi in processes that mpirun has "
                     "started)");
  command
      .add_option("--capacity", arguments.capacities,
                  "DEVICE.SCOPE=BYTES: memory that all models share in this pool; a request waits "
                  "until its bytes are free")
      ->allow_extra_args(false);
  command.add_option("--max-request", arguments.max_request, "Maximum size of a request's body")
      ->capture_default_str();
  command
      .add_option("--max-connections", arguments.max_connections,
                  "Maximum number of connections at the same time")
      ->check(tool::integer_in(1))
      ->capture_default_str();
  command
      .add_option("--poll", arguments.poll,
                  "Seconds after which to look for changed models again; 0: never")
      ->check(tool::integer_in(0))
      ->capture_default_str();
  command
      .add_option("--drain-timeout", arguments.drain,
                  "Seconds that requests have to end after SIGTERM")
      ->check(tool::integer_in(0))
      ->capture_default_str();
  command.add_option("--access-log", arguments.access_log,
                     "Append a line of JSON for each request to this file; -: stdout");
  command.add_option("--cache", arguments.cache,
                     "Keep the modules that are compiled from ONNX models in this folder");
  command
      .add_option("--key", arguments.keys,
                  "File of a public key: load only modules that this key, or one of several, "
                  "signed")
      ->type_name("FILE")
      ->allow_extra_args(false);
  command.add_flag("--check", arguments.is_check,
                   "Load the models, print their largest memory and what fits, and exit");
}

Result<ServerOptions> server_options(const Arguments& arguments) {
  ServerOptions options;
  options.models = arguments.models;
  options.http = arguments.http == kNone ? "" : arguments.http;
  options.grpc = arguments.grpc == kNone ? "" : arguments.grpc;
  options.metrics = arguments.metrics == kNone ? "" : arguments.metrics;
  options.agent = arguments.agent;
  options.access_log = arguments.access_log;
  if (!arguments.tls.certificate.empty()) options.tls = arguments.tls;
  options.cache = arguments.cache;
  options.transport = arguments.transport;
  options.threads = arguments.threads;
  options.poll = std::chrono::seconds(arguments.poll);
  options.drain_timeout = std::chrono::seconds(arguments.drain);
  options.limits.max_connections = static_cast<size_t>(arguments.max_connections);
  SCOPEVM_ASSIGN_OR_RETURN(const int64_t body, tool::parse_bytes(arguments.max_request));
  options.limits.max_body_bytes = static_cast<size_t>(body);
  options.limits.max_bodies_bytes =
      std::max(options.limits.max_bodies_bytes, options.limits.max_body_bytes);
  for (const std::string& text : arguments.capacities) {
    SCOPEVM_ASSIGN_OR_RETURN(const auto capacity, tool::split_assignment(text));
    SCOPEVM_ASSIGN_OR_RETURN(const int64_t bytes, tool::parse_bytes(capacity.second));
    options.capacities.push_back({capacity.first, bytes});
  }
  return options;
}

Status read_keys(const Arguments& arguments, ServerOptions& options) {
  for (const std::string& path : arguments.keys) {
    SCOPEVM_ASSIGN_OR_RETURN(const std::vector<uint8_t> bytes, tool::read_file(path));
    options.public_keys.emplace_back(bytes.begin(), bytes.end());
  }
  return {};
}

int run(const Arguments& arguments) {
  Result<ServerOptions> options = server_options(arguments);
  if (!options.ok()) return tool::report_usage(options.status().message());
  Status status = read_keys(arguments, *options);
  if (status.ok()) status = arguments.is_check ? check(*options) : serve(*options);
  return tool::report(status);
}

const tool::Command<Arguments> registered(kServe, declare, run);

}  // namespace
}  // namespace scopevm::serve

int main(int argc, char** argv) { return scopevm::tool::run_program(argc, argv); }
