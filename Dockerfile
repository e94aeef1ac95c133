# One image for all services of a flow: `serve FLOW SERVICE` runs one of them.
#
#   docker build --tag fourtier:local .

# --- build: the locked dependencies and the package itself. All dependencies are wheels: no compiler is needed.
FROM python:3.11-slim-bookworm AS build

ENV UV_COMPILE_BYTECODE=1 \
    UV_LINK_MODE=copy \
    UV_PROJECT_ENVIRONMENT=/opt/fourtier \
    UV_PYTHON_DOWNLOADS=never

RUN pip install --no-cache-dir uv==0.13.9

WORKDIR /source

# The dependencies have their own layer because they change less often than the code.
# Of the embedded engines only the embedding model is installed, which a cluster uses as well.
COPY pyproject.toml uv.lock ./
RUN --mount=type=cache,target=/root/.cache/uv \
    uv sync --locked --no-dev --no-install-project --extra cluster --extra embeddings

COPY README.md LICENSE ./
COPY schema ./schema
COPY services ./services
COPY flows ./flows
# Built again each time: uv's cache, which outlives this layer, knows the package by its pyproject.toml
# only, and would install the code as it was when that file last changed.
RUN --mount=type=cache,target=/root/.cache/uv \
    uv sync --locked --no-dev --no-editable --extra cluster --extra embeddings \
    --reinstall-package fourtier

# --- the image
FROM python:3.11-slim-bookworm

# The base image has no compiled standard library, and a read-only container cannot store it: without it, each health
# check compiles what it imports, and takes 0.5 s of processor time instead of 0.08.
RUN useradd --uid 10001 --user-group --no-create-home --home-dir /tmp --shell /usr/sbin/nologin fourtier && \
    python -m compileall -q -x site-packages /usr/local/lib/python3.11

COPY --from=build /opt/fourtier /opt/fourtier

# The root file system may be read-only: only /tmp is written, and nothing there is needed later. The
# embedding model is assembled there when it is loaded. Without the setting below, ONNX Runtime, which runs
# that model, reports its use to its manufacturer.
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
