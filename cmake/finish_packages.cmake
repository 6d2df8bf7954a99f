# Makes the staged files of Debian packages follow Debian's policy: no RPATH, because the loader
# searches /usr/lib; compressed man pages; a copyright file and a changelog in each package. The
# tarball keeps the RPATH, so that it can be unpacked anywhere.
if(NOT CPACK_GENERATOR STREQUAL DEB)
  return()
endif()
file(GLOB_RECURSE files LIST_DIRECTORIES false ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/*)
foreach(file IN LISTS files)
  if(IS_SYMLINK ${file})
    continue()
  endif()
  file(READ ${file} magic LIMIT 4 HEX)
  if(magic STREQUAL 7f454c46)
    file(RPATH_REMOVE FILE ${file})
  elseif(file MATCHES "/man[0-9]/[^/]*[0-9]$")
    execute_process(COMMAND gzip -9n ${file} COMMAND_ERROR_IS_FATAL ANY)
  endif()
endforeach()

string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER ${component} key)
  set(name ${CPACK_DEBIAN_${key}_PACKAGE_NAME})
  set(folder ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/${component}/usr/share/doc/${name})
  file(MAKE_DIRECTORY ${folder})
  configure_file(${CPACK_SCOPEVM_PACKAGE_FILES}/copyright ${folder}/copyright COPYONLY)
  file(WRITE ${folder}/changelog
    "scopevm (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium\n\n"
    "  * CHANGELOG.md of the source lists the changes.\n\n"
    " -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
  execute_process(COMMAND gzip -9n ${folder}/changelog COMMAND_ERROR_IS_FATAL ANY)
endforeach()
