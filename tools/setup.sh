# Set-up shared by quickstart.sh and test.sh; sourced, not run. Idempotent: what is there is not touched.
#
#   davinci_setup                    packages + Python environment
#   davinci_build <preset> [-D…]     configure and build build/<preset>
#
# What a caller may set:
#   DAVINCI_PYTHON   the Python to use; it must have torch >= 2.9 (default: python3 if it has, else .venv, made here)
#   DAVINCI_DEPS     a prefix with the C++ dependencies, for machines without apt (default: .deps/usr if it exists)
#   DAVINCI_JOBS     parallel compile jobs (default: cores, fewer when memory is short)
#   DAVINCI_TORCH    torch requirement to install (default below); pip's own settings (PIP_INDEX_URL, …) are honoured

DAVINCI_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
DAVINCI_START=$SECONDS
DAVINCI_LOG=$DAVINCI_ROOT/build/setup.log
DAVINCI_PYTHON_FOUND=

# package, then how to see that it is there: a program, or a header of its own.
DAVINCI_PACKAGES="
g++                  program  g++
cmake                program  cmake
ninja-build          program  ninja
ccache               program  ccache
python3              program  python3
nlohmann-json3-dev   header   nlohmann/json.hpp
libcli11-dev         header   CLI/CLI.hpp
libtomlplusplus-dev  header   toml++/toml.h
libfmt-dev           header   fmt/format.h
libspdlog-dev        header   spdlog/spdlog.h
libsqlite3-dev       header   sqlite3.h
libssl-dev           header   openssl/evp.h
libcpp-httplib-dev   header   httplib.h
libseccomp-dev       header   seccomp.h
libpcre2-dev         header   pcre2.h
libutf8proc-dev      header   utf8proc.h
libyaml-cpp-dev      header   yaml-cpp/yaml.h
openmpi-bin          program  mpirun
libgtest-dev         header   gtest/gtest.h
libgmock-dev         header   gmock/gmock.h
libbenchmark-dev     header   benchmark/benchmark.h
"

# For .venv: what pip installs | what is left out without it.
DAVINCI_REQUIREMENTS="
transformers==5.23.0 tokenizers==0.23.3 safetensors==0.8.0 gguf==0.19.0 openai==3.54.0 | tests that compare the model with these
pyarrow==26.0.1 | davinci sft-data reads and writes JSONL only
nvidia-cuda-nvrtc==13.5.37 | tests that compile the CUDA kernels
scikit-build-core==1.1.2 | the test of the wheel
"
# For .tools, an environment of its own that test.sh makes: what checks the form of the sources.
DAVINCI_TOOLS="clang-format==14.0.6 ruff==0.17.6 mypy==2.4.1"
DAVINCI_TIDY="clang-tidy==23.1.4"

say() { printf '[%4d s] %s\n' "$((SECONDS - DAVINCI_START))" "$*"; }

fail() {
  printf '\nerror: %s\n' "$1" >&2
  shift
  local line
  for line in "$@"; do printf '       %s\n' "$line" >&2; done
  exit 1
}

# run_logged <what> <command…>: output goes to the log; a sign of life every 20 s; the end of the log when it fails.
run_logged() {
  local what=$1 pid status=0 waited=0
  shift
  printf '\n== %s: %s\n' "$what" "$*" >>"$DAVINCI_LOG"
  "$@" >>"$DAVINCI_LOG" 2>&1 &
  pid=$!
  while kill -0 "$pid" 2>/dev/null; do
    sleep 1
    waited=$((waited + 1))
    if ((waited % 20 == 0)); then say "… still $what"; fi
  done
  wait "$pid" || status=$?
  if ((status != 0)); then
    printf '\n'
    tail -n 25 "$DAVINCI_LOG" | sed 's/^/    /'
    return "$status"
  fi
}

