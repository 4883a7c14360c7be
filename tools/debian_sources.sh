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

get() {
  apt-get -q -o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$PWD/sources" \
    -o "Dir::State::lists=$PWD/lists" -o APT::Sandbox::User=root "$@"
}
updated=
for wanted in "$@"; do
  name=${wanted%%=*}
  [ ! -d "$name" ] || continue
  if [ "$name" = unicode ]; then
    apt-get -q -o APT::Sandbox::User=root download unicode-data
    dpkg -x unicode-data_*.deb unicode.new
  else
    [ -n "$updated" ] || get update
    updated=yes
    get source --download-only "$name=$(dpkg-query -W -f='${source:Version}' "${wanted#*=}")"
    dpkg-source -x "${name}"_*.dsc "$name.new"
    if [ "$name" = re2 ]; then
      sed -i "s|^_UNICODE_DIR = .*|_UNICODE_DIR = '$PWD/unicode/usr/share/unicode'|" re2.new/re2/unicode.py
    fi
  fi
  mv "$name.new" "$name"
done
