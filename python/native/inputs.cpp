// Python objects as tensors of a call, without a copy: the buffer protocol, DLPack, scopevm.Tensor.
// The package converts all other objects (../scopevm/_convert.py).
#include <cstring>

#include "python/native/native.h"

namespace scopevm::python {
namespace {

// A capsule of DLPack stays the owner: the tensor is borrowed while the capsule exists.
bool read_capsule(Ref capsule, const char* name, Argument& out) {
  PyObject* const object = capsule.get();
  if (PyCapsule_IsValid(object, "dltensor_versioned") != 0) {
    const auto* const managed =
        static_cast<DLManagedTensorVersioned*>(PyCapsule_GetPointer(object, "dltensor_versioned"));
    if (managed->version.major != DLPACK_MAJOR_VERSION)
      return invalid_argument("input \"" + std::string(name) + "\": DLPack version " +
                                  std::to_string(managed->version.major) + ", expected " +
                                  std::to_string(DLPACK_MAJOR_VERSION),
                              name) != nullptr;
    out.tensor = managed->dl_tensor;
  } else if (PyCapsule_IsValid(object, "dltensor") != 0) {
    out.tensor = static_cast<DLManagedTensor*>(PyCapsule_GetPointer(object, "dltensor"))->dl_tensor;
  } else {
    return invalid_argument("input \"" + std::string(name) +
                                "\": __dlpack__() did not return a capsule of DLPack",
                            name) != nullptr;
  }
  out.held.object = std::move(capsule);
  return true;
}

// 1: read; 0: the object does not produce DLPack; -1: a Python error.
int read_dlpack(PyObject* object, const char* name, Argument& out) {
  const Ref method(PyObject_GetAttrString(object, "__dlpack__"));
  if (!method) {
    if (PyErr_ExceptionMatches(PyExc_AttributeError) == 0) return -1;
    PyErr_Clear();
    return 0;
  }
  const Ref none(PyTuple_New(0));
  const Ref named(Py_BuildValue("{s:(ii)}", "max_version", DLPACK_MAJOR_VERSION, 0));
  if (!none || !named) return -1;
  Ref capsule(PyObject_Call(method.get(), none.get(), named.get()));
  if (!capsule && PyErr_ExceptionMatches(PyExc_TypeError) != 0) {  // a producer before DLPack 1
    PyErr_Clear();
    capsule = Ref(PyObject_CallNoArgs(method.get()));
  }
  if (!capsule) return -1;
  return read_capsule(std::move(capsule), name, out) ? 1 : -1;
}

// Describes held.view as a tensor. False without a Python error if the library cannot use the
// memory as it is: other formats, unaligned elements, or strides that are no multiples of elements.
bool describe_view(Argument& out) {
  const Py_buffer& view = out.held.view;
  const DLDataType type = type_of_format(view.format, view.itemsize);
  if (type.bits == 0 || view.suboffsets != nullptr || view.ndim > SCOPEVM_MAX_RANK) return false;
  if (reinterpret_cast<uintptr_t>(view.buf) % static_cast<size_t>(view.itemsize) != 0) return false;
  for (int axis = 0; axis < view.ndim; ++axis) {
    out.dims[axis] = view.shape[axis];
    if (view.strides == nullptr) continue;
    if (view.strides[axis] % view.itemsize != 0) return false;
    out.strides[axis] = view.strides[axis] / view.itemsize;
  }
  out.tensor = {view.buf, {kDLCPU, 0}, view.ndim, type, out.dims, nullptr, 0};
  if (view.strides != nullptr) out.tensor.strides = out.strides;
  return true;
}

// Like read_dlpack().
int read_buffer(PyObject* object, Argument& out) {
  if (PyObject_CheckBuffer(object) == 0) return 0;
  if (PyObject_GetBuffer(object, &out.held.view, PyBUF_RECORDS_RO) != 0) {
    // Arrays whose element type has no format, such as bfloat16.
    if (PyMemoryView_Check(object) != 0 || (PyErr_ExceptionMatches(PyExc_BufferError) == 0 &&
                                            PyErr_ExceptionMatches(PyExc_ValueError) == 0))
      return -1;
    PyErr_Clear();
    out.held.view = {};
    return 0;
  }
  if (describe_view(out)) return 1;
  PyBuffer_Release(&out.held.view);
  out.held.view = {};
  return 0;
}

// Reads ("str", [bytes, ...], (dim, ...)).
bool read_strings(PyObject* texts, PyObject* dims, Argument& out) {
  const Py_ssize_t count = PyList_Size(texts);
  const Py_ssize_t rank = PyTuple_Size(dims);
  if (count < 0 || rank < 0) return false;
  std::vector<const char*> strings(static_cast<size_t>(count));
  std::vector<size_t> sizes(strings.size());
  for (Py_ssize_t i = 0; i < count; ++i) {
    char* bytes = nullptr;
    Py_ssize_t size = 0;
    if (PyBytes_AsStringAndSize(PyList_GetItem(texts, i), &bytes, &size) != 0) return false;
    strings[static_cast<size_t>(i)] = bytes;
    sizes[static_cast<size_t>(i)] = static_cast<size_t>(size);
  }
  std::vector<int64_t> shape;
  for (Py_ssize_t i = 0; i < rank; ++i)
    shape.push_back(PyLong_AsLongLong(PyTuple_GetItem(dims, i)));
  if (PyErr_Occurred() != nullptr) return false;
  const scopevm_strings given = {strings.data(), sizes.data(), shape.data(), shape.size()};
  return check(scopevm_tensor_from_strings(&given, strings.size(), &out.strings));
}

// Reads what Hooks::to_argument has returned.
bool read_converted(PyObject* object, const char* name, Argument& out) {
  if (PyTuple_Check(object) == 0) {
    const int found = read_buffer(object, out);
    if (found == 0)
      invalid_argument("input \"" + std::string(name) + "\": unsupported element type", name);
    return found == 1;
  }
  const char* dtype = nullptr;
  PyObject* values = nullptr;
  PyObject* dims = nullptr;
  if (PyArg_ParseTuple(object, "sO|O", &dtype, &values, &dims) == 0) return false;
  if (dims != nullptr) return read_strings(values, dims, out);
  if (read_buffer(values, out) != 1) {
    if (PyErr_Occurred() == nullptr) PyErr_SetString(PyExc_TypeError, "invalid conversion");
    return false;
  }
  out.tensor.dtype = dlpack_type(parse_dtype(dtype));
  return true;
}

}  // namespace

Held::Held(Held&& other) noexcept : object(std::move(other.object)) {
  view = std::exchange(other.view, {});
}

Held::~Held() {
  if (view.obj != nullptr) PyBuffer_Release(&view);
}

bool read_argument(PyObject* object, int dtype, const char* name, Argument& out) {
  if (const scopevm_tensor* const tensor = tensor_of(object)) {
    out.shared = *tensor;
    out.held.object = Ref::borrowed(object);
    return true;
  }
  const bool is_scalar = PyFloat_Check(object) != 0 || PyLong_Check(object) != 0 ||
                         PyList_Check(object) != 0 || PyTuple_Check(object) != 0;
  if (!is_scalar && dtype != SCOPEVM_STR) {
    int found = read_buffer(object, out);
    // NumPy's own arrays without a format have no DLPack form either: they are converted.
    if (found == 0 && PyObject_CheckBuffer(object) == 0) found = read_dlpack(object, name, out);
    if (found != 0) return found == 1;
  }
  const Ref converted(
      PyObject_CallFunction(hooks().to_argument, "Oss", object, scopevm_dtype_name(dtype), name));
  return converted && read_converted(converted.get(), name, out);
}

bool read_output(PyObject* object, const char* name, Argument& out) {
  const std::string where = "output \"" + std::string(name) + "\": ";
  if (const scopevm_tensor* const tensor = tensor_of(object)) {
    out.shared = *tensor;
    out.held.object = Ref::borrowed(object);
    return true;
  }
  if (PyObject_CheckBuffer(object) == 0)
    return invalid_argument(
               where + "expected a writable buffer, given " +
                   [&] {
                     const Ref type(PyType_GetName(Py_TYPE(object)));
                     const char* const text = type ? text_of(type.get()) : nullptr;
                     PyErr_Clear();
                     return std::string(text == nullptr ? "another object" : text);
                   }(),
               name) != nullptr;
  if (PyObject_GetBuffer(object, &out.held.view, PyBUF_RECORDS) != 0) {
    out.held.view = {};
    PyErr_Clear();
    return invalid_argument(where + "the buffer is read-only, or its element type has no format",
                            name) != nullptr;
  }
  if (PyBuffer_IsContiguous(&out.held.view, 'C') == 0)
    return invalid_argument(where + "expected a C-contiguous buffer", name) != nullptr;
  if (!describe_view(out))
    return invalid_argument(where + "expected an aligned buffer of numbers, given format \"" +
                                (out.held.view.format == nullptr ? "" : out.held.view.format) +
                                "\"",
                            name) != nullptr;
  return true;
}

}  // namespace scopevm::python
