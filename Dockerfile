# One image for every service; APP says which one a container runs: api, scheduler, engine or kernel.
#
#   docker build -t svc .
#   docker run -e APP=scheduler -e REDIS_URL=rediss://... -e NATS_URL=tls://... svc
#
# It runs under production rules: encrypted connections, strong keys, signed policies. `-e SVC_ENV=development` turns them off.

FROM node:20-bookworm-slim AS source
WORKDIR /src
COPY . .
# Only what decides about packages, so that a change of code does not install them again.
RUN mkdir /manifests && cp --parents package.json package-lock.json .npmrc $(find apps libs -name package.json) /manifests

FROM node:20-bookworm-slim AS build
WORKDIR /src
COPY --from=source /manifests ./
RUN npm ci --ignore-scripts
COPY . .
RUN NX_DAEMON=false NX_INTERACTIVE=false npx nx run-many -t build
# Makes credentials of NATS and Redis for docker-compose.yml.
RUN npx esbuild tools/container/credentials-main.ts --bundle --platform=node --target=node20 --packages=external --tsconfig=tsconfig.base.json --outfile=dist/tools/credentials.js

FROM node:20-bookworm-slim AS packages
WORKDIR /src
COPY --from=source /manifests ./
RUN npm ci --omit=dev --ignore-scripts

FROM node:20-bookworm-slim
WORKDIR /app
COPY --from=packages /src/node_modules ./node_modules
COPY --from=build /src/dist ./dist
COPY package.json LICENSE ./
COPY config ./config
COPY tools/container/healthcheck.mjs ./healthcheck.mjs
# Mount points of the volumes that docker-compose.yml keeps credentials in: a new volume gets the owner from here.
RUN mkdir -p /credentials/services /credentials/scheduler /credentials/nats/workers /credentials/redis && chown -R node:node /credentials

ARG APP=api
ARG VERSION=
ARG COMMIT=
ENV NODE_ENV=production SVC_ENV=production APP=${APP} SVC_BUILD_VERSION=${VERSION} SVC_BUILD_COMMIT=${COMMIT}
# A container is reached through its published ports, which say who can. Metrics stay within it under production rules unless
# they are made public.
ENV GATEWAY_HTTP_ADDR=:8081 GATEWAY_GRPC_ADDR=:8080 GATEWAY_METRICS_ADDR=:9092 \
    SCHEDULER_METRICS_ADDR=:9090 WORKFLOW_ENGINE_HTTP_ADDR=:9093 SAFETY_KERNEL_ADMIN_ADDR=:9095

# Policy, pools, timeouts and scanners; mount a folder of your own over it.
VOLUME /app/config
# HTTP, gRPC, metrics of the gateway; scheduler, engine; kernel gRPC and probes
EXPOSE 8081 8080 9092 9090 9093 50051 9095
USER node
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 CMD ["node", "healthcheck.mjs"]
# `exec`, so that the service itself gets the signal to stop.
CMD ["sh", "-c", "exec node --enable-source-maps dist/apps/$APP/main.js"]
