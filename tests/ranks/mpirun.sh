#!/bin/bash
# Runs modules of two and three ranks under mpirun, and compares with one process. Then ends ranks,
# and checks that the others end with an error.
#   tests/ranks/mpirun.sh BIN
set -euo pipefail
bin=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$(dirname "$0")/../.."
digits=$PWD/examples/digits/digits.onnx
# Ranks wait for each other, so that more of them than CPUs are possible.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl_vader_single_copy_mechanism=none
export OMPI_MCA_plm_rsh_agent=true OMPI_MCA_mpi_yield_when_idle=1
# A process that has ended, and that its parent has not waited for, is a zombie.
is_running() { grep -q '^State:[[:space:]]*[A-Y]' "/proc/$1/status" 2> /dev/null; }
job() { timeout -k 5 100 mpirun -n "$@"; }

cat > "$folder/machine.json" <<'JSON'
{"devices": [{"name": "cpu", "kind": "cpu"}, {"name": "one", "kind": "cpu", "rank": 1},
             {"name": "two", "kind": "cpu", "rank": 2}]}
JSON
"$bin/scopevm" compile "$digits" --machine "$folder/machine.json" --place 'type:c*=one' \
  --place 'type:matmul=two' -o "$folder/digits.bc"

"$bin/scopevm" run "$folder/digits.bc" n=5 --output "probability=$folder/expected.npy"
job 3 "$bin/scopevm" run "$folder/digits.bc" n=5 --repeat 3 \
  --output "probability=$folder/actual.npy" > "$folder/out"
cmp "$folder/expected.npy" "$folder/actual.npy"
echo "equal results on 3 ranks"

# The results and times are printed once.
[ "$(grep -c probability "$folder/out")" = 1 ]

# Random messages, from memory that the other ranks of this machine can read and from other memory.
job 3 "$bin/mpi_messages" 60 1 > "$folder/out"
grep -q '^60 rounds, [1-9][0-9]* blocks of the transport$' "$folder/out"
echo "random messages"

# A model that is split over the ranks of a job, whose links are measured, and over NUMA nodes.
job 3 "$bin/scopevm" machine --mpi > "$folder/measured.json"
grep -q '"latency_seconds"' "$folder/measured.json"
"$bin/scopevm" compile "$digits" --machine "$folder/measured.json" --split pipeline=3 \
  -o "$folder/split.bc"
job 3 "$bin/scopevm" run "$folder/split.bc" n=5 --output "probability=$folder/actual.npy" > /dev/null
cmp "$folder/expected.npy" "$folder/actual.npy"
"$bin/scopevm" machine --numa > "$folder/numa.json"
"$bin/scopevm" compile "$digits" --machine "$folder/numa.json" -o "$folder/numa.bc" > /dev/null
echo "equal results of a split model"

# A process for each rank in the trace, with the same requests. A request begins on rank 0, and what
# other ranks do for it is within its time.
job 3 "$bin/scopevm" run "$folder/digits.bc" n=5 --repeat 4 --trace "$folder/trace.json" > /dev/null
python3 - "$folder/trace.json" <<'PYTHON'
import json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
names = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
assert names == {1: "rank 0", 2: "rank 1", 3: "rank 2"}, names
calls = [{e["args"]["request"]: (e["ts"], e["ts"] + e["dur"])
          for e in events if e.get("cat") == "call" and e["pid"] == pid} for pid in (1, 2, 3)]
assert len(calls[0]) == 4 and calls[0].keys() == calls[1].keys() == calls[2].keys(), calls
for event in events:
    if event.get("cat") in ("launch", "copy"):
        assert any(begin - 1000 <= event["ts"] <= end + 1000 for begin, end in calls[0].values()), event
devices = [{e["args"]["device"] for e in events if e.get("cat") == "launch" and e["pid"] == pid}
           for pid in (1, 2, 3)]
assert devices == [{"cpu"}, {"one"}, {"two"}], devices
PYTHON
echo "one trace of all ranks"
job 3 "$bin/scopevm" bench "$folder/digits.bc" n=5 --requests 5 --warm-up 2 \
  --trace "$folder/trace.json" > /dev/null
[ "$(grep -c '"cat":"call"' "$folder/trace.json")" = 15 ]

if job 3 "$bin/scopevm" bench "$folder/digits.bc" n=5 --profile --trace "$folder/trace.json" \
  2> "$folder/err" > /dev/null; then
  echo "a trace with the requests of the profile was accepted"
  exit 1
fi
grep -q 'expected at most one of --profile and --trace in a job of several ranks' "$folder/err"
job 3 "$bin/scopevm" bench "$folder/digits.bc" n=5 --requests 5 --profile > /dev/null

# Ranks without the option are left out, whatever the others send.
run=("$bin/scopevm" run "$folder/digits.bc" n=5)
traced=("${run[@]}" --trace "$folder/partial.json")
job 1 "${traced[@]}" : -n 2 "${run[@]}" 2> "$folder/err" > /dev/null
grep -q 'warning: rank 1 has sent no trace: expected --trace there, too' "$folder/err"
job 2 "${traced[@]}" --repeat 300 : -n 1 "${run[@]}" 2> "$folder/err" > /dev/null
grep -q 'warning: rank 2 has sent no trace: expected --trace there, too' "$folder/err"
[ "$(grep -c '"cat":"call"' "$folder/partial.json")" = 600 ]
rm "$folder/partial.json"
job 1 "${run[@]}" : -n 2 "${traced[@]}" 2> "$folder/err" > /dev/null
grep -q 'warning: rank 0 has not collected the trace of rank 2' "$folder/err"
[ ! -e "$folder/partial.json" ]

