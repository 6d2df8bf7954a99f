# mlir-tblgen's page of the graph ops -> docs/ops.md: one row an op.
BEGIN {
  print "# Graph ops\n"
  print "Printed from `compiler/graph/graph_ops.td`; to change it, change the table and run `./dev docs`."
  print "How ops are written down is in [text-form.md](text-form.md); what each does exactly is in the"
  print "comments of the table. Elementwise operands broadcast as NumPy's do; `axis` and `axes` are never"
  print "negative.\n"
  print "| op | result | operands | attributes |\n|---|---|---|---|"
}
function flush_row() {
  if (op == "") return
  gsub(/\|/, "\\|", summary)
  printf "| `%s` | %s | %s | %s |\n", op, summary, operands, attributes
}
/^### `sv\./ {
  flush_row()
  split($0, parts, "`")
  op = parts[2]
  summary = operands = attributes = section = ""
  next
}
op != "" && summary == "" && /^_.*_$/ {
  # tblgen writes a capital letter; the table has none there.
  summary = tolower(substr($0, 2, 1)) substr($0, 3, length($0) - 3)
  next
}
/^#### / { section = $2; next }
/^### / { flush_row(); op = ""; next }
section == "Attributes:" && /<code>/ {
  split($0, parts, /<\/?code>/)
  attributes = attributes (attributes == "" ? "" : ", ") "`" parts[2] "`"
  next
}
section == "Operands:" && /^\| `/ {
  split($0, parts, "`")
  operands = operands (operands == "" ? "" : ", ") "`" parts[2] "`"
}
END { flush_row() }
