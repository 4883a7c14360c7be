#!/bin/sh
# x2ir.h as others see it: compiled as C99, loaded from Python, under valgrind, by its symbols.
#
#   tests/c/c_test.sh SOURCE LIBRARY WORK PART      (CC in the environment, else cc)
#
# X2IR_UPDATE_GOLDEN=1 writes tests/golden/c_symbols.txt anew.
set -eu

source_dir=$1
library=$2
work=$3
part=$4
tests=$source_dir/tests/c
libdir=$(dirname "$library")
cc=${CC:-cc}

fail() {
  echo "c_test: $*" >&2
  exit 1
}
skip() {
  echo "c_test: $*: left out" >&2
  exit 77
}

rm -rf "$work"
mkdir -p "$work"
cd "$work"
model=$source_dir/tests/data/demo/model.onnx

compile() { # program, source
  "$cc" -std=c99 -pedantic -Wall -Wextra -Wconversion -Wstrict-prototypes -Werror -g \
    -I"$source_dir/x2ir/c" "$2" -o "$1" -L"$libdir" -lx2ir -Wl,-rpath,"$libdir" ||
    fail "$2 does not compile"
}

case "$part" in
  header)
    # As C of several years, and as C++.
    echo '#include <x2ir.h>' >header.c
    cp header.c header.cc
    for std in c99 c11 c17; do
      "$cc" -std=$std -pedantic -Wall -Wextra -Werror -fsyntax-only -I"$source_dir/x2ir/c" header.c
    done
    "${CXX:-c++}" -std=c++98 -Wall -Wextra -Werror -fsyntax-only -I"$source_dir/x2ir/c" header.cc
    ;;
  api)
    compile api "$tests/api_test.c"
    ./api "$model"
    ;;
  python)
    command -v python3 >/dev/null || skip "python3 is not installed"
    python3 "$tests/ctypes_test.py" "$library" "$model"
    ;;
  symbols)
    command -v nm >/dev/null || skip "nm is not installed"
    nm -D --defined-only "$library" | cut -d' ' -f3 | LC_ALL=C sort >symbols.txt
    [ -z "${X2IR_UPDATE_GOLDEN:-}" ] || cp symbols.txt "$tests/../golden/c_symbols.txt"
    diff "$tests/../golden/c_symbols.txt" symbols.txt ||
      fail "the library shows other symbols than $tests/../golden/c_symbols.txt; none may go (X2IR_UPDATE_GOLDEN=1)"
    # What the header declares, and nothing else.
    grep -o '\bx2ir_[a-z_]*(' "$source_dir/x2ir/c/x2ir.h" | tr -d '(' | LC_ALL=C sort -u >declared.txt
    grep '@@' symbols.txt | sed 's/@@.*//' | diff declared.txt - ||
      fail "the header and the library have different functions"
    objdump -p "$library" | grep -q 'SONAME  *libx2ir\.so\.1$' || fail "the SONAME is another one"
    ;;
  docs)
    # The page has one program, which is all that a reader needs.
    sed -n '/^```c$/,/^```$/p' "$source_dir/docs/c.md" | sed '/^```/d' >example.c
    grep -q 'int main' example.c || fail "docs/c.md has no program"
    compile example example.c
    ./example "$model" out.onnx || fail "the program of docs/c.md failed"
    [ -s out.onnx ] || fail "the program of docs/c.md wrote nothing"
    program=$libdir/../bin/x2ir
    if [ -x "$program" ]; then
      "$program" convert -q "$model" -o program.onnx --opset 17
      cmp out.onnx program.onnx || fail "the program and the library write different files"
    fi
    ! ./example "$tests/api_test.c" bad.onnx 2>said || fail "a file that is no model was converted"
    grep -q 'api_test.c' said && [ ! -e bad.onnx ] || fail "expected a message, and no file"
    for unreadable in nowhere.onnx:'No such file' "$tests":'directory' /dev/null:'empty'; do
      ! ./example "${unreadable%%:*}" bad.onnx 2>said || fail "${unreadable%%:*} was read"
      grep -q "${unreadable#*:}" said || fail "expected why ${unreadable%%:*} cannot be read"
    done
    ;;
  valgrind)
    command -v valgrind >/dev/null || skip "valgrind is not installed"
    compile api "$tests/api_test.c"
    valgrind -q --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite,possible \
      --show-leak-kinds=definite,possible ./api "$model" || fail "valgrind found something"
    ;;
  *) fail "there is no part $part" ;;
esac
