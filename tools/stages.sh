# Stages that run once each, in pieces: read by tools/train_nano.sh and tools/learn_nano.sh. The script that reads it sets
#   out     the folder; a stage that is done has OUT/.done-SCRIPT-STAGE
#   all     the stages that run where STAGES names none
# and takes davinci (the program), target, python and gpus from here. MINUTES, GPUS, STAGES, DAVINCI and TARGET are variables of the user.
script=$(basename "$0" .sh)
davinci=${DAVINCI:-build/release/apps/davinci/davinci}
[ -x "$davinci" ] || davinci=build/dev/apps/davinci/davinci
begun=$SECONDS
mkdir -p "$out"

gpus=${GPUS:-$( (nvidia-smi -L 2>/dev/null || true) | grep -c . || true)}
[ "$gpus" -ge 1 ] || gpus=1

left() {  # seconds until the end that MINUTES sets
  echo $((${MINUTES:-1000000} * 60 - (SECONDS - begun)))
}
over() {
  echo "$script: time is over; the same command continues" >&2
  exit 0
}
# A command that continues when it is started again. SIGUSR1 ends a training with a checkpoint and a run with all that it has found.
limited() {
  local status=0
  [ "$(left)" -ge 5 ] || over
  timeout --foreground --signal=USR1 --kill-after=40 "$(left)" "$@" || status=$?
  [[ $status != 124 && $status != 137 ]] || over
  return $status
}
stage() {  # stage NAME COMMAND...: once
  local stage=$1; shift
  [[ " ${STAGES:-$all} " == *" $stage "* ]] || return 0
  [ -e "$out/.done-$script-$stage" ] && return 0
  [ "$(left)" -ge 5 ] || over
  echo "$script: $stage"
  "$@"
  touch "$out/.done-$script-$stage"
}
# Held-out or training tasks of a split, once.
tasks_of() {  # tasks_of FOLDER COUNT SPLIT SEED [FLAG...]
  [ -e "$1/manifest.json" ] || "$davinci" synth tasks --count "$2" --split "$3" --seed "$4" --out "$1" "${@:5}"
}
# The shared settings of one process a device: ranks COUNT COMMAND...
ranks() {
  local count=$1; shift
  local port=$((20000 + $$ % 20000)) pids=() status=0 one=0 pid rank
  for ((rank = 0; rank < count; ++rank)); do
    local world=()
    [ "$count" -gt 1 ] && world=(RANK=$rank WORLD_SIZE=$count LOCAL_RANK=$rank LOCAL_WORLD_SIZE=$count MASTER_ADDR=127.0.0.1 MASTER_PORT=$port)
    env "${world[@]}" timeout --foreground --signal=USR1 --kill-after=40 "$(left)" "$@" &
    pids+=($!)
  done
  for pid in "${pids[@]}"; do wait "$pid" || one=$?; [ $one = 0 ] || status=$one; done
  [[ $status != 124 && $status != 137 ]] || over
  return $status
}
