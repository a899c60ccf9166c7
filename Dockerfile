# Build with the development tools, run without them. test/deploy/replay-image.sh replays these steps in clean roots.
FROM node:22-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY src src
COPY jobs jobs
RUN npm run build && npm prune --omit=dev --ignore-scripts --no-audit --no-fund
# What only compilers and readers of the packages need.
RUN find node_modules dist -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.cts' -o -name '*.d.mts' -o -iname '*.md' \) ! -iname 'licen[cs]e*' -delete

FROM node:22-bookworm-slim
LABEL org.opencontainers.image.title="nightscreen" \
      org.opencontainers.image.description="Screens customer rosters night after night and reports exactly what changed" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="0.1.0"
# Nothing here installs anything, so the tools for it are not there either.
RUN rm -rf /usr/local/lib/node_modules /opt/yarn-* /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /usr/local/bin/yarn /usr/local/bin/yarnpkg \
 && mkdir /data && chown node:node /data \
 && ln -s /app/dist/src/cli/main.js /usr/local/bin/nightscreen
ENV NODE_ENV=production
WORKDIR /app
COPY package.json LICENSE ./
COPY sql sql
COPY src/reports/page src/reports/page
COPY fixtures fixtures
COPY deploy/docker/healthcheck.mjs healthcheck.mjs
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
# By number, so that Kubernetes can see that it is not root.
USER 1000:1000
# The only place that is written to: data, reports and the configuration belong on a volume, and everything else may be read-only.
WORKDIR /data
VOLUME /data
STOPSIGNAL SIGTERM
# A scheduler or worker with --metrics is unhealthy when its process does not answer for two minutes; any other command is healthy while it runs.
HEALTHCHECK --interval=30s --timeout=10s --start-period=120s --retries=4 CMD ["node", "/app/healthcheck.mjs"]
# docker build --build-arg REVISION="$(git rev-parse HEAD)": last of what changes, so that everything above is taken from the cache.
ARG REVISION=unknown
LABEL org.opencontainers.image.revision="$REVISION"
ENTRYPOINT ["node", "/app/dist/src/cli/main.js"]
CMD ["--help"]
