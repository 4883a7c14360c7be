#!/bin/sh
# Builds examples/embed the way a stranger would: against an installed copy, once through the CMake
# package and once through pkg-config, and runs it. Also reads the installed headers: none of them
# may show protobuf, ONNX or JSON types.
#
#   tests/embed_test.sh SOURCE BUILD        (CMAKE and CXX in the environment, else from PATH)
set -eu

source_dir=$1
build_dir=$2
cmake=${CMAKE:-cmake}
cxx=${CXX:-c++}
work=$build_dir/embed_test

fail() {
  echo "embed_test: $*" >&2
  exit 1
}

rm -rf "$work"
mkdir -p "$work"

echo "== install"
"$cmake" --install "$build_dir" --prefix "$work/installed" >"$work/install.log" ||
  { cat "$work/install.log" >&2; fail "cmake --install failed"; }
# Moved, to see that nothing depends on where it was installed first.
prefix=$work/prefix
mv "$work/installed" "$prefix"

echo "== headers"
[ -f "$prefix/include/x2ir/graph_wrapper/graph.h" ] || fail "headers are missing"
[ ! -e "$prefix/include/x2ir/cli" ] || fail "headers of the command line are installed"
internal=$(find "$prefix/include" -name '*_internal.h')
[ -z "$internal" ] || fail "internal headers are installed: $internal"
if grep -rnE '#[[:space:]]*include[[:space:]]*[<"](google/protobuf|onnx/|nlohmann/|Eigen/|CLI/|re2/|zip\.h|.*\.pb\.h)' \
  "$prefix/include"; then
  fail "installed headers include somebody else's types, see above"
fi
# A host's own warnings are not ours to cause.
(cd "$prefix/include" && find x2ir -name '*.h' ! -path 'x2ir/handlers/*' |
  sed 's/.*/#include "&"/') >"$work/headers.cc"
"$cxx" -std=c++20 -Wall -Wextra -Wconversion -Wsign-conversion -Werror -fsyntax-only \
  -I"$prefix/include" "$work/headers.cc" || fail "the headers draw warnings, see above"
if grep -rn "$source_dir" "$prefix/lib"*/cmake "$prefix/lib"*/pkgconfig \
  "$prefix"/lib/*/cmake "$prefix"/lib/*/pkgconfig 2>/dev/null; then
  fail "the package refers to the source folder, see above"
fi

notices=$(find "$prefix" -name THIRD_PARTY_NOTICES)
[ -n "$notices" ] && [ -f "$(dirname "$notices")/LICENSE" ] || fail "the licenses are not installed"
if find "$prefix" -type f \( -name 'libx2ir*' -o -path '*/bin/*' \) \
  -exec grep -la -e "$source_dir" -e "$build_dir" {} + ; then
  fail "binaries hold paths of the machine that built them, see above"
fi

echo "== CMake package"
"$cmake" -S "$source_dir/examples/embed" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$prefix" \
  -DCMAKE_CXX_COMPILER="$cxx" >"$work/cmake.log" 2>&1 ||
  { cat "$work/cmake.log" >&2; fail "find_package(x2ir) failed"; }
"$cmake" --build "$work/cmake" >"$work/cmake_build.log" 2>&1 ||
  { cat "$work/cmake_build.log" >&2; fail "the build against the CMake package failed"; }

# A shared library has to be found at run time.
libdir=$(dirname "$(find "$prefix" -name 'libx2ir.*' | head -n 1)")
export LD_LIBRARY_PATH="$libdir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"

run() {
  mkdir -p "$work/run"
  (cd "$work/run" && "$1") || fail "$1 failed"
}
run "$work/cmake/embed"

echo "== pkg-config"
if command -v pkg-config >/dev/null 2>&1; then
  PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name x2ir.pc)")${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
  export PKG_CONFIG_PATH
  flags=$(pkg-config --cflags --libs x2ir) || fail "pkg-config does not know x2ir"
  # Words, on purpose: sources before libraries.
  # shellcheck disable=SC2086
  "$cxx" -std=c++20 "$source_dir"/examples/embed/*.cc $flags -o "$work/embed_pkgconfig" ||
    fail "the build through pkg-config failed"
  run "$work/embed_pkgconfig"
  if pkg-config --exists x2ir-c; then
    echo "== pkg-config, C"
    sed -n '/^```c$/,/^```$/p' "$source_dir/docs/c.md" | sed '/^```/d' >"$work/example.c"
    # shellcheck disable=SC2046
    ${CC:-cc} -std=c99 -pedantic -Werror "$work/example.c" $(pkg-config --cflags --libs x2ir-c) \
      -o "$work/example_c" || fail "the build of docs/c.md through pkg-config failed"
    "$work/example_c" "$source_dir/tests/data/demo/model.onnx" "$work/example.onnx" 2>/dev/null ||
      fail "the program of docs/c.md failed"
  fi
else
  echo "*** pkg-config is not installed: that half did NOT run" >&2
fi
echo "== ok"