use_deps_prefix() {
  local prefix=${DAVINCI_DEPS:-$DAVINCI_ROOT/.deps/usr} arch
  if [[ ! -d $prefix ]]; then
    if [[ -n ${DAVINCI_DEPS:-} ]]; then fail "DAVINCI_DEPS=$DAVINCI_DEPS is not a folder"; fi
    return 0
  fi
  prefix=$(cd "$prefix" && pwd)
  say "using the dependencies in $prefix"
  export CMAKE_PREFIX_PATH=$prefix${CMAKE_PREFIX_PATH:+:$CMAKE_PREFIX_PATH}
  export PATH=$PATH:$prefix/bin
  export CPLUS_INCLUDE_PATH=$prefix/include${CPLUS_INCLUDE_PATH:+:$CPLUS_INCLUDE_PATH}
  for arch in "$prefix"/lib/*-linux-gnu; do
    if [[ -d $arch ]]; then
      export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$arch
    fi
  done
}

# Prints the packages that are not there.
missing_packages() {
  local package kind probe headers="" absent
  while read -r package kind probe; do
    [[ -n $package ]] || continue
    if [[ $kind == program ]]; then
      command -v "$probe" >/dev/null || echo "$package"
    else
      headers+="#if !__has_include(<$probe>)"$'\n'"absent $package"$'\n'"#endif"$'\n'
    fi
  done <<<"$DAVINCI_PACKAGES"
  if command -v g++ >/dev/null; then
    absent=$(printf '%s' "$headers" | g++ -std=c++20 -E -P -x c++ - 2>/dev/null) || absent=
    sed -n 's/^absent //p' <<<"$absent" | tr -d ' '
  else
    awk '$2 == "header" { print $1 }' <<<"$DAVINCI_PACKAGES"
  fi
}

# install_packages <package…>: through apt-get, as root or with sudo.
install_packages() {
  local as_root=()
  if ! command -v apt-get >/dev/null; then
    fail "these are missing and this machine has no apt-get: $*" \
      "Install them with your package manager, or unpack them under a prefix and set DAVINCI_DEPS to it."
  fi
  if ((EUID != 0)); then
    if ! command -v sudo >/dev/null; then
      fail "these packages are missing, and I am neither root nor is there sudo: $*" \
        "Ask an administrator to run:  apt-get install $*"
    fi
    as_root=(sudo)
    say "sudo may ask for your password to install packages"
    sudo -v || fail "sudo refused" "Ask an administrator to run:  apt-get install $*"
  fi
  say "installing Debian/Ubuntu packages: $*"
  as_root+=(env DEBIAN_FRONTEND=noninteractive apt-get -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300)
  run_logged "reading the package lists" "${as_root[@]}" update -q ||
    say "the package lists could not be refreshed; trying with those at hand"
  run_logged "installing packages" "${as_root[@]}" install -y -q --no-install-recommends "$@" ||
    fail "apt-get could not install: $*" "The full log is $DAVINCI_LOG"
}

setup_packages() {
  local missing
  mapfile -t missing < <(missing_packages)
  if ((${#missing[@]} > 0)); then
    install_packages "${missing[@]}"
    mapfile -t missing < <(missing_packages)
    if ((${#missing[@]} > 0)); then fail "still missing after the installation: ${missing[*]}"; fi
  else
    say "C++ packages: all present"
  fi
  local version
  version=$(cmake --version | sed -n '1s/[^0-9]*//p')
  if [[ $(printf '%s\n' 3.25 "$version" | sort -V | head -n 1) != 3.25 ]]; then
    fail "CMake $version is too old, 3.25 or newer is needed" "Remedy:  python3 -m pip install 'cmake>=3.25'"
  fi
  # C++20 as used here (std::span, designated initialisers, <bit>) needs GCC 12.
  version=$(g++ -dumpversion)
  if ((${version%%.*} < 12)) && [[ -z ${CXX:-} ]]; then
    fail "g++ $version is too old, 12 or newer is needed" \
      "Remedy:  apt-get install g++-12, then  CXX=g++-12 $0"
  fi
}

# Prints the torch version of a Python without importing torch; fails when there is none, or one below 2.9.
torch_of() {
  "$1" - 2>/dev/null <<'PYTHON'
import re, sys
from importlib.metadata import version
found = version("torch")
numbers = tuple(int(n) for n in re.match(r"(\d+)\.(\d+)", found).groups())
sys.exit(1) if numbers < (2, 9) or sys.version_info < (3, 10) else print(found)
PYTHON
}

has_nvidia_gpu() { [[ -e /dev/nvidiactl ]] || command -v nvidia-smi >/dev/null; }

