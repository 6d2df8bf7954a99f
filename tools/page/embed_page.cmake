# Writes PAGE, a C++ source that defines the string NAME: FOLDER/page.html with the styles and
# scripts of all pages, and then those of FOLDER, inserted.
#   cmake -DFOLDER=... -DNAME=... -DPAGE=... -P embed_page.cmake
file(READ ${FOLDER}/page.html html)
foreach(kind IN ITEMS css js)
  file(READ ${CMAKE_CURRENT_LIST_DIR}/page.${kind} shared)
  file(READ ${FOLDER}/page.${kind} own)
  string(TOUPPER ${kind} mark)
  string(REPLACE "@${mark}@" "${shared}${own}" html "${html}")
endforeach()
file(WRITE ${PAGE} "#include <string_view>\n\nextern const std::string_view ${NAME};\n"
  "const std::string_view ${NAME} = R\"page(${html})page\";\n")
