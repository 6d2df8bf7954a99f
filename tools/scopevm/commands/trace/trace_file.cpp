// Writes launches in the trace event format of Chrome; see trace_file.h.
#include "tools/scopevm/commands/trace/trace_file.h"

#include <algorithm>
#include <cerrno>
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

// Of two events. The text of an event has no line break.
constexpr std::string_view kSeparator = ",\n";

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
    case TraceEvent::Kind::kWait:
      return "wait";
    case TraceEvent::Kind::kMemory:
      return "memory";
  }
  return "";
}

// In microseconds, as the format has times.
double microseconds(int64_t ns) { return static_cast<double>(ns) / 1e3; }

std::string place(std::string_view device, std::string_view scope) {
  return std::string(device) + " " + std::string(scope);
}

Json arguments(const TraceEvent& event) {
  Json json = Json::object();
  if (event.kind == TraceEvent::Kind::kLaunch)
    json = {{"kernel", std::string(event.kernel)},
            {"device", std::string(event.device)},
            {"bytes", event.bytes}};
  if (event.kind == TraceEvent::Kind::kCopy)
    json = {{"from", place(event.from_device, event.from_scope)},
            {"to", place(event.to_device, event.to_scope)},
            {"bytes", event.bytes}};
  if (event.kind == TraceEvent::Kind::kCall || event.kind == TraceEvent::Kind::kWait) {
    json["request"] = event.request_id;
    json["status"] = static_cast<int>(event.status);
  }
  if (event.kind == TraceEvent::Kind::kCall) {
    json["peak_bytes"] = event.bytes;
    for (const TraceDim& dim : event.dims) json["dims"][std::string(dim.name)] = dim.value;
  }
  return json;
}

// The ops of the model; for an event without them, the kernel or the copy's scopes.
std::string name_of(const TraceEvent& event) {
  if (!event.name.empty()) return std::string(event.name);
  if (event.kind != TraceEvent::Kind::kCopy) return std::string(event.kernel);
  return place(event.from_device, event.from_scope) + " to " +
         place(event.to_device, event.to_scope);
}

// Viewers show tracks in the order of their numbers: for each thread that runs calls, the thread,
// its workers and its devices.
constexpr int64_t kFirstWorker = 1;
constexpr int64_t kFirstDevice = 10000;  // above all workers: SessionOptions::threads
constexpr int64_t kTracksOfCaller = 20000;

}  // namespace

TraceFile::TraceFile(const scopevm_transport* transport)
    : rank_(transport == nullptr ? std::nullopt : std::optional(transport->rank)),
      zero_(std::chrono::steady_clock::now().time_since_epoch()) {}

int64_t TraceFile::track_of(const TraceEvent& event) {
  const int64_t caller =
      callers_.try_emplace(std::this_thread::get_id(), callers_.size()).first->second;
  std::string name = caller == 0 ? "caller" : "caller " + std::to_string(caller);
  int64_t track = 1 + caller * kTracksOfCaller;
  const std::string prefix = caller == 0 ? "" : name + " ";
  if (event.lane == TraceEvent::Lane::kWorker) {
    name = prefix + "worker " + std::to_string(event.worker);
    track += kFirstWorker + event.worker;
  } else if (event.lane == TraceEvent::Lane::kDevice) {
    name = prefix + "device " + std::string(event.device);
    track += kFirstDevice;
    while (tracks_.contains(track) && tracks_[track] != name) ++track;
  }
  tracks_.try_emplace(track, std::move(name));
  return track;
}

