# The playground and its JSON interface: docker build -t tanglewood . && docker run -p 8000:8000 tanglewood
FROM python:3.13-slim AS build
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends gcc libc6-dev \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY pyproject.toml setup.py README.md LICENSE ./
COPY src src
RUN python3 -m venv /opt/tanglewood && /opt/tanglewood/bin/pip install --no-cache-dir '.[web]'

FROM python:3.13-slim
COPY --from=build /opt/tanglewood /opt/tanglewood
ENV PATH=/opt/tanglewood/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
USER 10001:10001
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/health', timeout=4)"]
ENTRYPOINT ["tanglewood"]
CMD ["serve", "--host", "0.0.0.0"]
