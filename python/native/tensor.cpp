// scopevm.Tensor: a result that offers the buffer protocol and DLPack without a copy.
#include <cstring>

#include "python/native/native.h"

namespace scopevm::python {
namespace {

struct TensorObject {
  PyObject_HEAD scopevm_tensor tensor;
};

PyTypeObject* g_type = nullptr;

scopevm_tensor& of(PyObject* self) { return reinterpret_cast<TensorObject*>(self)->tensor; }

void dealloc(PyObject* self) {
  scopevm_storage_release(of(self).storage);
  free_object(self);
}

// The dims, and then the strides in bytes; freed by release_buffer().
struct Shape {
  Py_ssize_t dims[SCOPEVM_MAX_RANK];
  Py_ssize_t strides[SCOPEVM_MAX_RANK];
};

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  const scopevm_tensor& tensor = of(self);
  const char* format = format_of(tensor.dtype);
  view->obj = nullptr;
  if ((flags & PyBUF_WRITABLE) != 0 && tensor.is_read_only != 0) {
    PyErr_SetString(PyExc_BufferError, "the tensor is read-only");
    return -1;
  }
  if (tensor.dtype == SCOPEVM_STR || (format == nullptr && (flags & PyBUF_FORMAT) != 0)) {
    PyErr_Format(PyExc_BufferError, "the buffer protocol has no format for elements of type %s",
                 scopevm_dtype_name(tensor.dtype));
    return -1;
  }
  // Without a format of its elements, the buffer consists of bytes.
  const bool is_bytes = format == nullptr;
  auto* const shape = static_cast<Shape*>(PyMem_Malloc(sizeof(Shape)));
  if (shape == nullptr) {
    PyErr_NoMemory();
    return -1;
  }
  const Py_ssize_t item = is_bytes ? 1 : static_cast<Py_ssize_t>(scopevm_dtype_bytes(tensor.dtype));
  const int rank = is_bytes ? 1 : tensor.rank;
  Py_ssize_t stride = item;
  for (int axis = rank - 1; axis >= 0; --axis) {
    shape->dims[axis] = is_bytes ? tensor.bytes : tensor.dims[axis];
    shape->strides[axis] = stride;
    stride *= shape->dims[axis];
  }
  view->buf = tensor.data;
  view->len = tensor.bytes;
  view->readonly = tensor.is_read_only;
  view->itemsize = item;
  view->format = (flags & PyBUF_FORMAT) != 0 ? const_cast<char*>(format) : nullptr;
  view->ndim = (flags & PyBUF_ND) != 0 ? rank : 1;
  view->shape = (flags & PyBUF_ND) != 0 ? shape->dims : nullptr;
  view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? shape->strides : nullptr;
  view->suboffsets = nullptr;
  view->internal = shape;
  view->obj = Py_NewRef(self);
  return 0;
}

void release_buffer(PyObject*, Py_buffer* view) { PyMem_Free(view->internal); }

// The name of a capsule that a consumer has not taken over, else null.
template <typename Managed>
void delete_capsule(PyObject* capsule) {
  constexpr bool kIsVersioned = std::is_same_v<Managed, DLManagedTensorVersioned>;
  const char* const name = kIsVersioned ? "dltensor_versioned" : "dltensor";
  if (PyCapsule_IsValid(capsule, name) == 0) return;
  auto* const managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
  managed->deleter(managed);
}

template <typename Managed>
PyObject* new_capsule(Managed* managed, const char* name) {
  PyObject* const capsule = PyCapsule_New(managed, name, delete_capsule<Managed>);
  if (capsule == nullptr) managed->deleter(managed);
  return capsule;
}

PyObject* dlpack(PyObject* self, PyObject* args, PyObject* named) {
  static const char* const kNames[] = {"stream", "max_version", "dl_device", "copy", nullptr};
  PyObject* stream = Py_None;
  PyObject* version = Py_None;
  PyObject* device = Py_None;
  PyObject* copy = Py_None;
  if (PyArg_ParseTupleAndKeywords(args, named, "|$OOOO", const_cast<char**>(kNames), &stream,
                                  &version, &device, &copy) == 0)
    return nullptr;
  if (stream != Py_None || copy == Py_True) {
    PyErr_SetString(PyExc_BufferError, "a tensor of the CPU has no stream, and is not copied");
    return nullptr;
  }
  long major = 0;
  if (version != Py_None) {
    const Ref first(PySequence_GetItem(version, 0));
    if (!first) return nullptr;
    major = PyLong_AsLong(first.get());
    if (major == -1 && PyErr_Occurred() != nullptr) return nullptr;
  }
  if (major >= 1) {
    DLManagedTensorVersioned* managed = nullptr;
    if (!check(scopevm_tensor_to_dlpack_versioned(&of(self), &managed))) return nullptr;
    return new_capsule(managed, "dltensor_versioned");
  }
  if (of(self).is_read_only != 0) {
    PyErr_SetString(PyExc_BufferError,
                    "the tensor is read-only, which DLPack before 1.0 cannot express");
    return nullptr;
  }
  DLManagedTensor* managed = nullptr;
  if (!check(scopevm_tensor_to_dlpack(&of(self), &managed))) return nullptr;
  return new_capsule(managed, "dltensor");
}

PyObject* dlpack_device(PyObject*, PyObject*) { return Py_BuildValue("(ii)", kDLCPU, 0); }

PyObject* get_shape(PyObject* self, void*) {
  const scopevm_tensor& tensor = of(self);
  Ref shape(PyTuple_New(tensor.rank));
  if (!shape) return nullptr;
  for (int axis = 0; axis < tensor.rank; ++axis) {
    PyObject* const dim = PyLong_FromLongLong(tensor.dims[axis]);
    if (dim == nullptr || PyTuple_SetItem(shape.get(), axis, dim) != 0) return nullptr;
  }
  return shape.release();
}

PyObject* get_dtype(PyObject* self, void*) {
  return PyUnicode_FromString(scopevm_dtype_name(of(self).dtype));
}

PyObject* get_bytes(PyObject* self, void*) { return PyLong_FromLongLong(of(self).bytes); }

PyObject* get_read_only(PyObject* self, void*) { return PyBool_FromLong(of(self).is_read_only); }

// The strings of a string tensor as a list, in row-major order.
PyObject* strings(PyObject* self, PyObject*) {
  const scopevm_tensor& tensor = of(self);
  if (tensor.dtype != SCOPEVM_STR) {
    PyErr_SetString(PyExc_TypeError, "not a string tensor");
    return nullptr;
  }
  Py_ssize_t count = 1;
  for (int axis = 0; axis < tensor.rank; ++axis) count *= tensor.dims[axis];
  Ref list(PyList_New(count));
  if (!list) return nullptr;
  for (Py_ssize_t i = 0; i < count; ++i) {
    const char* text = nullptr;
    size_t size = 0;
    if (!check(scopevm_tensor_string(&tensor, static_cast<size_t>(i), &text, &size)))
      return nullptr;
    // Bytes that are not UTF-8 are kept as lone surrogates, as in names of files.
    PyObject* const string =
        PyUnicode_DecodeUTF8(text, static_cast<Py_ssize_t>(size), "surrogateescape");
    if (string == nullptr || PyList_SetItem(list.get(), i, string) != 0) return nullptr;
  }
  return list.release();
}

// A tensor of u8 with the same bytes, for types without a format.
PyObject* raw(PyObject* self, PyObject*) {
  const scopevm_tensor& tensor = of(self);
  if (tensor.dtype == SCOPEVM_STR) {
    PyErr_SetString(PyExc_TypeError, "a string tensor has no bytes: use strings()");
    return nullptr;
  }
  const auto allocate = reinterpret_cast<allocfunc>(PyType_GetSlot(g_type, Py_tp_alloc));
  PyObject* const bytes = allocate(g_type, 0);
  if (bytes == nullptr) return nullptr;
  scopevm_storage_retain(tensor.storage);
  of(bytes) = tensor;
  of(bytes).dtype = SCOPEVM_U8;
  of(bytes).rank = 1;
  of(bytes).dims[0] = tensor.bytes;
  return bytes;
}

PyMethodDef kMethods[] = {
    {"__dlpack__", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(dlpack)),
     METH_VARARGS | METH_KEYWORDS, "A capsule of DLPack that shares the bytes."},
    {"__dlpack_device__", dlpack_device, METH_NOARGS, "(1, 0): the CPU."},
    {"raw", raw, METH_NOARGS, "The bytes of the elements as a Tensor of u8, without a copy."},
    {"strings", strings, METH_NOARGS, "The elements of a string tensor as a flat list of str."},
    {}};
