#!/bin/sh
# Archives of Abseil, RE2 and image codecs that a shared library may link, in FOLDER: Debian's are made for
# programs (their thread-local variables are). They are built of Debian's own sources, at the version
# that is installed, so that the installed headers go with them.
#
#   python/pic_archives.sh FOLDER
set -eu

folder=$1
[ ! -f "$folder/done" ] || exit 0
mkdir -p "$folder/work"
"$(dirname "$0")/../tools/debian_sources.sh" "$folder/work" unicode abseil=libabsl-dev re2=libre2-dev
folder=$(cd "$folder" && pwd)
cd "$folder/work"

cmake -S abseil -B abseil-build -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_STANDARD=17 \
  -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DCMAKE_CXX_FLAGS="-fvisibility=hidden -ffile-prefix-map=$PWD=." \
  ${CMAKE_CXX_COMPILER_LAUNCHER:+-DCMAKE_CXX_COMPILER_LAUNCHER=$CMAKE_CXX_COMPILER_LAUNCHER} >configure.log
cmake --build abseil-build --parallel "$(nproc)" \
  --target statusor synchronization str_format_internal hash raw_hash_set
make -C re2 --jobs "$(nproc)" obj/libre2.a REBUILD_TABLES=1 CXX="${CMAKE_CXX_COMPILER_LAUNCHER:-} c++" \
  CXXFLAGS="-O2 -std=c++17 -pthread -fPIC -fvisibility=hidden -ffile-prefix-map=$PWD=."
# Debian's archives of the image codecs have no thread-local variables of that kind, only stderr and stdout
# where a program has them: they get others, which are set when the library is loaded.
cat >stdio.c <<'END'
#include <stdio.h>
FILE *x2ir_stderr, *x2ir_stdout;
__attribute__((constructor)) static void Set(void) {
  x2ir_stderr = stderr;
  x2ir_stdout = stdout;
}
END
cc -O2 -fPIC -fvisibility=hidden -c stdio.c
ar rcs "$folder/libx2ir_stdio.a" stdio.o
for library in jpeg png16 webp openjp2; do
  archive=$(cc -print-file-name=lib$library.a)
  [ ! -f "$archive" ] || objcopy --redefine-sym stderr=x2ir_stderr --redefine-sym stdout=x2ir_stdout \
    "$archive" "$folder/lib$library.a"
done
find abseil-build re2/obj -name '*.a' -exec cp {} "$folder" \;
touch "$folder/done"
