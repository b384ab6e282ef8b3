#!/usr/bin/env bash
# Made by reprokit 9.9.9 for the kit host-oom (subject run 0123456789ab) by `reprokit emit`.
# Runs host-oom once, recorded by the agent that lies beside this script. reprokit itself is not needed.
#
#   bash run.sh                        with python3
#   PYTHON=/path/to/python bash run.sh  with another interpreter
#
# Exit code: the job's own, 128 + signal if a signal ended it, 124 if a hang or a limit was ended and the job then
# said 0; 4 if something is missing here. The recording goes to KIT.open/, where reprokit finds it.
set -euo pipefail

# Names that begin with rk_ are this script's own: the job must not see how it was started.
rk_here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)"
rk_kit="${REPROKIT_KIT:-$(dirname "$rk_here")}"
rk_agent="${REPROKIT_AGENT:-$rk_kit/launch/agent}"
rk_spool="${REPROKIT_SPOOL:-}"
rk_quiet="${REPROKIT_QUIET:+--quiet}"
rk_python="${PYTHON:-python3}"

# What this needs. Every missing thing is named before anything is started.
rk_missing=0
rk_need() { printf 'run.sh: %s\n' "$1" >&2; rk_missing=1; }
if rk_found="$(command -v "$rk_python")"; then
  # The job runs in another folder, so a relative path to the interpreter must become absolute.
  case "$rk_found" in /*) rk_python="$rk_found" ;; *) rk_python="$PWD/$rk_found" ;; esac
  # Exact package versions: another one is another stack.
  "$rk_python" - '>=3.11' numpy==2.4.6 <<'CHECK' || rk_missing=1
import sys

lowest = tuple(int(part) for part in sys.argv[1].lstrip(">=").split("."))
if sys.version_info[:2] < lowest:
    sys.stderr.write("run.sh: %s is Python %s; %s is needed\n" % (sys.executable, sys.version.split()[0], sys.argv[1]))
    sys.exit(1)

from importlib import metadata

bad = []
for pin in sys.argv[2:]:
    name, wanted = pin.split("==", 1)
    try:
        found = metadata.version(name)
    except metadata.PackageNotFoundError:
        found = "not installed"
    if found != wanted:
        bad.append("  %s %s is needed; %s" % (name, wanted, found))
if bad:
    sys.stderr.write("run.sh: %s lacks packages:\n%s\n" % (sys.executable, "\n".join(bad)))
sys.exit(bool(bad))
CHECK
  if [ "$rk_missing" = 1 ]; then
    printf '  install: %q -m pip install --require-hashes -r %q\n' "$rk_python" "$rk_kit/inputs/requirements.txt" >&2
  fi
else
  rk_need "the Python $rk_python is not here; set PYTHON=/path/to/python"
fi
command -v git >/dev/null || rk_need 'git is not here; install it'
[ -f "$rk_kit/inputs/source.bundle" ] || rk_need "$rk_kit/inputs/source.bundle is missing: this kit is incomplete"
[ -f "$rk_agent/__main__.py" ] || rk_need "the agent is missing: $rk_agent"
[ "$rk_missing" = 0 ] || exit 4
if [ -z "$rk_spool" ]; then
  rk_run="by-hand-$(date -u +%Y%m%dT%H%M%SZ)-$$"
  if ! (umask 077 && mkdir -p "$rk_kit.open/$rk_run") 2>/dev/null; then
    rk_need "cannot write to $rk_kit.open; set REPROKIT_SPOOL=/a/new/folder for the recording"
    exit 4
  fi
fi

# The code: the base revision from the kit's bundle, in a folder of its own. Hooks and the user's git configuration
# stay out of it.
rk_scratch=""
rk_cleanup() { if [ -n "$rk_scratch" ]; then rm -rf -- "$rk_scratch"; fi; }
trap rk_cleanup EXIT
rk_work="${REPROKIT_WORKTREE:-}"
if [ -z "$rk_work" ]; then
  rk_scratch="$(mktemp -d)"
  rk_work="$rk_scratch/src"
  rk_git() (
    unset "${!GIT_@}"
    export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
    git -c core.hooksPath=/dev/null -c core.fsmonitor=false -c core.autocrlf=false -c protocol.ext.allow=never "$@"
  )
  rk_git clone --quiet --no-checkout "$rk_kit/inputs/source.bundle" "$rk_work"
  rk_git -C "$rk_work" checkout --quiet --detach 0123456789abcdef0123456789abcdef01234567
fi
cd "$rk_work"

# Where the recording goes.
if [ -z "$rk_spool" ]; then
  rk_spool="$rk_kit.open/$rk_run/node-0"
  (
    umask 077
    printf 'schema: reprokit/run/1.0\nid: %s\nrole: by-hand\norigin: by_hand\nbase: "0123456789abcdef0123456789abcdef01234567"\n' "$rk_run" \
      > "$rk_kit.open/$rk_run/run.yaml"
  )
  printf 'run.sh: recording to %s\n' "$rk_spool" >&2
fi

# The agent starts the job, notices a failure and a hang, takes stacks, and ends what no longer moves:
# 4 s without any movement, or 120 s in all. The variables belong to the job, so they are the
# agent's options. Python's compiled files prove which source files a run imported, so they must be written.
"$rk_python" -I -B "$rk_agent" --spool "$rk_spool" --end-hang 4 --time-limit 120 --end-on-signal --end-left \
  ${rk_quiet:+"$rk_quiet"} --unset-env PYTHONDONTWRITEBYTECODE --unset-env REPROKIT_KIT --unset-env REPROKIT_AGENT \
  --unset-env REPROKIT_SPOOL --unset-env REPROKIT_WORKTREE --unset-env REPROKIT_QUIET \
  --set-env MALLOC_ARENA_MAX=1 \
  --set-env 'NOTE=a "b" $c' \
  --set-env OMP_NUM_THREADS=1 \
  -- "$rk_python" train.py --ranks 8 --note 'it'"'"'s $HOME' &
rk_job=$!
# A signal to this script goes on to the agent, which ends the job; this script waits for it.
trap 'kill -TERM "$rk_job" 2>/dev/null || true' TERM INT HUP
rk_status=0
while :; do
  wait "$rk_job" && rk_status=0 || rk_status=$?
  kill -0 "$rk_job" 2>/dev/null || break
done
exit "$rk_status"
