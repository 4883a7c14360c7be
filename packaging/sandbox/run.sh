#!/bin/sh
# x2ir on files from strangers: it sees the folder IN, which it cannot change, writes the folder OUT, and
# has neither a network nor other system calls than it needs. Names of files are /in/... and /out/...
#
#   packaging/sandbox/run.sh IN OUT ARGUMENT...
#   packaging/sandbox/run.sh uploads converted convert /in/model.keras -o model.onnx
#
# Needs bubblewrap, and python3-seccomp for the list of system calls (X2IR_SECCOMP=: without it). X2IR is
# the program, by default the one in PATH.
set -eu

[ $# -ge 3 ] || { echo "usage: run.sh IN OUT ARGUMENT..." >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
in=$1 out=$2
shift 2
program=$(command -v "${X2IR:-x2ir}")
if [ -n "${X2IR_SECCOMP-yes}" ]; then
  filter=$(mktemp)
  exec 9<>"$filter"
  rm "$filter"
  /usr/bin/python3 "$here/seccomp_filter.py" >&9
  set -- --seccomp 9 /x2ir "$@"
  # The filter is read from where it begins.
  exec 9</dev/fd/9
else
  set -- /x2ir "$@"
fi
exec bwrap --unshare-all --die-with-parent --new-session --cap-drop ALL --clearenv --setenv PATH /usr/bin \
  --ro-bind /usr /usr --symlink usr/lib /lib --symlink usr/lib64 /lib64 --symlink usr/bin /bin \
  --proc /proc --dev /dev --tmpfs /tmp --ro-bind "$program" /x2ir \
  --ro-bind "$in" /in --bind "$out" /out --chdir /out "$@"
