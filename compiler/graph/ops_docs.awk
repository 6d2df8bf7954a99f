# Converts mlir-tblgen's page of the graph ops to docs/ops.md, with one row per op.
BEGIN {
  print "# Graph ops\n"
  print "Generated from `compiler/graph/FAMILY/ops.td` by `./dev docs`. [assembly.md](assembly.md)"
  print "describes the syntax of ops; comments in the table define each op exactly. Elementwise operands"
  print "broadcast as in NumPy; `axis` and `axes` are never negative.\n"
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
  # tblgen capitalises the first letter of a summary; the table does not.
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
