#!/bin/sh
# packaging/ on this build: the tarball is the same twice, the packages hold what they should and work
# from the folder they are unpacked to, and the Dockerfile says what ./dev does.
#
#   tests/package_test.sh SOURCE BUILD
set -eu

source_dir=$1
build=$2
work=$build/package_test

fail() {
  echo "package_test: $*" >&2
  exit 1
}
rm -rf "$work"
mkdir -p "$work"

echo "== Dockerfile"
# Stages by name; what is copied comes from one that there is, and what is run first is a verb of dev.
# The image does not run as root: its user is a number, which clusters can check.
awk -v source="$source_dir" '
  { line = line $0 }
  /\\$/ { sub(/\\$/, "", line); next }
  { $0 = line; line = "" }
  /^#/ || NF == 0 { next }
  $1 == "FROM" { stages++; user = ""; if ($3 == "AS") name[$4] = 1; next }
  $1 !~ /^(RUN|COPY|WORKDIR|USER|ENTRYPOINT)$/ { print "unknown: " $0; bad = 1 }
  $1 == "COPY" && sub(/^--from=/, "", $2) && !($2 in name) { print "no stage: " $2; bad = 1 }
  $1 == "COPY" && $2 == "build" { copied = 1 }
  $1 == "USER" { user = $2 }
  $1 == "RUN" && $2 == "./dev" { verbs = verbs " " $3 }
  $1 == "ENTRYPOINT" && $0 !~ /\["[^]]*"\]$/ { print "no list: " $0; bad = 1 }
  END { if (stages != 2 || !copied || verbs != " package") { print stages, copied, verbs; bad = 1 }
        if (user !~ /^[1-9][0-9]*:[1-9][0-9]*$/) { print "runs as root"; bad = 1 }
        exit bad }' "$source_dir/packaging/Dockerfile" || fail "the Dockerfile, see above"
"$source_dir/dev" help | grep -q '^  package ' || fail "./dev has no verb package"

echo "== packages"
# Lintian is for ./dev package, whose build links what Debian has.
code=0
X2IR_DEB_COMPRESSION='-Zgzip -z1' X2IR_LINTIAN=0 sh "$source_dir/packaging/package.sh" "$source_dir" "$build" "$work/out" || code=$?
tarball=$(find "$work/out" -name 'x2ir-*.tar.gz')
tar -tzf "$tarball" >"$work/files"
for file in CMakeLists.txt dev x2ir/builder/expr.cc x2ir/c/x2ir.h packaging/debian/control; do
  grep -q "^x2ir-[0-9.]*/$file\$" "$work/files" || fail "the tarball lacks $file"
done
! grep -q '/build/' "$work/files" || fail "the tarball has files of the build"
[ "$code" != 77 ] || exit 77
[ "$code" = 0 ] || fail "packaging/package.sh failed"
cp "$tarball" "$work/first.tar.gz"
sh "$source_dir/packaging/package.sh" "$source_dir" "$build" \
  "$work/again" source
cmp "$work/first.tar.gz" "$work/again/$(basename "$tarball")" || fail "the tarball differs each time"

root=$work/root
for package in libx2ir1 libx2ir-dev x2ir python3-x2ir; do
  dpkg-deb -x "$work/out/${package}"_*.deb "$root" || fail "there is no package $package"
done
# What the maintainers' programs need is said, not carried along.
grep -q '^X2IR_PIC_ARCHIVES:PATH=.' "$build/CMakeCache.txt" ||  # then it has a copy
  dpkg-deb -f "$work/out"/libx2ir1_*.deb Depends | grep -q libabsl || fail "libx2ir1 names no Abseil"
[ "$(dpkg-deb -f "$work/out"/libx2ir-dev_*.deb Depends | cut -d' ' -f1)" = libx2ir1 ] ||
  fail "libx2ir-dev does not need libx2ir1"
for page in man/man1/x2ir.1.gz man/man1/ir2onnx.1.gz bash-completion/completions/x2ir \
  zsh/vendor-completions/_x2ir fish/vendor_completions.d/x2ir.fish; do
  [ -s "$root/usr/share/$page" ] || fail "$page is missing"
done
PYTHONPATH=$root/usr/lib/python3/dist-packages /usr/bin/python3 -c "import x2ir; print(x2ir.__file__)" |
  grep -q "^$root/" || fail "python3-x2ir cannot be imported"
"$root/usr/bin/x2ir" convert -q "$source_dir/tests/data/demo/model.onnx" -o "$work/out.onnx"
PKG_CONFIG_PATH=$(dirname "$(find "$root" -name x2ir-c.pc)")
export PKG_CONFIG_PATH
sed -n '/^```c$/,/^```$/p' "$source_dir/docs/c.md" | sed '/^```/d' >"$work/example.c"
# shellcheck disable=SC2046
${CC:-cc} "$work/example.c" $(pkg-config --cflags --libs x2ir-c) -o "$work/example" ||
  fail "libx2ir-dev does not do for docs/c.md"
LD_LIBRARY_PATH=$(dirname "$(find "$root" -name libx2ir.so.1)") \
  "$work/example" "$source_dir/tests/data/demo/model.onnx" "$work/c.onnx" 2>/dev/null ||
  fail "the program of docs/c.md failed"
echo "== ok"
