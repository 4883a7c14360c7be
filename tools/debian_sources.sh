#!/bin/sh
# Unpacks the sources of Debian packages into FOLDER/NAME, NAME being the source package, at the version that
# is installed, so that the installed headers fit them. `unicode` is the data of unicode-data, of which RE2's
# tables are made. Quick when they are there. No more is changed on the machine: the lists of packages lie
# in FOLDER too, and name the mirrors that the machine's own lists name.
#
#   tools/debian_sources.sh FOLDER NAME=PACKAGE... [unicode]     (abseil=libabsl-dev: of which package the version is)
set -eu

folder=$1
shift
mkdir -p "$folder/lists/partial" "$folder/sources"
cd "$folder"

# The machine's lists, with sources for binaries.
for list in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
  [ ! -f "$list" ] || sed -n 's/^deb \(.*\)/deb-src \1/p' "$list"
done >sources/all.list
for list in /etc/apt/sources.list.d/*.sources; do
  [ ! -f "$list" ] || { sed 's/^Types:.*/Types: deb-src/' "$list"; echo; }
done >sources/all.sources

# with_lists PROGRAM ARGS...: a program of apt with the lists of this folder.
with_lists() {
  program=$1
  shift
  "$program" -q -o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$PWD/sources" \
    -o "Dir::State::lists=$PWD/lists" -o APT::Sandbox::User=root "$@"
}
# download NAME VERSION. Mirrors drop a version when the next fix of it comes out; then that one is taken, if
# it is of the same sources.
download() {
  with_lists apt-get source --download-only "$1=$2" && return
  rm -f "$1"_*.dsc
  for other in $(with_lists apt-cache madison "$1" | cut -d'|' -f2 | tr -d ' ' | sort -ruV); do
    case "$other" in
      "$2") ;;
      "${2%-*}"-*)
        echo "$1: $other instead of $2"
        with_lists apt-get source --download-only "$1=$other" && return
        rm -f "$1"_*.dsc
        ;;
    esac
  done
  echo "$1: there are no sources of version $2" >&2
  return 1
}
updated=
for wanted in "$@"; do
  name=${wanted%%=*}
  [ ! -d "$name" ] || continue
  if [ "$name" = unicode ]; then
    apt-get -q -o APT::Sandbox::User=root download unicode-data
    dpkg -x unicode-data_*.deb unicode.new
  else
    [ -n "$updated" ] || with_lists apt-get update
    updated=yes
    download "$name" "$(dpkg-query -W -f='${source:Version}' "${wanted#*=}")"
    dpkg-source -x "${name}"_*.dsc "$name.new"
    if [ "$name" = re2 ]; then
      sed -i "s|^_UNICODE_DIR = .*|_UNICODE_DIR = '$PWD/unicode/usr/share/unicode'|" re2.new/re2/unicode.py
    fi
  fi
  mv "$name.new" "$name"
done
