// Selects what answers a request; see api.h.
#include "tools/serve/api/api.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <utility>

#include "tools/serve/model/inference.h"
#include "tools/serve/protocol/infer_json.h"

namespace scopevm::serve {
namespace {

constexpr char kJsonBytes[] = "Inference-Header-Content-Length";

int digit_of(char letter) {
  if (letter >= '0' && letter <= '9') return letter - '0';
  if (letter >= 'a' && letter <= 'f') return letter - 'a' + 10;
  if (letter >= 'A' && letter <= 'F') return letter - 'A' + 10;
  return -1;
}

// Replaces %XX. No value for a malformed escape, or a zero byte.
std::optional<std::string> decoded(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      result += text[i];
      continue;
    }
    const int high = i + 2 < text.size() ? digit_of(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? digit_of(text[i + 2]) : -1;
    if (high < 0 || low < 0 || (high == 0 && low == 0)) return std::nullopt;
    result += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return result;
}

// The decoded parts of a path between its slashes.
std::optional<std::vector<std::string>> split_path(std::string_view path) {
  std::vector<std::string> parts;
  if (path.starts_with('/')) path.remove_prefix(1);
  while (!path.empty()) {
    const size_t slash = path.find('/');
    auto part = decoded(path.substr(0, slash));
    if (!part) return std::nullopt;
    parts.push_back(*std::move(part));
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
  }
  return parts;
}

template <typename T>
std::optional<T> parse(std::string_view text) {
  T number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

void reply(Exchange& exchange, std::string type, std::string body) {
  HttpResponse response;
  response.type = std::move(type);
  response.body = std::move(body);
  exchange.reply(std::move(response));
}

void reply_json(Exchange& exchange, std::string body) {
  reply(exchange, "application/json", std::move(body));
}

void reply_error(Exchange& exchange, HttpResponse response, std::string_view message) {
  exchange.note().error = message;
  exchange.reply(std::move(response));
}

void reply_error(Exchange& exchange, int status, std::string_view message) {
  reply_error(exchange, error_response(status, message), message);
}

void reply_error(Exchange& exchange, const Status& status) {
  reply_error(exchange, error_response(status), status.message());
}

// True if the request has one of the methods of its path. Otherwise answers it.
bool has_method(Exchange& exchange, const std::vector<std::string>& allowed) {
  const std::string& method = exchange.request().method;
  const std::string_view wanted = method == "HEAD" ? std::string_view("GET") : method;
  if (std::ranges::find(allowed, wanted) != allowed.end()) return true;
  std::string list;
  for (const std::string& name : allowed) list += (list.empty() ? "" : ", ") + name;
  HttpResponse response = error_response(405, "expected the method " + list);
  response.headers.emplace_back("Allow", std::move(list));
  exchange.reply(std::move(response));
  return false;
}

// The id for traces and the log: the last 8 bytes of the trace's id (W3C Trace Context).
uint64_t request_id(const HttpRequest& request) {
  constexpr size_t kAt = 19, kDigits = 16;
  const std::string* const parent = request.header("traceparent");
  if (parent == nullptr || parent->size() < kAt + kDigits) return 0;
  uint64_t id = 0;
  const char* const digits = parent->data() + kAt;
  const auto [end, error] = std::from_chars(digits, digits + kDigits, id, 16);
  return error == std::errc() && end == digits + kDigits ? id : 0;
}

// Writes the response while the outputs exist.
HttpResponse infer_response(const Result<InferResponse>& result, AccessNote& note) {
  Result<EncodedInfer> encoded = result.ok() ? encode_infer(*result) : result.status();
  if (!encoded.ok()) {
    note.error = encoded.status().message();
    return error_response(encoded.status());
  }
  HttpResponse response;
  response.body = std::move(encoded->body);
  if (encoded->json_bytes) {
    response.type = "application/octet-stream";
    response.headers.emplace_back(kJsonBytes, std::to_string(*encoded->json_bytes));
  }
  return response;
}

std::shared_ptr<Inference> start_infer(const std::shared_ptr<Exchange>& exchange,
                                       std::shared_ptr<LoadedModel> model, InferRequest request) {
  return Inference::start(std::move(model), std::move(request), request_id(exchange->request()),
                          [exchange](const Result<InferResponse>& result) {
                            exchange->reply(infer_response(result, exchange->note()));
                          });
}

bool has_binary_output(const InferRequest& request) {
  if (!request.outputs) return request.is_binary;
  return std::ranges::any_of(*request.outputs, &RequestedOutput::is_binary);
}

// A server-sent event (WHATWG HTML), whose data is a line of JSON.
HttpResponse event_of(std::string_view json) {
  HttpResponse event;
  event.type = "text/event-stream";
  event.body.append("data: ").append(json).append("\n\n");
  event.headers.emplace_back("Cache-Control", "no-cache");
  return event;
}

// Each step is an event. An error before the first one is a response of its own.
std::shared_ptr<Inference> start_generation(const std::shared_ptr<Exchange>& exchange,
                                            std::shared_ptr<LoadedModel> model,
                                            InferRequest request) {
  const auto has_begun = std::make_shared<bool>(false);
  const auto step = [exchange, has_begun](InferResponse outputs,
                                          std::function<void()> resume) -> Status {
    SCOPEVM_ASSIGN_OR_RETURN(const EncodedInfer encoded, encode_infer(outputs));
    outputs = {};
    *has_begun = true;
    exchange->reply_part(event_of(encoded.body), std::move(resume));
    return {};
  };
  const auto done = [exchange, has_begun](const Result<InferResponse>& result) {
    HttpResponse last = infer_response(result, exchange->note());
    exchange->reply(last.status == 200 || *has_begun ? event_of(last.body) : std::move(last));
  };
  return Inference::generate(std::move(model), std::move(request), request_id(exchange->request()),
                             step, done);
}

}  // namespace

HttpResponse error_response(int status, std::string_view message) {
  HttpResponse response;
  response.status = status;
  response.body = nlohmann::json({{"error", message}})
                      .dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  // When other requests have ended, this one can succeed.
  if (status == 429 || status == 503) response.headers.emplace_back("Retry-After", "1");
  return response;
}

HttpResponse error_response(const Status& status) {
  const auto code = [&] {
    switch (status.code()) {
      case StatusCode::kInvalidArgument:
      case StatusCode::kNotFound:
      case StatusCode::kUnsupported:
        return 400;
      case StatusCode::kResourceLimit:
        return 429;
      case StatusCode::kOutOfMemory:
        return 503;
      case StatusCode::kCancelled:
        return kClientLeft;
      case StatusCode::kDeadlineExceeded:
        return 504;
      default:
        return 500;
    }
  };
  return error_response(code(), status.message());
}

void Api::handle(const std::shared_ptr<Exchange>& exchange) {
  const auto path = split_path(exchange->request().path);
  if (!path) return reply_error(*exchange, 400, "the path has a malformed escape");
  const std::vector<std::string>* const methods = paths_.find_methods(*path);
  if (methods == nullptr)
    return reply_error(*exchange, 404, "unknown path " + exchange->request().path);
  if (!has_method(*exchange, *methods)) return;
  const auto is = [&](std::initializer_list<std::string_view> parts) {
    return std::equal(path->begin(), path->end(), parts.begin(), parts.end());
  };
  if (path->empty()) {
    reply(*exchange, "text/html; charset=utf-8", status_page(core_));
  } else if (is({"status.json"})) {
    reply_json(*exchange, status_json(core_));
  } else if (is({"v2"})) {
    reply_json(*exchange, server_metadata());
  } else if (is({"v2", "openapi.json"})) {
    reply_json(*exchange, std::string(kApiDescription));
  } else if (is({"v2", "health", "live"})) {
    reply_json(*exchange, R"({"live":true})");
  } else if (is({"v2", "health", "ready"})) {
    HttpResponse response;
    response.status = core_.is_ready ? 200 : 503;
    response.body = core_.is_ready ? R"({"ready":true})" : R"({"ready":false})";
    exchange->reply(std::move(response));
  } else if (is({"v2", "models", "stats"})) {
    reply_json(*exchange, model_statistics(core_.repository.loaded()));
  } else if (path->at(1) == "models") {
    handle_model(exchange, *path);
  } else {
    handle_repository(exchange, *path);
  }
}

// v2/models/NAME[/versions/VERSION][/ready | /infer | /generate_stream | /stats]
void Api::handle_model(const std::shared_ptr<Exchange>& exchange, const Path& path) {
  const std::string& name = path[2];
  const bool has_version = path.size() >= 5 && path[3] == "versions";
  const size_t action_at = has_version ? 5 : 3;
  const std::string action = path.size() > action_at ? path[action_at] : "";
  const bool is_run = action == "infer" || action == "generate_stream";
  const std::optional<int64_t> version =
      has_version ? parse<int64_t>(path[4]) : std::optional<int64_t>();
  exchange->note().model = name;
  if (has_version) exchange->note().version = path[4];
  if (has_version && !version)
    return reply_error(*exchange, 400, "expected a number as version, given " + path[4]);
  const auto model = core_.repository.find(name, version);
  // Another replica has the model meanwhile.
  if (!model.ok() && !core_.is_ready) return reply_error(*exchange, 503, model.status().message());
  if (action == "ready") {
    if (!model.ok()) return reply_error(*exchange, 404, model.status().message());
    return reply_json(*exchange, R"({"ready":true})");
  }
  if (!model.ok()) return reply_error(*exchange, model.status());
  exchange->note().version = std::to_string((*model)->version);
  if (is_run) return run(exchange, *model, action == "generate_stream");
  const auto versions = core_.repository.versions(name);
  if (!versions.ok()) return reply_error(*exchange, versions.status());
  if (action == "stats")
    return reply_json(*exchange, model_statistics(has_version ? std::vector{*model} : *versions));
  std::vector<int64_t> numbers;
  for (const auto& other : *versions) numbers.push_back(other->version);
  reply_json(*exchange, model_metadata(**model, numbers));
}

void Api::run(const std::shared_ptr<Exchange>& exchange, std::shared_ptr<LoadedModel> model,
              bool is_generation) {
  const HttpRequest& request = exchange->request();
  std::optional<size_t> json_bytes;
  if (const std::string* const given = request.header("inference-header-content-length")) {
    json_bytes = parse<size_t>(*given);
    if (!json_bytes)
      return reply_error(*exchange, 400, std::string(kJsonBytes) + ": expected a number");
  }
  Result<InferRequest> parsed = decode_infer(request.body, json_bytes, model->module.signature());
  if (!parsed.ok()) return reply_error(*exchange, parsed.status());
  exchange->note().id = parsed->id.value_or("");
  if (is_generation && has_binary_output(*parsed))
    return reply_error(*exchange, 400, "events have no binary data: request outputs as JSON");
  // The client can leave before start() returns.
  const auto started = std::make_shared<std::weak_ptr<Inference>>();
  exchange->on_leave([started] {
    if (const auto inference = started->lock()) inference->cancel();
  });
  *started = is_generation ? start_generation(exchange, std::move(model), *std::move(parsed))
                           : start_infer(exchange, std::move(model), *std::move(parsed));
}

// v2/repository/index and v2/repository/models/NAME/load, unload
void Api::handle_repository(const std::shared_ptr<Exchange>& exchange, const Path& path) {
  if (path[2] == "index") return reply_json(*exchange, repository_index(core_.repository.index()));
  exchange->note().model = path[3];
  if (!is_model_name(path[3]))
    return reply_error(*exchange, 400, "expected the name of a model, given " + path[3]);
  change(exchange, path[3], path[4] == "load");
}

void Api::change(const std::shared_ptr<Exchange>& exchange, const std::string& name, bool is_load) {
  core_.run_later([this, exchange, name, is_load] {
    const Status status = is_load ? core_.repository.load(name) : core_.repository.unload(name);
    if (status.ok())
      reply_json(*exchange, "{}");
    else
      reply_error(*exchange, 400, status.message());
  });
}

void Api::handle_metrics(const std::shared_ptr<Exchange>& exchange,
                         const HttpStatistics& http) const {
  if (exchange->request().path != "/metrics")
    return reply_error(*exchange, 404, "expected the path /metrics");
  if (!has_method(*exchange, {"GET"})) return;
  Result<std::string> text = metrics_text(core_.repository.loaded(), http);
  if (!text.ok()) return reply_error(*exchange, text.status());
  HttpResponse response;
  response.type = "text/plain; version=0.0.4";
  response.body = *std::move(text);
  exchange->reply(std::move(response));
}

}  // namespace scopevm::serve
