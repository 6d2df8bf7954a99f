// The extension module scopevm._native: the C API of libscopevm as Python types. It uses the stable
// ABI of CPython 3.11, so that one file serves all later versions.
//   native.cpp     the module: its types and functions
//   errors.cpp     a status -> a Python exception
//   dtypes.cpp     element types, formats of the buffer protocol, types of DLPack
//   inputs.cpp     Python objects -> DLTensor, without a copy
//   tensor.cpp     results -> the buffer protocol and DLPack
//   run.cpp        arguments of a call -> a run -> its results
//   interrupt.cpp  SIGINT ends a call of the main thread
// The package scopevm (../scopevm) adds records, conversions and defaults in Python.
#pragma once

#define PY_SSIZE_T_CLEAN
#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030B0000
#endif
#include <Python.h>

#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "scopevm/scopevm.h"

namespace scopevm::python {

/// One reference to a Python object. REQUIRES: the GIL is held wherever a Ref is used.
class Ref {
 public:
  Ref() = default;
  /// Takes over a reference; null after a failure.
  explicit Ref(PyObject* owned) : object_(owned) {}
  static Ref borrowed(PyObject* object) { return Ref(Py_XNewRef(object)); }
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() { Py_XDECREF(object_); }
  PyObject* get() const { return object_; }
  PyObject* release() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  PyObject* object_ = nullptr;
};

/// Releases the GIL in a block.
class WithoutGil {
 public:
  WithoutGil() : state_(PyEval_SaveThread()) {}
  ~WithoutGil() { PyEval_RestoreThread(state_); }
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  PyThreadState* state_;
};

/// Calls `body`, which returns a new reference, or null with a Python error. Memory that cannot be
/// allocated becomes a MemoryError.
template <typename Body>
auto guarded(const Body& body) -> decltype(body()) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
    return {};
  }
}

// errors.cpp
/// Sets the Python error for a status, which is released. Returns false if `status` is not null.
bool check(scopevm_status* status);
/// Sets scopevm.InvalidArgument. `subject` can be null. Returns null.
PyObject* invalid_argument(const std::string& message, const char* subject = nullptr);
/// The bytes of a string, valid as long as it; null with a Python error for other objects, and for
/// strings with a NUL.
const char* text_of(PyObject* object);

// dtypes.cpp
/// The dtype with the name, such as "f32"; -1 if there is none.
int parse_dtype(const char* name);
/// The format of the buffer protocol; null for a type without one, such as bf16.
const char* format_of(int dtype);
/// The type of DLPack. REQUIRES: `dtype` is not SCOPEVM_STR.
DLDataType dlpack_type(int dtype);
/// The type of a format of one native element and its size; bits is 0 if there is none.
DLDataType type_of_format(const char* format, Py_ssize_t item_bytes);

/// What a call, or a state, uses of a Python object until it has ended.
class Held {
 public:
  Held() = default;
  Held(Held&& other) noexcept;
  Held& operator=(Held&&) = delete;
  ~Held();
  Py_buffer view = {};  // view.obj is null if there is none
  Ref object;           // a Tensor or a capsule of DLPack
};

/// A tensor argument. Exactly one of `tensor` and `shared` is used.
struct Argument {
  DLTensor tensor = {};
  scopevm_tensor shared = {};   // not empty for scopevm.Tensor; borrowed from `held`
  scopevm_tensor strings = {};  // not empty for new string tensors; owned
  int64_t dims[SCOPEVM_MAX_RANK];
  int64_t strides[SCOPEVM_MAX_RANK];
  Held held;
  Argument() = default;
  Argument(const Argument&) = delete;
  Argument& operator=(const Argument&) = delete;
  ~Argument() { scopevm_storage_release(strings.storage); }
  const scopevm_tensor* owned() const {
    return shared.data != nullptr ? &shared : strings.data != nullptr ? &strings : nullptr;
  }
};

// inputs.cpp
/// Reads an object as a tensor with elements of `dtype`; `name` is that of the input, for messages.
/// An array of another element type is read as it is: the library words the error.
bool read_argument(PyObject* object, int dtype, const char* name, Argument& out);
/// Reads a writable, C-contiguous buffer.
bool read_output(PyObject* object, const char* name, Argument& out);

