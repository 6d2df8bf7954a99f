// See transport.h.
#include "plugins/mpi/transport.h"

#include <cstdlib>
#include <memory>

namespace scopevm::mpi {
namespace {

struct Operation {
  MPI_Request request = MPI_REQUEST_NULL;
};

// Ends an operation without its message.
void give_up(Operation& operation) {
  MPI_Cancel(&operation.request);
  MPI_Request_free(&operation.request);
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
  if (!succeeds(MPI_Comm_dup(MPI_COMM_WORLD, &comm_), "MPI_Comm_dup") ||
      !succeeds(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler"))
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
        .error = [](void* context) { return of(context).error_.c_str(); }};
  if (!succeeds(MPI_Comm_rank(comm_, &c_.rank), "MPI_Comm_rank") ||
      !succeeds(MPI_Comm_size(comm_, &c_.ranks), "MPI_Comm_size"))
    return false;
  if (peers_.open(comm_)) return true;
  error_ = "MPI_Allgather failed";
  return false;
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

void* MpiTransport::started(int code, const char* function, MPI_Request request) {
  return succeeds(code, function) ? new Operation{request} : nullptr;
}

void* MpiTransport::send(void* context, int to, int tag, const void* data, int64_t bytes) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int code =
      MPI_Isend(data, static_cast<int>(bytes), MPI_BYTE, to, tag, of(context).comm_, &request);
  return of(context).started(code, "MPI_Isend", request);
}

void* MpiTransport::receive(void* context, int from, int tag, void* data, int64_t bytes) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int code =
      MPI_Irecv(data, static_cast<int>(bytes), MPI_BYTE, from, tag, of(context).comm_, &request);
  return of(context).started(code, "MPI_Irecv", request);
}

int MpiTransport::test(void* context, void* operation) {
  std::unique_ptr<Operation> owned(static_cast<Operation*>(operation));
  int is_done = 0;
  if (!of(context).succeeds(MPI_Test(&owned->request, &is_done, MPI_STATUS_IGNORE), "MPI_Test"))
    return SCOPEVM_TRANSPORT_FAILED;
  if (is_done != 0) return SCOPEVM_TRANSPORT_DONE;
  if (of(context).has_ended()) {
    give_up(*owned);
    return SCOPEVM_TRANSPORT_FAILED;
  }
  (void)owned.release();  // the operation has not ended
  return SCOPEVM_TRANSPORT_PENDING;
}

void MpiTransport::cancel(void*, void* operation) {
  const std::unique_ptr<Operation> owned(static_cast<Operation*>(operation));
  give_up(*owned);
}

int64_t MpiTransport::probe(void* context, int from, int tag) {
  int has_message = 0, bytes = 0;
  MPI_Status status;
  if (!of(context).succeeds(MPI_Iprobe(from, tag, of(context).comm_, &has_message, &status),
                            "MPI_Iprobe"))
    return -2;
  if (has_message == 0) return of(context).has_ended() ? -2 : -1;
  if (!of(context).succeeds(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count")) return -2;
  return bytes;
}

}  // namespace scopevm::mpi
