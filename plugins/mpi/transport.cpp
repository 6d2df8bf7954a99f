// See transport.h.
#include "plugins/mpi/transport.h"

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace scopevm::mpi {
namespace {

// Messages of more bytes are copied from the window of the sender.
constexpr int64_t kLargestEager = 16384;
// Of one step: the caller has other things to do between two.
constexpr int64_t kStepBytes = int64_t{128} << 10;
// Numbers of notes, of which fewer are under way. Every MPI has twice as many tags.
constexpr int kNumbers = 1 << 14;

// Of probe().
constexpr int64_t kFailure = -2;

int tag_of_answer(int number) { return 2 * number; }
int tag_of_bytes(int number) { return 2 * number + 1; }

}  // namespace

struct MpiTransport::Operation {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Request second = MPI_REQUEST_NULL;  // of a large message that is sent: the answer, or its end
  Note note = {};
  // Of a message that is received.
  int from = 0;
  std::byte* data = nullptr;
  int64_t bytes = 0;
  bool has_note = false;  // it is a large message, whose bytes have not arrived
  int64_t copied = 0;

  bool is_note_sent = false;  // `request` is that of the note
  Staging::Block staged;      // the copy of the message, if there is one

  // Ends an operation without its message.
  static void give_up(std::unique_ptr<Operation> operation) {
    const bool is_read = operation->is_note_sent && operation->request != MPI_REQUEST_NULL;
    for (MPI_Request* const each : {&operation->request, &operation->second}) {
      if (*each == MPI_REQUEST_NULL) continue;
      MPI_Cancel(each);
      MPI_Request_free(each);
    }
    operation->staged.reset();
    if (is_read) (void)operation.release();  // MPI can still send the note
  }
};

namespace {

// A callback: exceptions must not leave it.
template <typename Value, typename Function>
Value without_exceptions(std::string& error, Value failure, Function function) noexcept {
  try {
    return function();
  } catch (...) {
    error = "out of memory";  // short enough to need none
    return failure;
  }
}

}  // namespace

bool MpiTransport::open() {
  // Parts of the activations of one token are larger than Open MPI's default, above which the ranks
  // of a machine agree on each message before they exchange it. The user's value has precedence.
  setenv("OMPI_MCA_btl_vader_eager_limit", "16384", /*overwrite=*/0);
  int is_initialised = 0, level = MPI_THREAD_SINGLE;
  if (!succeeds(MPI_Initialized(&is_initialised), "MPI_Initialized")) return false;
  // A session uses its transport from any thread, but from one at a time.
  if (is_initialised == 0 &&
      !succeeds(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level),
                "MPI_Init_thread"))
    return false;
  if (!succeeds(MPI_Query_thread(&level), "MPI_Query_thread")) return false;
  if (level < MPI_THREAD_SERIALIZED) {
    error_ = "MPI was initialised without MPI_THREAD_SERIALIZED";
    return false;
  }
  for (MPI_Comm* const comm : {&comm_, &notes_, &answers_})
    if (!succeeds(MPI_Comm_dup(MPI_COMM_WORLD, comm), "MPI_Comm_dup") ||
        !succeeds(MPI_Comm_set_errhandler(*comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler"))
      return false;
  c_ = {.struct_size = sizeof c_,
        .abi_version = SCOPEVM_TRANSPORT_ABI_VERSION,
        .context = this,
        .rank = 0,
        .ranks = 1,
        .send = send,
        .receive = receive,
        .test = test,
        .cancel = cancel,
        .probe = probe,
        .error = [](void* context) { return of(context).error_.c_str(); },
        .allocate = nullptr,
        .deallocate = nullptr};
  if (!succeeds(MPI_Comm_rank(comm_, &c_.rank), "MPI_Comm_rank") ||
      !succeeds(MPI_Comm_size(comm_, &c_.ranks), "MPI_Comm_size"))
    return false;
  if (peers_.open(comm_) && open_windows()) return true;
  error_ = "MPI_Allgather failed";
  return false;
}

// Every rank calls this. Returns false if MPI fails.
bool MpiTransport::open_windows() {
  window_.open();
  const auto ranks = static_cast<size_t>(c_.ranks), rank = static_cast<size_t>(c_.rank);
  const WindowName own = window_.name();
  std::vector<WindowName> names(ranks);
  if (MPI_Allgather(&own, sizeof own, MPI_BYTE, names.data(), sizeof own, MPI_BYTE, comm_) !=
      MPI_SUCCESS)
    return false;
  windows_ = std::vector<MappedWindow>(ranks);
  std::vector<char> opened(ranks), all(ranks * ranks);
  for (size_t other = 0; other < ranks; ++other)
    opened[other] = static_cast<char>(peers_.contains(static_cast<int>(other)) &&
                                      windows_[other].open(names[other]));
  if (MPI_Allgather(opened.data(), c_.ranks, MPI_BYTE, all.data(), c_.ranks, MPI_BYTE, comm_) !=
      MPI_SUCCESS)
    return false;
  for (size_t other = 0; other < ranks; ++other) reads_window_.push_back(all[other * ranks + rank]);
  if (std::ranges::count(reads_window_, 0) == c_.ranks) return true;
  c_.allocate = [](void* context, int64_t bytes, int64_t alignment) {
    MpiTransport& self = of(context);
    return without_exceptions<void*>(self.error_, nullptr,
                                     [&] { return self.window_.allocate(bytes, alignment); });
  };
  c_.deallocate = [](void* context, void* block, int64_t bytes) {
    of(context).window_.deallocate(block, bytes);
  };
  return true;
}

bool MpiTransport::succeeds(int code, const char* function) {
  if (code == MPI_SUCCESS) return true;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  error_ = std::string(function) + ": " + text;
  return false;
}

bool MpiTransport::has_ended() {
  const int rank = peers_.ended();
  if (rank < 0) return false;
  error_ = peers_.text(rank);
  return true;
}

// --- Sent messages. ---

void* MpiTransport::send(void* context, int to, int tag, const void* data, int64_t bytes) {
  MpiTransport& self = of(context);
  return without_exceptions<void*>(self.error_, nullptr, [&]() -> void* {
    auto operation = std::make_unique<Operation>();
    if (self.start_send(*operation, to, tag, data, bytes)) return operation.release();
    Operation::give_up(std::move(operation));
    return nullptr;
  });
}

bool MpiTransport::start_send(Operation& operation, int to, int tag, const void* data,
                              int64_t bytes) {
  operation.note.bytes = bytes;
  if (bytes > kLargestEager && reads_window_[static_cast<size_t>(to)] != 0)
    return send_note(operation, to, tag, data);
  return succeeds(
      MPI_Isend(data, static_cast<int>(bytes), MPI_BYTE, to, tag, comm_, &operation.request),
      "MPI_Isend");
}

bool MpiTransport::send_note(Operation& operation, int to, int tag, const void* data) {
  Note& note = operation.note;
  operation.staged = staging_.copy(data, note.bytes);
  note.offset =
      operation.staged.offset() >= 0 ? operation.staged.offset() : window_.offset_of(data);
  note.number = next_number_;
  next_number_ = (next_number_ + 1) % kNumbers;
  if (!succeeds(MPI_Isend(&note, sizeof note, MPI_BYTE, to, tag, notes_, &operation.request),
                "MPI_Isend"))
    return false;
  operation.is_note_sent = true;
  return note.offset >= 0
             ? succeeds(MPI_Irecv(nullptr, 0, MPI_BYTE, to, tag_of_answer(note.number), answers_,
                                  &operation.second),
                        "MPI_Irecv")
             : succeeds(MPI_Isend(data, static_cast<int>(note.bytes), MPI_BYTE, to,
                                  tag_of_bytes(note.number), answers_, &operation.second),
                        "MPI_Isend");
}

// --- Received messages. ---

void* MpiTransport::receive(void* context, int from, int tag, void* data, int64_t bytes) {
  MpiTransport& self = of(context);
  return without_exceptions<void*>(self.error_, nullptr, [&]() -> void* {
    auto operation = std::make_unique<Operation>();
    operation->from = from;
    operation->data = static_cast<std::byte*>(data);
    operation->bytes = bytes;
    return self.start_receive(*operation, tag) ? operation.release() : nullptr;
  });
}

bool MpiTransport::start_receive(Operation& operation, int tag) {
  const int from = operation.from;
  operation.has_note =
      operation.bytes > kLargestEager && windows_[static_cast<size_t>(from)].is_open();
  if (!operation.has_note)
    return succeeds(MPI_Irecv(operation.data, static_cast<int>(operation.bytes), MPI_BYTE, from,
                              tag, comm_, &operation.request),
                    "MPI_Irecv");
  std::deque<Note>& known = probed(from, tag);
  if (known.empty())
    return succeeds(
        MPI_Irecv(&operation.note, sizeof(Note), MPI_BYTE, from, tag, notes_, &operation.request),
        "MPI_Irecv");
  operation.note = known.front();
  known.pop_front();
  return true;
}

int MpiTransport::copy(Operation& operation) {
  const Note& note = operation.note;
  const MappedWindow& window = windows_[static_cast<size_t>(operation.from)];
  if (note.bytes != operation.bytes ||
      (note.offset >= 0 && !window.contains(note.offset, note.bytes))) {
    error_ = "rank " + std::to_string(operation.from) + " sent an invalid note";
    return SCOPEVM_TRANSPORT_FAILED;
  }
  if (note.offset < 0) {
    operation.has_note = false;
    return succeeds(
               MPI_Irecv(operation.data, static_cast<int>(note.bytes), MPI_BYTE, operation.from,
                         tag_of_bytes(note.number), answers_, &operation.request),
               "MPI_Irecv")
               ? SCOPEVM_TRANSPORT_PENDING
               : SCOPEVM_TRANSPORT_FAILED;
  }
  const int64_t step = std::min(kStepBytes, note.bytes - operation.copied);
  copy_between_processes(operation.data + operation.copied,
                         window.at(note.offset + operation.copied), step);
  operation.copied += step;
  if (operation.copied < note.bytes) return SCOPEVM_TRANSPORT_PENDING;
  MPI_Request answer = MPI_REQUEST_NULL;
  if (!succeeds(MPI_Isend(nullptr, 0, MPI_BYTE, operation.from, tag_of_answer(note.number),
                          answers_, &answer),
                "MPI_Isend"))
    return SCOPEVM_TRANSPORT_FAILED;
  MPI_Request_free(&answer);
  return SCOPEVM_TRANSPORT_DONE;
}

// --- All messages. ---

int MpiTransport::test(void* context, void* tested) {
  MpiTransport& self = of(context);
  std::unique_ptr<Operation> operation(static_cast<Operation*>(tested));
  const int state = without_exceptions<int>(self.error_, SCOPEVM_TRANSPORT_FAILED,
                                            [&] { return self.test_operation(*operation); });
  if (state == SCOPEVM_TRANSPORT_PENDING)
    (void)operation.release();  // it has not ended
  else if (state == SCOPEVM_TRANSPORT_FAILED)
    Operation::give_up(std::move(operation));
  return state;
}

int MpiTransport::test_operation(Operation& operation) {
  int state = SCOPEVM_TRANSPORT_DONE;
  for (MPI_Request* const request : {&operation.request, &operation.second}) {
    if (*request == MPI_REQUEST_NULL || state != SCOPEVM_TRANSPORT_DONE) continue;
    int is_done = 0;
    if (!succeeds(MPI_Test(request, &is_done, MPI_STATUS_IGNORE), "MPI_Test"))
      return SCOPEVM_TRANSPORT_FAILED;
    if (is_done == 0) state = SCOPEVM_TRANSPORT_PENDING;
  }
  if (state == SCOPEVM_TRANSPORT_DONE && operation.has_note) state = copy(operation);
  return state == SCOPEVM_TRANSPORT_PENDING && has_ended() ? SCOPEVM_TRANSPORT_FAILED : state;
}

void MpiTransport::cancel(void*, void* operation) {
  Operation::give_up(std::unique_ptr<Operation>(static_cast<Operation*>(operation)));
}

int64_t MpiTransport::probe(void* context, int from, int tag) {
  MpiTransport& self = of(context);
  return without_exceptions<int64_t>(self.error_, kFailure,
                                     [&] { return self.find_message(from, tag); });
}

int64_t MpiTransport::find_message(int from, int tag) {
  int has_message = 0, bytes = 0;
  MPI_Status status;
  if (!succeeds(MPI_Iprobe(from, tag, comm_, &has_message, &status), "MPI_Iprobe")) return kFailure;
  if (has_message != 0)
    return succeeds(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count") ? bytes : kFailure;
  if (windows_[static_cast<size_t>(from)].is_open()) {
    std::deque<Note>& notes = probed(from, tag);
    if (!notes.empty()) return notes.front().bytes;
    if (!succeeds(MPI_Iprobe(from, tag, notes_, &has_message, &status), "MPI_Iprobe"))
      return kFailure;
    if (has_message != 0) {
      Note& note = notes.emplace_back();
      return succeeds(MPI_Recv(&note, sizeof note, MPI_BYTE, from, tag, notes_, &status),
                      "MPI_Recv")
                 ? note.bytes
                 : kFailure;
    }
  }
  return has_ended() ? kFailure : -1;
}

}  // namespace scopevm::mpi
