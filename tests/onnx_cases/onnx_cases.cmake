# scopevm_onnx_cases(NAME COST [OPTION...]): conformance cases that make_cases.py of the calling
# folder generates at build time, if a generator has changed: a script of the calling folder, or of a
# folder in the variable GENERATOR_FOLDERS. Adds three tests:
#   conformance.NAME             compares the outcomes of every second case with expected.txt. COST is
#                                the test property COST of ctest. OPTIONs are those of conformance.
#   conformance.NAME.odd         the other cases; its label is `long`, so only `./dev test --long`
#                                runs it
#   conformance.NAME.checksums   compares the checksums of the cases with cases.sum, one case per
#                                line. It shows the cases that another generator or NumPy version
#                                changes. To accept them, copy cases.sum from the build folder.
set(SCOPEVM_PYTHON /usr/bin/python3 CACHE FILEPATH "Python with NumPy, for generated test data")
set(SCOPEVM_ONNX_CASES ${CMAKE_CURRENT_LIST_DIR})

function(scopevm_onnx_cases name cost)
  list(TRANSFORM GENERATOR_FOLDERS APPEND /*.py OUTPUT_VARIABLE others)
  file(GLOB_RECURSE generators CONFIGURE_DEPENDS *.py ${SCOPEVM_ONNX_CASES}/*.py ${others})
  set(sums ${CMAKE_CURRENT_BINARY_DIR}/cases.sum)
  # The rounding of OpenBLAS's products depends on the CPU that it chooses its kernels for.
  add_custom_command(OUTPUT ${sums}
    COMMAND ${CMAKE_COMMAND} -E env PYTHONDONTWRITEBYTECODE=1 OPENBLAS_NUM_THREADS=1
            OPENBLAS_CORETYPE=Haswell ${SCOPEVM_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/make_cases.py
            ${CMAKE_CURRENT_BINARY_DIR}/cases
    DEPENDS ${generators}
    COMMENT "Generating the conformance cases of tests/${name}"
    VERBATIM)
  add_custom_target(${name}_cases ALL DEPENDS ${sums})
  foreach(shard IN ITEMS 0 1)
    set(test conformance.${name})
    if(shard)
      set(test conformance.${name}.odd)
    endif()
    add_test(NAME ${test} COMMAND conformance --data ${CMAKE_CURRENT_BINARY_DIR} --groups cases
      --expected ${CMAKE_CURRENT_SOURCE_DIR}/expected.txt --shard ${shard}/2 ${ARGN})
    set_tests_properties(${test} PROPERTIES COST ${cost})
  endforeach()
  set_tests_properties(conformance.${name}.odd PROPERTIES LABELS long)
  add_test(NAME conformance.${name}.checksums
    COMMAND diff -u ${CMAKE_CURRENT_SOURCE_DIR}/cases.sum ${sums})
endfunction()
