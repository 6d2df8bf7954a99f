// Writes launches in the trace event format of Chrome; see trace_file.h.
#include "tools/scopevm/commands/run/trace_file.h"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string_view>

#include "runtime/mapped_file.h"
#include "tools/files/file.h"

namespace scopevm::tool {
namespace {

std::span<const uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

using Json = nlohmann::ordered_json;

std::string line_of(const Json& json) {
  return json.dump(-1, ' ', true, Json::error_handler_t::replace);
}

const char* category(TraceEvent::Kind kind) {
  switch (kind) {
    case TraceEvent::Kind::kCall:
      return "call";
    case TraceEvent::Kind::kFunction:
      return "function";
    case TraceEvent::Kind::kLaunch:
      return "launch";
    case TraceEvent::Kind::kCopy:
      return "copy";
  }
  return "";
}

int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::string place(std::string_view device, std::string_view scope) {
  return std::string(device) + " " + std::string(scope);
}

Json arguments(const TraceEvent& event) {
  Json json = Json::object();
  if (event.kind == TraceEvent::Kind::kLaunch)
    json = {{"kernel", std::string(event.kernel)}, {"device", std::string(event.device)}};
  if (event.kind == TraceEvent::Kind::kCopy)
    json = {{"from", place(event.from_device, event.from_scope)},
            {"to", place(event.to_device, event.to_scope)},
            {"bytes", event.bytes}};
  return json;
}

// The ops of the model; for an event without them, the kernel or the copy's scopes.
std::string name_of(const TraceEvent& event) {
  if (!event.name.empty()) return std::string(event.name);
  if (event.kind != TraceEvent::Kind::kCopy) return std::string(event.kernel);
  return place(event.from_device, event.from_scope) + " to " +
         place(event.to_device, event.to_scope);
}

// Viewers show tracks in the order of their numbers: the caller, the workers, the devices.
constexpr int64_t kCallerTrack = 1;
constexpr int64_t kFirstWorkerTrack = 2;
constexpr int64_t kFirstDeviceTrack = 10000;  // above all workers: SessionOptions::threads

}  // namespace

TraceFile::TraceFile() : began_ns_(now_ns()) {}

int64_t TraceFile::track_of(const TraceEvent& event) {
  std::string name = "caller";
  int64_t track = kCallerTrack;
  if (event.lane == TraceEvent::Lane::kWorker) {
    name = "worker " + std::to_string(event.worker);
    track = kFirstWorkerTrack + event.worker;
  } else if (event.lane == TraceEvent::Lane::kDevice) {
    name = "device " + std::string(event.device);
    track = kFirstDeviceTrack;
    while (tracks_.contains(track) && tracks_[track] != name) ++track;
  }
  tracks_.try_emplace(track, std::move(name));
  return track;
}

void TraceFile::record(const TraceEvent& event) {
  if (error_ != 0) return;
  const Json json = {{"name", name_of(event)},
                     {"cat", category(event.kind)},
                     // A "complete event": it has a start and a duration, in microseconds.
                     {"ph", "X"},
                     {"ts", static_cast<double>(event.start_ns - began_ns_) / 1e3},
                     {"dur", static_cast<double>(event.duration_ns) / 1e3},
                     {"pid", 1},
                     {"tid", track_of(event)},
                     {"args", arguments(event)}};
  const std::string text = (events_ == nullptr ? "" : ",\n") + line_of(json);
  errno = 0;
  if (events_ == nullptr) events_.reset(std::tmpfile());
  if (events_ == nullptr || std::fwrite(text.data(), 1, text.size(), events_.get()) != text.size())
    error_ = errno != 0 ? errno : EIO;
}

std::string TraceFile::track_names() const {
  std::string text;
  for (const auto& [track, name] : tracks_)
    text += line_of({{"name", "thread_name"},
                     {"ph", "M"},
                     {"pid", 1},
                     {"tid", track},
                     {"args", {{"name", name}}}}) +
            ",\n";
  return text;
}

Status TraceFile::write(const std::string& path) {
  runtime::MappedFile events;
  if (events_ != nullptr && error_ == 0) {
    if (std::fflush(events_.get()) != 0) error_ = errno;
    SCOPEVM_ASSIGN_OR_RETURN(
        events, runtime::map_file("/proc/self/fd/" + std::to_string(fileno(events_.get()))));
  }
  if (error_ != 0)
    return {StatusCode::kInvalidArgument, "the trace cannot be recorded in a temporary file: " +
                                              std::string(std::strerror(error_))};
  const std::string names = track_names();
  const std::span<const uint8_t> pieces[] = {
      bytes_of("{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n"),
      bytes_of(names),
      {events.data, events.size},
      bytes_of("\n]}\n")};
  return write_file(path, pieces);
}

}  // namespace scopevm::tool
