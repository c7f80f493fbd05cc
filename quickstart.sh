#!/usr/bin/env bash
# From a fresh machine to a judged kernel: installs what is missing, builds, and judges one example against PyTorch on
# the best target of this machine (CUDA when there is a GPU, else cpu). Run it as often as you like.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/tools/setup.sh"

davinci_setup
davinci_build release -DDAVINCI_BUILD_TESTS=OFF

DAVINCI=$DAVINCI_ROOT/build/release/apps/davinci/davinci
SHOWCASE=(judge --reference tasks/softmax/softmax_rows.py --candidate tests/honest/cpu/softmax_rows.py)

say "davinci ${SHOWCASE[*]}"
exec "$DAVINCI" "${SHOWCASE[@]}" "$@" 9>&-