void TraceFile::record(const TraceEvent& event) {
  const int64_t start_ns = event.start_ns - zero_.count();
  const std::lock_guard lock(mutex_);
  Json json = {{"name", name_of(event)},
               {"cat", category(event.kind)},
               // A "complete event": it has a start and a duration, in microseconds.
               {"ph", "X"},
               {"ts", microseconds(start_ns)},
               {"dur", microseconds(event.duration_ns)},
               {"pid", process()},
               {"tid", track_of(event)},
               {"args", arguments(event)}};
  if (event.kind == TraceEvent::Kind::kMemory) {
    // A counter of the process, whose track has the name of the event.
    json["name"] = std::string(event.device) + "." + std::string(event.scope);
    json["ph"] = "C";
    json["args"] = {{"bytes", event.bytes}};
    json.erase("dur");
  }
  if (event.kind == TraceEvent::Kind::kWait) {
    // Waits of requests overlap. A pair of events with an id has a track of its own.
    json["ph"] = "b";
    json["id"] = std::to_string(event.request_id);
    json.erase("dur");
    append(line_of(json));
    json["ph"] = "e";
    json["ts"] = microseconds(start_ns + event.duration_ns);
  }
  append(line_of(json));
}

void TraceFile::append(const std::string& lines) {
  if (error_ != 0) return;
  const std::string text = (events_ == nullptr ? "" : std::string(kSeparator)) + lines;
  errno = 0;
  if (events_ == nullptr) events_.reset(std::tmpfile());
  if (events_ == nullptr || std::fwrite(text.data(), 1, text.size(), events_.get()) != text.size())
    error_ = errno != 0 ? errno : EIO;
}

std::string TraceFile::track_names() const {
  std::string text;
  const auto append_name = [&](Json event, const std::string& name) {
    event["ph"] = "M";
    event["pid"] = process();
    event["args"] = {{"name", name}};
    text += (text.empty() ? "" : std::string(kSeparator)) + line_of(event);
  };
  if (rank_) append_name({{"name", "process_name"}}, "rank " + std::to_string(*rank_));
  for (const auto& [track, name] : tracks_)
    append_name({{"name", "thread_name"}, {"tid", track}}, name);
  return text;
}

Result<runtime::MappedFile> TraceFile::map() {
  runtime::MappedFile events;
  if (events_ != nullptr && error_ == 0) {
    if (std::fflush(events_.get()) != 0) error_ = errno;
    SCOPEVM_ASSIGN_OR_RETURN(
        events, runtime::map_file("/proc/self/fd/" + std::to_string(fileno(events_.get()))));
  }
  if (error_ == 0) return events;
  return Status(StatusCode::kInvalidArgument, "the trace cannot be recorded in a temporary file: " +
                                                  std::string(std::strerror(error_)));
}

Status TraceFile::write(const std::string& path) {
  SCOPEVM_ASSIGN_OR_RETURN(const runtime::MappedFile events, map());
  const std::string names = track_names();
  const std::span<const uint8_t> pieces[] = {
      bytes_of("{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n"),
      bytes_of(names),
      bytes_of(names.empty() || events.size == 0 ? "" : kSeparator),
      {events.data, events.size},
      bytes_of("\n]}\n")};
  return write_file(path, pieces);
}

Status TraceFile::read(std::chrono::nanoseconds zero,
                       const std::function<void(const std::string& part)>& use) {
  constexpr size_t kPart = size_t{1} << 20;
  SCOPEVM_ASSIGN_OR_RETURN(const runtime::MappedFile mapped, map());
  std::string_view left(reinterpret_cast<const char*>(mapped.data), mapped.size);
  std::string part = track_names();
  while (!left.empty()) {
    const size_t size = std::min(left.find(kSeparator), left.size());
    Json event = Json::parse(left.substr(0, size));
    left.remove_prefix(std::min(size + kSeparator.size(), left.size()));
    event["ts"] = event["ts"].get<double>() + microseconds((zero_ - zero).count());
    part += (part.empty() ? "" : std::string(kSeparator)) + line_of(event);
    if (part.size() < kPart) continue;
    use(part);
    part.clear();
  }
  if (!part.empty()) use(part);
  return {};
}

void TraceFile::add(const std::string& events) {
  const std::lock_guard lock(mutex_);
  if (!events.empty()) append(events);
}

}  // namespace scopevm::tool
