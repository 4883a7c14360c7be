# Why tests were skipped, a line for each reason: "COUNT  REASON". Reads what CTest printed, which ends on the names, and
# then its log (Testing/Temporary/LastTest.log), which has what the tests said.
/ \(Skipped\)$/ && match($0, /^[ \t]+[0-9]+ - /) {
  name = substr($0, RLENGTH + 1)
  skipped[substr(name, 1, length(name) - length(" (Skipped)"))] = 1
  next
}
match($0, /^[0-9]+\/[0-9]+ Test: /) {
  test = substr($0, RLENGTH + 1)
  reason = ""
  next_line = 0
}
!(test in skipped) { next }
next_line && NF { reason = $0; next_line = 0 }
/: Skipped$/ && reason == "" { next_line = 1 } # googletest's words
sub(/^\*\*\* (ORACLE NOT RUN: |NOT RUN: )?/, "") && reason == "" { reason = $0 } # other programs'
/^<end of output>/ {
  if (reason == "") reason = "no reason is given"
  if (!(reason in count)) order[++reasons] = reason
  ++count[reason]
}
END {
  for (i = 1; i <= reasons; ++i) printf "%6d  %s\n", count[order[i]], order[i]
}
