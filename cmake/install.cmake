# cmake --install: the library, its headers, the command, and find_package(scopevm).
include(CMakePackageConfigHelpers)

install(TARGETS scopevm EXPORT scopevm-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS scopevm-command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(TARGET scopevm_compiler)
  install(TARGETS scopevm_compiler LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(DIRECTORY include/scopevm DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/scopevm)
install(EXPORT scopevm-targets NAMESPACE scopevm:: DESTINATION ${package_dir})
configure_package_config_file(cmake/scopevm-config.cmake.in scopevm-config.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(scopevm-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/scopevm-config.cmake ${CMAKE_BINARY_DIR}/scopevm-config-version.cmake
  DESTINATION ${package_dir})
