#!/usr/bin/env bash
# Made by reprokit 9.9.9 for the kit host-oom (subject run 0123456789ab) by `reprokit emit`.
set -eu
kit="$(cd "$(dirname "$0")/.." && pwd)" && work="$(mktemp -d)"
git clone -q "$kit/inputs/source.bundle" "$work/src" && cd "$work/src"
git checkout -q --detach 0123456789abcdef0123456789abcdef01234567
# needs numpy==2.4.6; ended after 120 s, because it may hang
env MALLOC_ARENA_MAX=1 NOTE='a "b" $c' OMP_NUM_THREADS=1 \
  timeout --foreground 120 "${PYTHON:-python3}" train.py --ranks 8 --note 'it'"'"'s $HOME'
