#!/usr/bin/env bash
# A CI job: makes one warm checkout, forks it once per shard, and runs each shard's part of the tests, all at once.
#   examples/ci-shards.sh DIRECTORY [SHARDS]     DIRECTORY has Python tests, test_*.py
set -euo pipefail
directory=$1 shards=${2:-2}
job=ci-$$ logs=$(mktemp -d)
trap 'rm -r "$logs"; torpor list -q --label "job=$job" | xargs -r torpor remove --force >/dev/null' EXIT

# Once: the checkout, and all that takes its time (dependencies, a database with its fixtures, warm caches). Forks have it with its memory.
torpor create --name "$job" --label "job=$job" --hard-ttl 1h debian >/dev/null
tar -C "$directory" -c . | torpor exec -i "$job" sh -c 'mkdir /root/checkout && tar -C /root/checkout -x'
torpor exec "$job" python3 -m compileall -q /root/checkout

torpor fork --name "$job-shard" --count "$shards" "$job" >/dev/null

# Each knows which it is: every n-th file is its own.
# shellcheck disable=SC2016
part='cd /root/checkout && ls test_*.py | awk "(NR - 1) % $TORPOR_FORK_COUNT == $TORPOR_FORK_INDEX - 1" | sed "s/\.py$//" | xargs -r python3 -m unittest'
pids=()
for shard in $(seq "$shards"); do
  torpor exec --timeout 10m "$job-shard-$shard" sh -c "$part" >"$logs/$shard" 2>&1 &
  pids+=($!)
done

failed=0
for shard in $(seq "$shards"); do
  if wait "${pids[shard - 1]}"; then
    echo "shard $shard: $(grep -E '^Ran ' "$logs/$shard" || echo 'nothing to run')"
  else
    failed=1
    echo "shard $shard failed:"
    cat "$logs/$shard"
  fi
done
exit $failed
