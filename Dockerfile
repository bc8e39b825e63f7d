# docker build --build-arg COMMIT=$(git rev-parse HEAD) -t counterfoil .
# docker run -p 4663:4663 -v counterfoil:/data -e COUNTERFOIL_BASE_URL=https://gw.example counterfoil
FROM debian:bookworm-slim AS build
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates nodejs npm \
 && rm -rf /var/lib/apt/lists/* \
 && npm install --global bun@1.4.5
WORKDIR /app
COPY package.json bun.lock bunfig.toml ./
RUN bun install --frozen-lockfile
COPY . .
ARG COMMIT=
RUN COUNTERFOIL_COMMIT=$COMMIT bun scripts/build.ts

FROM debian:bookworm-slim
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --system --uid 4663 --no-create-home counterfoil \
 && install -d -m 0700 -o counterfoil /data
COPY --from=build /app/dist/counterfoil /usr/local/bin/counterfoil
USER counterfoil
WORKDIR /data
VOLUME /data
ENV COUNTERFOIL_LISTEN=0.0.0.0:4663 COUNTERFOIL_DATA=/data
EXPOSE 4663
HEALTHCHECK CMD ["counterfoil", "healthcheck"]
ENTRYPOINT ["counterfoil"]
CMD ["serve"]
