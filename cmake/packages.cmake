# The Debian packages, and a tarball of everything: `cpack -G DEB`, `cpack -G TGZ` in the build
# folder; `./dev package` does both (docs/packages.md). A package is a component of
# cmake/install.cmake.
set(CPACK_PACKAGE_NAME scopevm)
set(CPACK_PACKAGE_VENDOR scopevm)
set(CPACK_PACKAGE_CONTACT "scopevm maintainers <maintainers@scopevm.invalid>")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "compiler and virtual machine for neural networks")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE gzip)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/cmake/finish_packages.cmake)
set(CPACK_SCOPEVM_PACKAGE_FILES ${CMAKE_SOURCE_DIR}/cmake/packages)  # for finish_packages.cmake
set(CPACK_COMPONENTS_ALL "")
set(has_libraries runtime lab compiler dnnl mpi)

# Adds the package of a component: its name and description, and the other packages that it needs.
# Each line of the long description is indented by a space, as Debian's format requires.
function(scopevm_package component name summary description)
  string(TOUPPER ${component} key)
  string(REPLACE ";" ", " depends "${ARGN}")
  set(CPACK_DEBIAN_${key}_PACKAGE_NAME ${name} PARENT_SCOPE)
  set(CPACK_COMPONENT_${key}_DESCRIPTION "${summary}\n${description}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${key}_PACKAGE_DEPENDS "${depends}" PARENT_SCOPE)
  if(component IN_LIST has_libraries)
    set(CPACK_DEBIAN_${key}_PACKAGE_CONTROL_EXTRA ${CPACK_SCOPEVM_PACKAGE_FILES}/triggers PARENT_SCOPE)
  endif()
  list(APPEND CPACK_COMPONENTS_ALL ${component})
  set(CPACK_COMPONENTS_ALL ${CPACK_COMPONENTS_ALL} PARENT_SCOPE)
endfunction()

set(same "(= ${PROJECT_VERSION})")
scopevm_package(runtime libscopevm0 "runtime library of scopevm"
  "Loads modules that scopevm compiled from neural networks, and runs them.\nIts memory is known exactly before a request runs."
  "libtbb12")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
scopevm_package(command scopevm "virtual machine for neural networks"
  "The command scopevm runs, inspects, signs and measures modules. The packages\nscopevm-compiler, scopevm-serve and scopevm-lab add commands."
  "libscopevm0 ${same}")
set(CPACK_DEBIAN_COMMAND_PACKAGE_RECOMMENDS "scopevm-compiler")
set(CPACK_DEBIAN_COMMAND_PACKAGE_SUGGESTS "scopevm-serve, scopevm-lab")
scopevm_package(lab scopevm-lab "memory laboratory of scopevm"
  "Plans memory, and records, replays, compares and plots allocations of programs:\nthe commands scopevm alloc."
  "scopevm ${same}")
scopevm_package(development libscopevm-dev "development files of scopevm"
  "Headers, the static library, files for CMake and pkg-config, documentation and\nexamples."
  "libscopevm0 ${same}")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
if(TARGET scopevm_compiler)
  scopevm_package(compiler scopevm-compiler "compiler of scopevm"
    "Compiles ONNX models to modules, and explains them: the commands scopevm compile\nand scopevm explain, and the library of the compiler."
    "scopevm ${same}")
endif()
if(TARGET scopevm-serve)
  scopevm_package(serve scopevm-serve "server for neural networks"
    "Answers the Open Inference Protocol over HTTP and gRPC for a folder of models,\nwithin exact memory."
    "scopevm ${same}")
  set(CPACK_DEBIAN_SERVE_PACKAGE_SECTION net)
  set(CPACK_DEBIAN_SERVE_PACKAGE_RECOMMENDS "scopevm-compiler")
endif()
if(TARGET scopevm_python_native)
  scopevm_package(python python3-scopevm "Python package of scopevm"
    "Compiles models, loads modules and runs them from Python, with NumPy arrays and\nother tensors without copies."
    "libscopevm0 ${same}" "python3 (>= 3.11)")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_RECOMMENDS "python3-numpy")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS "scopevm-compiler")
endif()
if(TARGET scopevm_triton)
  scopevm_package(triton scopevm-triton "back end of scopevm for Triton"
    "Runs modules in NVIDIA's Triton Inference Server, from /usr/lib/triton/backends."
    "libscopevm0 ${same}")
endif()
if(TARGET scopevm_dnnl)
  scopevm_package(dnnl libscopevm-dnnl0 "oneDNN plug-in of scopevm"
    "Computes the external functions of modules that were compiled for oneDNN."
    "libscopevm0 ${same}")
  set(CPACK_DEBIAN_DNNL_PACKAGE_SECTION libs)
endif()
if(TARGET scopevm_mpi)
  scopevm_package(mpi libscopevm-mpi0 "MPI plug-in of scopevm"
    "Connects the processes of jobs that run one module on several ranks."
    "libscopevm0 ${same}")
  set(CPACK_DEBIAN_MPI_PACKAGE_SECTION libs)
endif()
include(CPack)
