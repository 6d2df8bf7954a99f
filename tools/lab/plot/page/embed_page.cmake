# Writes PAGE, a C++ source that contains page.html with page.css and page.js inserted.
#   cmake -DFOLDER=... -DPAGE=... -P embed_page.cmake
file(READ ${FOLDER}/page.html html)
file(READ ${FOLDER}/page.css css)
file(READ ${FOLDER}/page.js js)
string(REPLACE "@CSS@" "${css}" html "${html}")
string(REPLACE "@JS@" "${js}" html "${html}")
file(WRITE ${PAGE} "#include <string_view>\n\nextern const std::string_view kPageTemplate;\n"
  "const std::string_view kPageTemplate = R\"page(${html})page\";\n")
