# Installs COMPONENTS of the build to an empty prefix and builds examples/embed against this prefix.
# Then runs the example with MODULE and checks its output.
#   cmake -DBUILD=... -DSOURCE=... -DSCRATCH=... -DCOMPILER=... -DMODULE=... -DCOMPONENTS=...
#         -DFLAGS=... -P check.cmake
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${ARGN}: exit ${code}\n${out}")
  endif()
  set(out "${out}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${SCRATCH})
foreach(component IN LISTS COMPONENTS)
  run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${SCRATCH}/prefix --component ${component})
endforeach()
run(${CMAKE_COMMAND} -S ${SOURCE}/examples/embed -B ${SCRATCH}/build -G Ninja
    -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_PREFIX_PATH=${SCRATCH}/prefix
    -DCMAKE_CXX_FLAGS=${FLAGS} -DCMAKE_EXE_LINKER_FLAGS=${FLAGS})
run(${CMAKE_COMMAND} --build ${SCRATCH}/build)
run(${SCRATCH}/build/embed ${MODULE} n=2)
# Each element is (1 + 1) * 2. The bounds are those of sum_contents() in
# tests/vm/modules/test_modules.h for n=2 and one thread.
set(expected "z: 4 4 4 4 4 4 4 4\nglobal.workspace: 96 bytes bound\nglobal: 32 bytes bound\n")
if(NOT out STREQUAL expected)
  message(FATAL_ERROR "embed printed\n${out}instead of\n${expected}")
endif()
