# Rules of `cmake --install`, in components (docs/install.md). cmake/packages.cmake makes a Debian
# package of each:
#   runtime      libscopevm, libscopevm_plan, the licence
#   command      the command `scopevm` with its man page and completion
#   lab          the program of `scopevm alloc`, and the library that it preloads
#   compiler     libscopevm_compiler with its package files; the program of `scopevm compile` and
#                `scopevm explain`
#   opt          scopevm-opt with its man page and completion; not packaged, because it needs the
#                shared libraries of LLVM
#   serve        the program of `scopevm serve`, and its unit for systemd
#   dnnl         the plug-in libscopevm_dnnl.so, if oneDNN was found
#   mpi          the plug-in libscopevm_mpi.so, if MPI was found
#   triton       the back end of Triton, in lib/triton/backends (plugins/triton/CMakeLists.txt); not
#                packaged, because Triton is distributed as a container
#   python       the Python package, if it is built (python/CMakeLists.txt)
#   development  headers, the static library, the files for CMake and pkg-config, documentation and
#                examples
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/scopevm)
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
# The prefix relative to pkgconfig_dir, so that an installation can be moved.
file(RELATIVE_PATH pkgconfig_to_prefix /${pkgconfig_dir} /)

# Installs the targets file that scopevm-config.cmake includes for a package component.
function(install_targets name component)
  install(EXPORT scopevm-${name} NAMESPACE scopevm:: FILE scopevm-${name}.cmake
    DESTINATION ${package_dir} COMPONENT ${component})
endfunction()

# Configures cmake/NAME.pc.in.
function(install_pkgconfig name component)
  configure_file(cmake/${name}.pc.in ${name}.pc @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/${name}.pc DESTINATION ${pkgconfig_dir} COMPONENT ${component})
endfunction()

install(TARGETS scopevm EXPORT scopevm-runtime
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT development)
install(TARGETS scopevm_plan EXPORT scopevm-plan
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT development)
install(TARGETS scopevm-command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT command)
install(FILES ${CMAKE_BINARY_DIR}/reference/scopevm.man RENAME scopevm.1
  DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT command)
install(FILES ${CMAKE_BINARY_DIR}/reference/scopevm.bash RENAME scopevm
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT command)
install(TARGETS scopevm-lab RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/scopevm
  COMPONENT lab)
install(TARGETS scopevm_record LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT lab)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)

if(TARGET scopevm_compiler)
  install(TARGETS scopevm_compiler EXPORT scopevm-compiler
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT compiler)
  install(TARGETS scopevm-compile RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/scopevm
    COMPONENT compiler)
  install(TARGETS scopevm-opt RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT opt)
  install(FILES ${CMAKE_BINARY_DIR}/reference/scopevm-opt.man RENAME scopevm-opt.1
    DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT opt)
  install(FILES tools/opt/completion.bash RENAME scopevm-opt
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT opt)
  install_targets(compiler compiler)
  install_pkgconfig(scopevm-compiler compiler)
endif()

if(TARGET scopevm-serve)
  install(TARGETS scopevm-serve RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/scopevm
    COMPONENT serve)
  install(FILES tools/serve/scopevm-serve.service
    DESTINATION lib/systemd/system COMPONENT serve)
endif()

if(TARGET scopevm_dnnl)
  install(TARGETS scopevm_dnnl LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dnnl)
endif()

if(TARGET scopevm_mpi)
  install(TARGETS scopevm_mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT mpi)
endif()

install(TARGETS scopevm_static EXPORT scopevm-static
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
install(FILES README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT development)
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT development
  PATTERN Doxyfile EXCLUDE)
install(DIRECTORY include/scopevm DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
install_targets(runtime development)
install_targets(static development)
install_targets(plan development)
install_pkgconfig(scopevm development)
install_pkgconfig(scopevm-static development)
install_pkgconfig(scopevm-plan development)
configure_package_config_file(cmake/scopevm-config.cmake.in scopevm-config.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(scopevm-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/scopevm-config.cmake ${CMAKE_BINARY_DIR}/scopevm-config-version.cmake
  DESTINATION ${package_dir} COMPONENT development)
