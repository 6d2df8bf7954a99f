/** @file
 * The C API. Handles are opaque. Programs that load the library with dlopen compare
 * scopevm_api_version() with SCOPEVM_API_VERSION.
 *
 * Errors: a function that can fail returns NULL on success. Otherwise it returns a status, which
 * the caller releases with scopevm_status_free(). Out parameters are set on success only.
 *
 * NULL: a NULL handle, string or out parameter is an error, unless stated otherwise, and so is a
 * NULL array that has elements. The _free functions ignore NULL. The functions that return no
 * status return 0, NULL or -1 for a NULL handle.
 *
 * Structs: a struct begins with struct_size, its size in the header with which the caller was
 * compiled, and later versions add members at its end. A member that is 0 has its default. A struct
 * that is smaller than in the first version of this API is an error. So is a struct of a newer
 * version if it sets a member that this library lacks: an option is used or refused. Functions that
 * fill in a struct write the members that fit. Arrays of structs have the size of an element in
 * addition to the number of elements.
 *
 * Ownership: the caller releases each handle with its _free function. A returned string is owned by
 * the object passed to the function. It is valid as long as that object, unless stated otherwise.
 *
 * Thread-safety: modules, sessions, schedulers and allocators can be used by several threads
 * concurrently. A call must be used by one thread at a time, except for scopevm_call_cancel(),
 * scopevm_call_wait() and scopevm_call_is_in_flight(). So must a state. */
#ifndef SCOPEVM_SCOPEVM_H_
#define SCOPEVM_SCOPEVM_H_

#include "scopevm/c/allocator.h"
#include "scopevm/c/call.h"
#include "scopevm/c/execution.h"
#include "scopevm/c/module.h"
#include "scopevm/c/monitor.h"
#include "scopevm/c/scheduler.h"
#include "scopevm/c/session.h"
#include "scopevm/c/state.h"
#include "scopevm/c/status.h"
#include "scopevm/c/tensor.h"

#endif /* SCOPEVM_SCOPEVM_H_ */