# An error of one rank that the others do not know ends the job.
for limited in 0 1 2; do
  jobs=()
  for rank in 0 1 2; do
    [ "$rank" = 0 ] || jobs+=(:)
    jobs+=(-n 1 "${run[@]}")
    [ "$rank" != "$limited" ] || jobs+=(--external no_such_library)
  done
  # The launcher itself can hang.
  if timeout -k 5 20 mpirun "${jobs[@]}" 2> "$folder/err" > /dev/null; then
    echo "rank $limited ran without its library"
    exit 1
  fi
  grep -q 'no_such_library' "$folder/err"
done

# Each rank has a folder with the module and its own weights.
"$bin/scopevm" compile "$digits" --machine "$folder/machine.json" --place 'type:c*=one' \
  --place 'type:matmul=two' -o "$folder/digits.bc" --weights "$folder/w"
for rank in 0 1 2; do
  mkdir "$folder/$rank"
  cp "$folder/digits.bc" "$folder/$rank"
done
cp "$folder/w" "$folder/0"
for rank in 1 2; do cp "$folder/w.rank$rank" "$folder/$rank"; done
own=("$bin/scopevm" run)
arguments=(n=5 --output "probability=$folder/actual.npy")
job 1 "${own[@]}" "$folder/0/digits.bc" "${arguments[@]}" : \
  -n 1 "${own[@]}" "$folder/1/digits.bc" "${arguments[@]}" : \
  -n 1 "${own[@]}" "$folder/2/digits.bc" "${arguments[@]}" > /dev/null
cmp "$folder/expected.npy" "$folder/actual.npy"
if "$bin/scopevm" run "$folder/1/digits.bc" n=5 2> "$folder/err"; then
  echo "one process ran all ranks without their weights"
  exit 1
fi
grep -q '/1/w: No such file or directory' "$folder/err"
echo "equal results with the weights of each rank in its folder"

# Slow links: each of the calls waits for at least three messages of 20 ms.
job 3 "$bin/scopevm" run "$folder/digits.bc" n=5 --emulate-links 1e9:0.02 \
  --output "probability=$folder/actual.npy" --json > "$folder/out"
cmp "$folder/expected.npy" "$folder/actual.npy"
python3 -c 'import json, sys; assert json.load(sys.stdin)["latency_us"]["min"] > 60000' \
  < "$folder/out"
echo "slow links take time"
if "$bin/scopevm" run "$folder/digits.bc" n=5 --emulate-links 1e9:0 2> "$folder/err"; then
  echo "links without messages were accepted"
  exit 1
fi
grep -q -e '--emulate-links: this process has no messages, because it is not a part of a job of several ranks' "$folder/err"

# An error of the request, which every rank has read.
if job 3 "$bin/scopevm" run "$folder/digits.bc" --input image=random:5x1x9x9 2> "$folder/err"; then
  echo "a wrong shape was accepted"
  exit 1
fi
grep -q 'input "image": wrong dim 2' "$folder/err"
[ "$(grep -c 'input "image"' "$folder/err")" = 1 ]

# A job of another size.
if job 2 "$bin/scopevm" run "$folder/digits.bc" n=5 2> "$folder/err"; then
  echo "two ranks ran a module of three"
  exit 1
fi
grep -q 'the module is for 3 ranks, but this process is rank [01] of 2' "$folder/err"

# Every rank ends soon after one of them was killed. The launcher itself can hang when a rank ends
# while the job starts, so it gets a time limit.
for killed in 1 2; do
  timeout 60 mpirun -n 3 "$bin/scopevm" run "$folder/digits.bc" n=50 --repeat 100000000 \
    > "$folder/out" 2> "$folder/err" &
  limited=$!
  launcher=
  while [ -z "$launcher" ]; do sleep 0.05; launcher=$(pgrep -P "$limited" || true); done
  # The ranks have started the first request when each has loaded the module and the plug-in.
  while [ "$(pgrep -c -P "$launcher" || true)" != 3 ]; do sleep 0.05; done
  mapfile -t ranks < <(pgrep -P "$launcher")
  for rank in "${ranks[@]}"; do
    while ! grep -q libscopevm_mpi "/proc/$rank/maps"; do sleep 0.05; done
  done
  sleep 2
  kill -KILL "${ranks[$killed]}"
  began=$(date +%s%N)
  for rank in "${ranks[@]}"; do
    while is_running "$rank"; do
      if [ $(($(date +%s%N) - began)) -gt 5000000000 ]; then
        echo "process $rank still runs 5 seconds after rank $killed was killed"
        exit 1
      fi
      sleep 0.01
    done
  done
  took=$((($(date +%s%N) - began) / 1000000))
  for _ in $(seq 100); do
    is_running "$launcher" && sleep 0.05
  done
  kill -KILL "$launcher" 2> /dev/null || true
  wait "$limited" && { echo "the job succeeded"; exit 1; }
  # The launcher can end the other ranks before they report it.
  grep -qE "rank $killed \(process ${ranks[$killed]}\) has ended|rank $killed .*exited on signal 9" \
    "$folder/err" || { cat "$folder/err"; echo "no message about rank $killed"; exit 1; }
  echo "rank $killed was killed: the others ended after $took ms"
done
