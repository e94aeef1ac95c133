# One image for every service of a flow: `serve FLOW SERVICE` says which one runs.
#
#   docker build --tag fourtier:local .

# --- build: the locked dependencies and the package itself. All of them come as wheels: no compiler.
FROM python:3.11-slim-bookworm AS build

ENV UV_COMPILE_BYTECODE=1 \
    UV_LINK_MODE=copy \
    UV_PROJECT_ENVIRONMENT=/opt/fourtier \
    UV_PYTHON_DOWNLOADS=never

RUN pip install --no-cache-dir uv==0.13.9

WORKDIR /source

# The dependencies change less often than the code, so that they are a layer of their own.
# Of the embedded engines only the embedding model comes along, which serves the cluster too.
COPY pyproject.toml uv.lock ./
RUN --mount=type=cache,target=/root/.cache/uv \
    uv sync --locked --no-dev --no-install-project --extra cluster --extra embeddings

COPY README.md LICENSE ./
COPY schema ./schema
COPY services ./services
COPY flows ./flows
# Built anew each time: in its cache, which outlives this layer, uv knows the package by pyproject.toml
# alone, and would install it as it was when that file last changed.
RUN --mount=type=cache,target=/root/.cache/uv \
    uv sync --locked --no-dev --no-editable --extra cluster --extra embeddings \
    --reinstall-package fourtier

# --- what runs
FROM python:3.11-slim-bookworm

RUN useradd --uid 10001 --user-group --no-create-home --home-dir /tmp --shell /usr/sbin/nologin fourtier

COPY --from=build /opt/fourtier /opt/fourtier

# The root file system may be read-only; only /tmp is written, and nothing in it is missed later:
# the embedding model is put together there when it is loaded. ONNX Runtime, which runs that model,
# would report its use to its maker.
ENV PATH=/opt/fourtier/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    HOME=/tmp \
    ORT_DISABLE_TELEMETRY=1 \
    FOURTIER_DATA=/tmp/fourtier \
    FOURTIER_LOG_FORMAT=json

WORKDIR /tmp
USER 10001:10001

# /live, /ready and /metrics
EXPOSE 6680
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:6680/ready', timeout=4)"]

ENTRYPOINT ["fourtier"]
CMD ["--help"]
