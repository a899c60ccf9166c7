# Build with the development tools, run without them.
FROM node:22-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY src src
COPY jobs jobs
RUN npm run build && npm prune --omit=dev --ignore-scripts

FROM node:22-bookworm-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY package.json LICENSE ./
COPY sql sql
COPY fixtures fixtures
# Data and reports belong on a volume; the embedded database must have it for itself.
RUN mkdir /data && chown node:node /data
USER node
WORKDIR /data
VOLUME /data
ENTRYPOINT ["node", "/app/dist/src/cli/main.js"]
CMD ["--help"]
