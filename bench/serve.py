"""The playground under load: many clients at once against a server that is started for it.

    python bench/serve.py -m model.tw --clients 100 --seconds 60

Each client sends one request after the other: text to parse, traces by an oracle and by the model, and the page, in
turn; a model that takes no text is spared it. Prints requests a second, latencies, errors and the server's
memory at the start and at the end.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import time
from collections import Counter
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from threading import Thread

FIGURE1 = (Path(__file__).resolve().parents[1] / "examples" / "figure1.conllu").read_text(encoding="utf-8")
TEXT = "The committee that was formed yesterday will meet again. A letter arrived that nobody had expected."


def memory(pid: int) -> float:
    """Resident memory of a process in megabytes."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024


def client(port: int, work: list[tuple[str, str, str | None]], end: float, first: int, log: list) -> None:
    """Send requests until the time is over; log (name, status, seconds)."""
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    turn = first
    while time.monotonic() < end:
        name, path, body = work[turn % len(work)]
        turn += 1
        began = time.perf_counter()
        try:
            headers = {"Content-Type": "application/json"} if body else {}
            connection.request("POST" if body else "GET", path, body, headers)
            answer = connection.getresponse()
            answer.read()
            status = answer.status
        except (OSError, HTTPException) as error:
            status = type(error).__name__
            connection.close()
        log.append((name, status, time.perf_counter() - began))
    connection.close()


def percentile(values: list[float], share: float) -> float:
    """The value below which this share of the values lies."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def main() -> None:
    """Start a server, load it, and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-m", "--model", help="model file (default: the bundled one, if there is one)")
    parser.add_argument("--clients", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=60)
    args = parser.parse_args()
    serve = [sys.executable, "-m", "tanglewood", "serve", "--port", "0", "--quiet"]
    command = [*serve, *(["-m", args.model] if args.model else [])]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    port = int(re.search(r":(\d+)/", server.stdout.readline())[1])
    work = [
        ("parse", "/api/parse", json.dumps({"text": TEXT})),
        ("trace", "/api/trace", json.dumps({"conllu": FIGURE1, "system": "swap"})),
        ("trace by model", "/api/trace", json.dumps({"text": TEXT, "guide": "model"})),
        ("page", "/", None),
    ]
    probe: list = []
    for turn in range(len(work)):  # warm, and leave out what this server has no model for
        client(port, work, time.monotonic() + 1e-3, turn, probe)
    usable = {name for name, status, _ in probe if status == 200}
    work = [item for item in work if item[0] in usable]
    before = memory(server.pid)
    logs: list[list] = [[] for _ in range(args.clients)]
    end = time.monotonic() + args.seconds
    threads = [Thread(target=client, args=(port, work, end, turn, log)) for turn, log in enumerate(logs)]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    halfway = 0.0
    while any(thread.is_alive() for thread in threads):
        time.sleep(0.2)
        if not halfway and time.monotonic() - began > args.seconds / 2:
            halfway = memory(server.pid)
    spent = time.monotonic() - began
    after = memory(server.pid)
    found = [entry for log in logs for entry in log]
    print(f"{args.clients} clients, {spent:.0f} s: {len(found) / spent:,.0f} requests/s")
    for name in [name for name, _, _ in work]:
        times = [1000 * seconds for kind, status, seconds in found if kind == name and status == 200]
        if times:
            middle, slow = percentile(times, 0.5), percentile(times, 0.99)
            print(f"{name:15} {len(times):7,}  p50 {middle:6.0f} ms  p99 {slow:6.0f} ms")
    bad = Counter(str(status) for _, status, _ in found if status != 200)
    print("errors:", dict(bad) or "none")
    print(f"memory of the server: {before:.0f} MB before, {halfway:.0f} MB halfway, {after:.0f} MB after")
    server.terminate()
    server.wait(20)


if __name__ == "__main__":
    main()
