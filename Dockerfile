# docker build --build-arg COMMIT=$(git rev-parse HEAD) -t counterfoil .
# docker run -p 4663:4663 -v counterfoil:/data -e COUNTERFOIL_BASE_URL=https://gw.example counterfoil
# Read-only but for the data: add --read-only --tmpfs /tmp:exec --cap-drop ALL
#   --security-opt no-new-privileges. Settings go in as COUNTERFOIL_… variables, or as a file:
#   -v ./counterfoil.toml:/data/counterfoil.toml:ro
FROM debian:bookworm-slim AS build
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates libstdc++6 nodejs npm \
 && rm -rf /var/lib/apt/lists/* \
 && npm install --global bun@1.4.5
WORKDIR /app
COPY package.json bun.lock bunfig.toml ./
RUN bun install --frozen-lockfile
COPY . .
ARG COMMIT=
RUN COUNTERFOIL_COMMIT=$COMMIT bun scripts/build.ts \
 && bun scripts/release/image.ts /image dist/counterfoil

# The executable, the libraries it loads, certificates and no shell: the files of the image that
# `bun run release` makes, on which docs/install.md has more.
FROM scratch
COPY --from=build /image /
COPY --from=build --chown=65532:65532 /image/data /data
USER 65532:65532
WORKDIR /data
VOLUME /data
ENV COUNTERFOIL_LISTEN=0.0.0.0:4663 COUNTERFOIL_DATA=/data
# What the process would replace itself for, which emulators of other processors cannot do.
ENV BUN_CONFIG_MAX_HTTP_REQUESTS=65535
ENV PATH=/usr/local/bin SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt
EXPOSE 4663
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=6s --start-period=60s CMD ["/usr/local/bin/counterfoil", "healthcheck"]
ENTRYPOINT ["/usr/local/bin/counterfoil"]
CMD ["serve"]
