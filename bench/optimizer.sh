#!/bin/sh
# What the optimizer's passes cost on large graphs. Usage: optimizer.sh BUILD [NODES...]
set -eu
build=$1
shift
exec "$build/bin/x2ir_optimizer_bench" "$@"
