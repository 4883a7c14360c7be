#!/bin/sh
# Source tarball and Debian packages of a build folder that is done (./dev package):
#
#   packaging/package.sh SOURCE BUILD OUT [source]
#
# OUT gets x2ir-VERSION.tar.gz, which is the same for the same commit, and, unless "source" is all that is
# asked for, *.deb. Lintian looks at these where it is installed (X2IR_LINTIAN=0: not); what it says is in
# OUT/lintian.txt, and an error or a warning fails.
set -eu

source_dir=$(cd "$1" && pwd)
build=$(cd "$2" && pwd)
mkdir -p "$3"
out=$(cd "$3" && pwd)

fail() {
  echo "package: $*" >&2
  exit 1
}
cache() { # variable of CMake
  sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"
}
version=$(cache CMAKE_PROJECT_VERSION)
name=x2ir-$version

# Files of the repository, or of the tarball that this is; as of the last commit.
list_files() {
  if git -C "$source_dir" rev-parse --git-dir >/dev/null 2>&1; then
    git -C "$source_dir" ls-files -z
  else
    (cd "$source_dir" && find . \( -path ./build -o -path './build-*' -o -name node_modules \) -prune -o \
      -type f -printf '%P\0')
  fi | LC_ALL=C sort -z
}
: "${SOURCE_DATE_EPOCH:=$(git -C "$source_dir" log -1 --format=%ct 2>/dev/null ||
  stat -c %Y "$source_dir/CMakeLists.txt")}"
export SOURCE_DATE_EPOCH
list_files | (cd "$source_dir" && tar --no-recursion --transform "s,^,$name/," \
  --owner=0 --group=0 --numeric-owner --mode='u+rw,go=rX' --mtime="@$SOURCE_DATE_EPOCH" \
  --format=ustar --null -cf - -T -) | gzip -9n >"$out/$name.tar.gz"
echo "package: $name.tar.gz"

[ "${4:-}" != source ] || exit 0
command -v dh >/dev/null && command -v dh_python3 >/dev/null && command -v dpkg-buildpackage >/dev/null || {
  echo "package: debhelper and dh-python are not installed: no Debian packages" >&2
  exit 77
}
work=$out/work
rm -rf "$work" "$out"/*.deb
mkdir -p "$work/$name"
cp -r "$source_dir/packaging/debian" "$work/$name/debian"
mkdir -p "$work/$name/tests/golden"
cp "$source_dir/tests/golden/c_symbols.txt" "$work/$name/tests/golden/"
cat >"$work/$name/debian/changelog" <<EOF
x2ir ($version-1) unstable; urgency=medium

  * Release $version; CHANGELOG.md of the source says what is in it.

 -- x2ir maintainers <maintainers@x2ir.invalid>  $(date -u -R -d "@$SOURCE_DATE_EPOCH")
EOF
(cd "$work/$name" && DEB_BUILD_OPTIONS="${DEB_BUILD_OPTIONS:-} noautodbgsym" X2IR_BUILD=$build X2IR_SOURCE=$source_dir \
  X2IR_LIBDIR=$(cache CMAKE_INSTALL_LIBDIR) dpkg-buildpackage -b -us -uc -d) \
  >"$work/dpkg-buildpackage.log" 2>&1 || {
  tail -n 40 "$work/dpkg-buildpackage.log" >&2
  fail "dpkg-buildpackage failed"
}
mv "$work"/*.deb "$work"/*.changes "$work"/*.buildinfo "$out/"
rm -rf "$work"
for deb in "$out"/*.deb; do echo "package: ${deb##*/}, $(stat -c %s "$deb") bytes"; done

[ "${X2IR_LINTIAN:-1}" != 0 ] || exit 0
if command -v lintian >/dev/null; then
  # No archive is uploaded to here, so no bug asks for the package.
  lintian --allow-root --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs \
    "$out"/*.deb >"$out/lintian.txt" 2>&1 || { cat "$out/lintian.txt"; fail "lintian has objections"; }
  echo "package: lintian has no objections"
else
  echo "*** lintian is not installed: the packages were NOT checked" >&2
fi
