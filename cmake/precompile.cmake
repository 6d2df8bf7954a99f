# scopevm_precompile(HEADERS TARGET...): the targets reuse the precompiled header of HEADERS, a static
# library. It is compiled with -fPIC, so executables that reuse it need the same flag.
function(scopevm_precompile headers)
  foreach(target IN LISTS ARGN)
    target_precompile_headers(${target} REUSE_FROM ${headers})
    get_target_property(type ${target} TYPE)
    if(type STREQUAL EXECUTABLE)
      set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
      target_compile_options(${target} PRIVATE -fPIC)
    endif()
  endforeach()
endfunction()