make_python_environment() {
  local venv=$DAVINCI_ROOT/.venv torch=${DAVINCI_TORCH:-torch==2.13.0} base=python3
  if ! "$base" -c 'import sys; sys.exit(sys.version_info < (3, 10))'; then
    fail "$("$base" --version) is too old, 3.10 or newer is needed" \
      "Set DAVINCI_PYTHON to a newer Python that has torch >= 2.9."
  fi
  if ! "$base" -c 'import venv, ensurepip' 2>/dev/null; then install_packages python3-venv; fi
  if [[ ! -x $venv/bin/python ]]; then
    say "creating the Python environment .venv"
    run_logged "creating .venv" "$base" -m venv "$venv" || fail "could not create $venv" "See $DAVINCI_LOG"
  fi
  local pip=("$venv/bin/python" -m pip --disable-pip-version-check install --progress-bar off --retries 5)
  say "installing $torch and numpy into .venv (a large download, once)"
  if has_nvidia_gpu; then
    run_logged "installing torch" "${pip[@]}" "$torch" numpy
  else
    # The CPU build is ten times smaller; not every package index offers it.
    run_logged "installing torch (CPU build)" "${pip[@]}" "$torch+cpu" numpy >/dev/null ||
      run_logged "installing torch" "${pip[@]}" "$torch" numpy
  fi || fail "pip could not install $torch" "The full log is $DAVINCI_LOG." \
    "Behind a proxy or with a mirror, set pip's PIP_INDEX_URL / PIP_EXTRA_INDEX_URL." \
    "Or set DAVINCI_PYTHON to a Python that has torch >= 2.9."
  # The constraint keeps torch as it is. All at once; where the index lacks one, each by itself.
  "$venv/bin/python" -c 'from importlib.metadata import version; print("torch==" + version("torch"))' >"$venv/constraints.txt"
  local triton=() requirements missing=() line what
  if ! "$venv/bin/python" -c 'import triton' 2>/dev/null; then triton=(triton); fi
  mapfile -t requirements < <(sed 's/ *|.*//' <<<"$DAVINCI_REQUIREMENTS" | xargs -n 1)
  run_logged "installing further packages" "${pip[@]}" -c "$venv/constraints.txt" "${triton[@]}" "${requirements[@]}" >/dev/null || {
    while IFS='|' read -r line what; do
      [[ -n $line ]] || continue
      # shellcheck disable=SC2086
      run_logged "installing $line" "${pip[@]}" -c "$venv/constraints.txt" $line >/dev/null || missing+=("pip found no ${line% }:$what")
    done <<<"$DAVINCI_REQUIREMENTS"
    [[ ${#triton[@]} == 0 ]] || run_logged "installing triton" "${pip[@]}" triton >/dev/null ||
      missing+=("pip found no triton: Triton kernels cannot be judged here")  # they are refused with a clear message
    for line in "${missing[@]}"; do say "note: $line"; done
  }
  run_logged "checking torch" "$venv/bin/python" -c 'import torch; print(torch.__version__, torch.ones(2).sum())' ||
    fail "the new torch does not import" "Remedy:  rm -rf .venv  and run this again"
}

setup_python() {
  local candidate torch
  if [[ -n ${DAVINCI_PYTHON:-} ]]; then
    torch=$(torch_of "$DAVINCI_PYTHON") ||
      fail "DAVINCI_PYTHON=$DAVINCI_PYTHON has no torch >= 2.9" "Unset it to let .venv be made."
    DAVINCI_PYTHON_FOUND=$(command -v "$DAVINCI_PYTHON")
  else
    for candidate in python3 "$DAVINCI_ROOT/.venv/bin/python"; do
      if torch=$(torch_of "$candidate"); then
        DAVINCI_PYTHON_FOUND=$(command -v "$candidate")
        break
      fi
    done
    if [[ -z $DAVINCI_PYTHON_FOUND ]]; then
      make_python_environment
      DAVINCI_PYTHON_FOUND=$DAVINCI_ROOT/.venv/bin/python
      torch=$(torch_of "$DAVINCI_PYTHON_FOUND") || fail "$DAVINCI_PYTHON_FOUND has no torch >= 2.9"
    fi
  fi
  # C++ and inline-CUDA candidates include <Python.h> through torch/extension.h.
  local header
  header=$("$DAVINCI_PYTHON_FOUND" -c 'import sysconfig; print(sysconfig.get_paths()["include"] + "/Python.h")')
  if [[ ! -e $header ]]; then
    if [[ $header == /usr/include/* ]] && command -v apt-get >/dev/null; then
      install_packages "$(basename "$(dirname "$header")")-dev"
    else
      say "note: $header is missing; C++ extension candidates cannot be compiled with this Python"
    fi
  fi
  # Where the tests of the CUDA kernels find NVRTC, if the environment has it.
  local nvrtc
  nvrtc=$("$DAVINCI_PYTHON_FOUND" -c 'import glob, sysconfig; print(*glob.glob(sysconfig.get_paths()["purelib"] + "/nvidia/*/lib/libnvrtc.so.*")[:1])')
  if [[ -n $nvrtc ]]; then export DAVINCI_NVRTC_DIR=${DAVINCI_NVRTC_DIR:-$(dirname "$nvrtc")}; fi
  printf '%s\n' "$DAVINCI_PYTHON_FOUND" >"$DAVINCI_ROOT/build/python_path"
  export DAVINCI_PYTHON=$DAVINCI_PYTHON_FOUND
  say "Python: $DAVINCI_PYTHON_FOUND (torch $torch)"
}

# davinci_tools [package…]: formatters and linters, besides those of $DAVINCI_TOOLS.
davinci_tools() {
  local tools=$DAVINCI_ROOT/.tools installed="" wanted=() package
  if [[ -e $tools/installed ]]; then installed=" $(tr '\n' ' ' <"$tools/installed")"; fi
  for package in $DAVINCI_TOOLS "$@"; do
    [[ $installed == *" $package "* ]] || wanted+=("$package")
  done
  if ((${#wanted[@]} == 0)); then return; fi
  say "installing into .tools: ${wanted[*]}"
  if ! python3 -c 'import venv, ensurepip' 2>/dev/null; then install_packages python3-venv; fi
  if { [[ -x $tools/bin/python ]] || run_logged "creating .tools" python3 -m venv "$tools"; } &&
    run_logged "installing tools" "$tools/bin/python" -m pip --disable-pip-version-check install --progress-bar off --retries 5 "${wanted[@]}"; then
    printf '%s\n' "${wanted[@]}" >>"$tools/installed"
  else
    say "note: pip could not install ${wanted[*]}; the tests that need them are skipped"
  fi
}

davinci_setup() {
  cd "$DAVINCI_ROOT"
  mkdir -p build 2>/dev/null || fail "cannot write to $DAVINCI_ROOT" "Clone into a folder of your own."
  # Two scripts at once would install and build over each other.
  exec 9>build/.setup.lock
  if command -v flock >/dev/null && ! flock -n 9; then
    say "waiting for another quickstart.sh or test.sh of this checkout"
    flock 9
  fi
  : >"$DAVINCI_LOG"
  use_deps_prefix
  setup_packages
  setup_python
}

# within_memory N: at most N, with 2 GiB for each. An object of 24 files peaks near 1.8, and some tests have ten processes with torch.
within_memory() {
  local by_memory
  by_memory=$(awk '/MemAvailable/ { print int($2 / 2097152) }' /proc/meminfo)
  if ((by_memory < 1)); then by_memory=1; fi
  echo $(($1 < by_memory ? $1 : by_memory))
}

compile_jobs() { echo "${DAVINCI_JOBS:-$(within_memory "$(nproc)")}"; }

test_jobs() { within_memory $(($(nproc) * 5 / 2)); }

davinci_build() {
  local preset=$1 launcher=()
  shift
  if command -v ccache >/dev/null; then
    launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_C_COMPILER_LAUNCHER=ccache)
    # ccache wants a home; service accounts and containers may have none.
    if [[ -z ${CCACHE_DIR:-} && ( -z ${HOME:-} || ! -w ${HOME:-/nonexistent} ) ]]; then
      export CCACHE_DIR=$DAVINCI_ROOT/build/ccache
    fi
  fi
  say "configuring build/$preset"
  run_logged "configuring" cmake --preset "$preset" "${launcher[@]}" "$@" ||
    fail "CMake could not configure build/$preset" "The full log is $DAVINCI_LOG"
  say "compiling ($(compile_jobs) jobs)"
  NINJA_STATUS='[%f/%t, %e s] ' cmake --build --preset "$preset" --parallel "$(compile_jobs)" 9>&- ||
    fail "the build failed, see above" "If a header of a package is missing:  rm -rf build/$preset  and run this again"
  say "built build/$preset"
}
