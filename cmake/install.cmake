# Rules of `cmake --install`, in three components:
#   runtime      libscopevm, the command `scopevm` and the licence
#   compiler     libscopevm_compiler, which `scopevm compile` loads
#   development  headers, and the CMake package for find_package(scopevm)
include(CMakePackageConfigHelpers)

install(TARGETS scopevm EXPORT scopevm-targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT development)
install(TARGETS scopevm-command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime)
if(TARGET scopevm_compiler)
  install(TARGETS scopevm_compiler
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT compiler NAMELINK_SKIP)
endif()
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)
install(DIRECTORY include/scopevm DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/scopevm)
install(EXPORT scopevm-targets NAMESPACE scopevm:: DESTINATION ${package_dir}
  COMPONENT development)
configure_package_config_file(cmake/scopevm-config.cmake.in scopevm-config.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(scopevm-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/scopevm-config.cmake ${CMAKE_BINARY_DIR}/scopevm-config-version.cmake
  DESTINATION ${package_dir} COMPONENT development)
