#!/usr/bin/env bash
# From a fresh machine to a judged kernel: installs what is missing, builds, and judges one example against PyTorch on
# the best target of this machine (CUDA when there is a GPU, else cpu). Run it as often as you like.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/tools/setup.sh"

davinci_setup
davinci_build release -DDAVINCI_BUILD_TESTS=OFF

DAVINCI=$DAVINCI_ROOT/build/release/apps/davinci/davinci
candidate=tests/honest/cpu/hardswish_chain.py
target=cpu
if compgen -G '/dev/nvidia[0-9]*' >/dev/null; then
  candidate=tests/honest/cuda/hardswish_chain_nvrtc.py
  target=cuda
fi
SHOWCASE=(judge --reference tasks/pointwise/hardswish_chain.py --candidate "$candidate" --target "$target")

say "davinci ${SHOWCASE[*]}"
exec "$DAVINCI" "${SHOWCASE[@]}" "$@" 9>&-
