#!/bin/sh
# Runs the compiler through ccache. GCC would read an older precompiled header in place of the
# headers that a new one is made of, and ccache would not see that these changed; so the older one
# is removed first.
output=
previous=
for argument in "$@"; do
  [ "$previous" != -o ] || output=$argument
  previous=$argument
done
case "$output" in
  *.gch | *.pch) rm -f "$output" ;;
esac
# The sloppiness that ccache's manual asks for where headers are precompiled.
CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
export CCACHE_SLOPPINESS
exec ccache "$@"
