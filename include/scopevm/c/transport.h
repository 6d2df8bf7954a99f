/** @file
 * The ABI of transports: code that sends messages between the processes that run one module, its
 * ranks (docs/ranks.md). It is plain C, so that a transport can be a plug-in (a shared object that
 * scopevm loads) or a part of the embedding program. It wraps an existing engine, such as MPI.
 *
 * Messages: those from one rank to another with one tag arrive in the order in which they were
 * sent. A message is received by a call of `receive` with its exact number of bytes. Sessions use
 * tags from 1 to 128; tag 0 is for messages of the program.
 *
 * Thread-safety: a session calls the functions of its transport from one thread at a time. A
 * transport belongs to one session at a time, and to none after a failure. Callbacks must not
 * throw. */
#ifndef SCOPEVM_C_TRANSPORT_H_
#define SCOPEVM_C_TRANSPORT_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The version of this ABI. A transport of another version is not used. */
#define SCOPEVM_TRANSPORT_ABI_VERSION 1

/** A message has at most this many bytes. */
#define SCOPEVM_TRANSPORT_MAX_BYTES ((int64_t)1 << 30)

/** The state of an operation that was started. */
enum {
  SCOPEVM_TRANSPORT_PENDING = 0, /**< it has not ended */
  SCOPEVM_TRANSPORT_DONE = 1,    /**< it has ended, and the operation is released */
  SCOPEVM_TRANSPORT_FAILED = 2   /**< see `error`; the operation is released */
};

/** The connection of a process to the other ranks. Callbacks are not NULL, except those that say
 * so. */
typedef struct scopevm_transport {
  size_t struct_size; /**< the size of the structure, at least up to `error` */
  int abi_version;    /**< SCOPEVM_TRANSPORT_ABI_VERSION */
  void* context;      /**< first argument of the callbacks */
  int rank;           /**< of this process, from 0 */
  int ranks;          /**< the number of processes */
  /** Starts to send a message. The bytes must stay unchanged until the operation has ended. Returns
   * NULL on failure. */
  void* (*send)(void* context, int to, int tag, const void* data, int64_t bytes);
  /** Starts to receive a message. Returns NULL on failure. */
  void* (*receive)(void* context, int from, int tag, void* data, int64_t bytes);
  /** The state of an operation: SCOPEVM_TRANSPORT_DONE, ... Does not wait. It fails if a rank has
   * ended. */
  int (*test)(void* context, void* operation);
  /** Gives up an operation and releases it: a `receive` that no message matches, or any operation
   * after a failure. */
  void (*cancel)(void* context, void* operation);
  /** The bytes of a message of `from` with this tag that no `receive` has matched: the first one of
   * its size, which the next `receive` of this size takes. -1: none has arrived; -2: failure, also
   * if a rank has ended. */
  int64_t (*probe)(void* context, int from, int tag);
  /** The message of the last failure: "rank 1 (process 4711) has ended". Valid until the next call.
   */
  const char* (*error)(void* context);
  /** Optional: memory whose messages take less time than those of other memory, such as memory that
   * other processes can access. Sessions allocate the storages of their calls from it. Returns a
   * block that is aligned to `alignment`, a power of two, or NULL when out of memory. Both
   * functions are NULL or neither is. The transport must outlive the allocators of its
   * sessions. Thread-safe: any thread, at the same time as other functions.
   */
  void* (*allocate)(void* context, int64_t bytes, int64_t alignment);
  /** Releases a block of `allocate(bytes, ...)`, which no message uses. */
  void (*deallocate)(void* context, void* block, int64_t bytes);
} scopevm_transport;

/** The symbol that a plug-in exports. */
#define SCOPEVM_TRANSPORT_ENTRY "scopevm_transport_entry"
/** The type of SCOPEVM_TRANSPORT_ENTRY: connects this process, at the first call, and returns its
 * transport, which is valid until the process ends. On failure it returns NULL and writes a
 * NUL-terminated message to `message`, which has `message_size` bytes. */
typedef const scopevm_transport* (*scopevm_transport_open)(int abi_version, char* message,
                                                           size_t message_size);

#ifdef __cplusplus
}
#endif

#endif /* SCOPEVM_C_TRANSPORT_H_ */