// tensor.cpp
PyTypeObject* tensor_type();
bool add_tensor(PyObject* module);
/// The tensor of a scopevm.Tensor; null if `object` is not one.
const scopevm_tensor* tensor_of(PyObject* object);
/// A scopevm.Tensor, or an array of NumPy without a copy if NumPy is used. Takes over the reference
/// to the storage.
PyObject* make_result(const scopevm_tensor& owned);

/// An input or output of a module. Pointers are valid as long as the module.
struct Value {
  const char* name;
  Ref text;  // the name
  int kind;
  int dtype;
};

/// Reads the members of a Python list or tuple of pairs (str, int).
struct NamedNumbers {
  std::vector<Ref> owners;
  std::vector<const char*> names;
  std::vector<int64_t> values;
  bool read(PyObject* pairs, const char* what);
};

struct ModuleObject {
  PyObject_HEAD scopevm_module* module;
  std::vector<Value>* inputs;
  std::vector<Value>* outputs;
};
PyTypeObject* module_type();
bool add_module(PyObject* module);
/// bound.cpp: Module._bound(names and least values, most values or None, threads).
PyObject* module_bound(PyObject* self, PyObject* arguments);

struct SchedulerObject {
  PyObject_HEAD scopevm_scheduler* scheduler;
};
PyTypeObject* scheduler_type();
bool add_scheduler(PyObject* module);

/// A call of the C API, and what its inputs and outputs use.
struct CallSlot {
  scopevm_call* call = nullptr;
  std::vector<Held> held;
  std::vector<size_t> set_inputs;
  std::vector<std::pair<size_t, Ref>> outputs;  // buffers of the caller
  bool has_state = false;
  bool is_busy = false;  // guarded by the GIL
  ~CallSlot();
  /// Releases the inputs, the buffers and the results, so that the call can be used again.
  void reset();
};

struct SessionObject {
  PyObject_HEAD scopevm_session* session;
  ModuleObject* module;
  PyObject* scheduler;  // or null
  PyObject* results;    // the type of the results of several outputs
  std::vector<CallSlot*>* idle;
  int rank;  // of a job; 0 without a transport
};
PyTypeObject* session_type();
bool add_session(PyObject* module);

struct StateObject {
  PyObject_HEAD scopevm_state* state;
  SessionObject* session;
};
PyTypeObject* state_type();
bool add_state(PyObject* module);

bool add_call(PyObject* module);
/// Cancels the calls in flight and waits for their ends. Later submissions fail.
PyObject* end_calls(PyObject* module, PyObject* unused);

// run.cpp
/// The options of a run, and of a submission.
struct RunArguments {
  int64_t timeout_ns = 0;
  uint64_t request_id = 0;
  long priority = 0;
  NamedNumbers budget;
  Ref done;
  bool is_submission = false;
};
/// Sets the inputs, buffers and state of a call from the arguments of a Python call.
bool bind(SessionObject* session, CallSlot& slot, PyObject* args, PyObject* named,
          RunArguments& out);
/// Runs a bound call without the GIL. Sets a Python error if it fails.
bool run(CallSlot& slot, const RunArguments& arguments);
/// The results of a call that has ended: one object, or an object of the session's type.
PyObject* results_of(SessionObject* session, CallSlot& slot);
/// Session.__call__
PyObject* call_session(PyObject* self, PyObject* args, PyObject* named);

// interrupt.cpp
/// While it exists on the main thread, SIGINT sets a flag in addition to what it does otherwise.
class InterruptFlag {
 public:
  InterruptFlag();
  ~InterruptFlag();
  InterruptFlag(const InterruptFlag&) = delete;
  InterruptFlag& operator=(const InterruptFlag&) = delete;
  /// The flag; null on other threads.
  const unsigned char* flag() const;

 private:
  bool is_active_;
};

/// Functions and types of the package, which native.cpp receives.
struct Hooks {
  PyObject* make_error;   // (code, message, subject, axis, expected, given) -> exception
  PyObject* to_argument;  // (object, dtype, name) -> what read_argument() reads
  PyObject* from_tensor;  // (Tensor) -> result; null: without NumPy
  PyObject* as_array;     // numpy.asarray; null: without NumPy
  unsigned long main_thread;
};
Hooks& hooks();

/// Creates a type and adds it to the module. Returns a reference that is never released.
PyTypeObject* add_type(PyObject* module, PyType_Spec& spec);
/// Frees the memory of an object of a heap type.
void free_object(PyObject* self);

}  // namespace scopevm::python