PyGetSetDef kMembers[] = {
    {"shape", get_shape, nullptr, "The dims.", nullptr},
    {"dtype", get_dtype, nullptr, "The element type: \"f32\".", nullptr},
    {"nbytes", get_bytes, nullptr, "Size in bytes.", nullptr},
    {"is_read_only", get_read_only, nullptr, "Whether the elements must not be written.", nullptr},
    {}};
PyType_Slot kSlots[] = {
    {Py_tp_doc, const_cast<char*>("A result. It offers the buffer protocol and DLPack.")},
    {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
    {Py_tp_methods, kMethods},
    {Py_tp_getset, kMembers},
    {Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
    {Py_bf_releasebuffer, reinterpret_cast<void*>(release_buffer)},
    {0, nullptr}};
PyType_Spec kSpec = {"scopevm.Tensor", sizeof(TensorObject), 0,
                     Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, kSlots};

}  // namespace

bool add_tensor(PyObject* module) { return (g_type = add_type(module, kSpec)) != nullptr; }

const scopevm_tensor* tensor_of(PyObject* object) {
  return Py_TYPE(object) == g_type ? &of(object) : nullptr;
}

PyObject* make_result(const scopevm_tensor& owned) {
  static const auto allocate = reinterpret_cast<allocfunc>(PyType_GetSlot(g_type, Py_tp_alloc));
  Ref tensor(allocate(g_type, 0));
  if (!tensor) {
    scopevm_storage_release(owned.storage);
    return nullptr;
  }
  of(tensor.get()) = owned;
  if (hooks().as_array == nullptr) return tensor.release();
  PyObject* const convert =
      format_of(owned.dtype) != nullptr ? hooks().as_array : hooks().from_tensor;
  return PyObject_CallFunctionObjArgs(convert, tensor.get(), nullptr);
}

}  // namespace scopevm::python
