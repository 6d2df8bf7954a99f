# Writes PAGE, a C++ source that defines the string NAME: page.html with FOLDER/page.html, whose first
# line is the title, and with the styles and scripts of all pages, and then those of FOLDER, inserted.
#   cmake -DFOLDER=... -DNAME=... -DPAGE=... -P embed_page.cmake
file(READ ${CMAKE_CURRENT_LIST_DIR}/page.html html)
file(READ ${FOLDER}/page.html own)
string(FIND "${own}" "\n" end)
math(EXPR end "${end} + 1")
string(SUBSTRING "${own}" 0 ${end} title)
string(SUBSTRING "${own}" ${end} -1 body)
string(REPLACE "@TITLE@" "${title}" html "${html}")
string(REPLACE "@BODY@" "${body}" html "${html}")
foreach(kind IN ITEMS css js)
  file(READ ${CMAKE_CURRENT_LIST_DIR}/page.${kind} shared)
  file(READ ${FOLDER}/page.${kind} own)
  string(TOUPPER ${kind} mark)
  string(REPLACE "@${mark}@" "${shared}${own}" html "${html}")
endforeach()
file(WRITE ${PAGE} "#include <string_view>\n\nextern const std::string_view ${NAME};\n"
  "const std::string_view ${NAME} = R\"page(${html})page\";\n")
