"""Connections to a real server: clients that are slow, idle, silent or too many do not keep others out."""

from __future__ import annotations

import json
import socket
import threading
import time
from contextlib import ExitStack, contextmanager

import pytest
import uvicorn

from playground import FIGURE1, check, client_of, limited, refused, toy_playground
from tanglewood.web import answers, connections
from tanglewood.web.api import Playground
from tanglewood.web.app import make_app
from tanglewood.web.connections import configured
from tanglewood.web.limits import Limits

GET = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
HALF = b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-Slow: "
LADDER = "".join(f"{word}\tw{word}\t_\tX\t_\t_\t{word - 1}\tdep\t_\t_\n" for word in range(1, 31))
PATIENCE = 30  # seconds; no test waits that long unless it fails


@contextmanager
def serving(**limits):
    """A server in a thread; gives the function that connects to it, and its state as an attribute of that."""
    chosen = Limits(**limits)
    app = make_app(Playground(limits=chosen))
    server = uvicorn.Server(configured(app, chosen))
    listening = socket.create_server(("127.0.0.1", 0), backlog=1024)
    address = listening.getsockname()
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    with ExitStack() as opened:

        def connect(data=b"", receive=None):
            found = opened.enter_context(socket.socket())
            if receive is not None:
                found.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
            found.settimeout(PATIENCE)
            found.connect(address)
            found.sendall(data)
            return found

        connect.open = server.server_state.connections
        connect.metrics = app.metrics
        try:
            yield connect
        finally:
            server.should_exit = True
            thread.join(PATIENCE)


def everything(connection):
    """All that comes until the connection is closed."""
    found = b""
    try:
        while data := connection.recv(1 << 16):
            found += data
    except ConnectionError:
        pass
    return found


def answer(connection, data=b""):
    """The status and the body of the next answer."""
    connection.sendall(data)
    found = b""
    while b"\r\n\r\n" not in found:
        part = connection.recv(1 << 16)
        assert part, found
        found += part
    head, _, body = found.partition(b"\r\n\r\n")
    length = next(int(line.partition(b":")[2]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-l"))
    while len(body) < length:
        body += connection.recv(1 << 16)
    return int(head.split()[1]), json.loads(body)


def is_cut_off(connection):
    """Send byte after byte until nobody takes any more."""
    end = time.monotonic() + PATIENCE
    try:
        while time.monotonic() < end:
            connection.sendall(b"x")
            time.sleep(0.02)
    except ConnectionError:
        return True
    return False


def becomes(what, wanted):
    """Wait until something has a value."""
    end = time.monotonic() + PATIENCE
    while what() != wanted and time.monotonic() < end:
        time.sleep(0.01)
    assert what() == wanted


def test_half_sent_heads_are_given_up_and_told_so():
    with serving(arrival=1) as connect:
        silent = [connect() for _ in range(20)]
        half = [connect(HALF) for _ in range(20)]
        for connection in half:
            found = everything(connection)
            assert found.startswith(b"HTTP/1.1 408 Request Timeout\r\n")
            content = check("Refusal", json.loads(found.partition(b"\r\n\r\n")[2]))
            assert content["error"] == "the request did not arrive within 1 seconds"
        assert all(everything(connection) == b"" for connection in silent)
        assert 'refusals_total{status="408"} 20\n' in connect.metrics.text((0, 0))
        becomes(lambda: len(connect.open), 0)
        assert answer(connect(), GET)[0] == 200


def test_bytes_that_come_one_by_one_gain_no_time():
    with serving(arrival=1) as connect:
        connection = connect(HALF)
        assert is_cut_off(connection)
        becomes(lambda: len(connect.open), 0)


@pytest.mark.parametrize("begin", [HALF, b"\r\n", b"G"])
def test_the_second_request_of_a_connection_has_its_time_too(begin):
    with serving(arrival=1) as connect:
        connection = connect()
        assert answer(connection, GET)[0] == 200
        connection.sendall(begin)
        found = everything(connection)
        assert found.startswith((b"HTTP/1.1 408", b"HTTP/1.1 400"))  # it may be wrong already


POST = b"POST /api/parse HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (POST, 408),
        (POST.replace(b"application/json", b"text/plain"), 415),
        (POST.replace(b"/api/parse", b"/nowhere"), 404),
        (POST.replace(b"localhost", b"evil.example"), 421),
        (POST.replace(b"1000", b"999999999"), 413),
    ],
)
def test_a_body_that_never_ends_is_given_up_whatever_is_answered(request_, status, monkeypatch):
    monkeypatch.setattr(connections, "LINGER", 0.2)
    with serving(arrival=1) as connect:
        connection = connect()
        found, content = answer(connection, request_)
        assert found == status
        check("Refusal", content)
        assert is_cut_off(connection)
        becomes(lambda: len(connect.open), 0)


def test_a_connection_is_kept_for_further_requests():
    with serving(arrival=1) as connect:
        connection = connect()
        for _ in range(2):
            assert answer(connection, GET)[0] == 200
            time.sleep(1.2)  # longer than a request may take to arrive: nobody waits for one
        connection.sendall(GET + GET)
        found = b""
        while found.count(b"HTTP/1.1 200 OK") < 2:
            found += connection.recv(1 << 16)


def test_beyond_the_limit_connections_are_refused_at_once():
    with serving(connections=5, arrival=PATIENCE) as connect:
        kept = [connect(HALF) for _ in range(5)]
        becomes(lambda: len(connect.open), 5)
        for _ in range(3):
            connection = connect(GET)
            found = everything(connection)
            connection.close()
            assert found.startswith(b"HTTP/1.1 503 Service Unavailable\r\n")
            assert b"\r\nRetry-After: 1\r\n" in found
            content = check("Refusal", json.loads(found.partition(b"\r\n\r\n")[2]))
            assert content["error"] == "the server has the 5 connections that it may have; try again in a second"
        assert 'refusals_total{status="503"} 3\n' in connect.metrics.text((0, 0))
        becomes(lambda: len(connect.open), 5)
        assert answer(kept[0], b"\r\n\r\n")[0] == 200
        kept[1].close()
        becomes(lambda: len(connect.open), 4)
        assert answer(connect(), GET)[0] == 200


def test_refusals_do_not_pile_up(monkeypatch):
    monkeypatch.setattr(connections, "MOST_REFUSED", 2)
    monkeypatch.setattr(connections, "LINGER", 0.2)
    with serving(connections=1, arrival=PATIENCE) as connect:
        connect(HALF)
        becomes(lambda: len(connect.open), 1)
        answers = [everything(one) for one in [connect() for _ in range(6)]]
        assert sorted(found.startswith(b"HTTP/1.1 503") for found in answers) == [False] * 4 + [True] * 2


def test_idle_connections_make_room_the_oldest_first():
    with serving(connections=3) as connect:
        idle = [connect() for _ in range(3)]
        for connection in idle:
            assert answer(connection, GET)[0] == 200
        assert answer(connect(), GET)[0] == 200
        assert everything(idle[0]) == b""
        assert answer(idle[1], GET)[0] == 200  # so that it is no longer the oldest
        assert answer(connect(), GET)[0] == 200
        assert everything(idle[2]) == b""
        assert answer(idle[1], GET)[0] == 200


def test_requests_that_do_not_arrive_make_room_as_well(monkeypatch):
    monkeypatch.setattr(connections, "JUST_NOW", 0.2)
    with serving(connections=3, arrival=PATIENCE) as connect:
        half = [connect(HALF) for _ in range(3)]
        becomes(lambda: len(connect.open), 3)
        time.sleep(0.3)
        assert answer(connect(), GET)[0] == 200
        assert everything(half[0]) == b""
        assert answer(half[1], b"\r\n\r\n")[0] == 200


def long_request(size):
    conllu = f"1\t{'x' * size}\t_\tX\t_\t_\t0\troot\t_\t_\n"
    body = json.dumps({"conllu": conllu, "drawings": False}).encode()
    return POST.rpartition(b"{")[0].replace(b"1000", str(len(body)).encode()) + body


def test_a_client_that_does_not_read_its_answer_is_cut_off_and_a_slow_one_is_not(monkeypatch):
    monkeypatch.setattr(connections, "SLOWEST", 1000)
    with serving(arrival=1) as connect:
        connection = connect(long_request(3 << 20), receive=4096)
        becomes(lambda: len(connect.open), 1)
        becomes(lambda: len(connect.open), 0)
        connection.close()
        slow = connect(long_request(1 << 20), receive=1 << 16)
        status, content = answer(slow)
        assert status == 200
        assert len(content["sentences"][0]["text"]) == 1 << 20


def test_an_answer_that_would_be_too_large_is_refused_with_what_to_do():
    client = limited(max_answer=20_000)
    small = client.post("/api/parse", json={"conllu": FIGURE1})
    assert small.status_code == 200
    for path, body in (
        ("parse", {"conllu": FIGURE1 * 20}),
        ("trace", {"conllu": LADDER, "system": "covington"}),
        ("treebank", {"conllu": FIGURE1 * 100}),
    ):
        error = refused(client, path, **body)["error"]
        assert "more than the 20,000 bytes" in error
        assert "fewer or shorter sentences" in error
    assert client.post("/api/parse", json={"conllu": FIGURE1 * 20, "drawings": False}).status_code == 422


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("parse", {"conllu": FIGURE1 * 9}),
        ("parse", {"conllu": FIGURE1 + "\n\n" + LADDER, "drawings": False}),
        ("parse", {"conllu": "1\tx\t_\t_\t_\t_\t0\tr\t_\t_\n"}),
        ("parse", {"conllu": LADDER, "drawings": False, "nbest": 20, "beam": 32, "model": "toy"}),
        ("trace", {"conllu": LADDER, "system": "covington"}),
        ("trace", {"conllu": FIGURE1, "system": "three-step"}),
        ("trace", {"conllu": LADDER, "guide": "model", "drawings": False}),
        ("treebank", {"conllu": FIGURE1 * 30}),
    ],
)
def test_an_answer_that_is_not_too_large_is_not_refused(path, body):
    models = toy_playground().models
    size = len(client_of(Playground(models)).post(f"/api/{path}", json=body).content)
    for most, status in ((size, 200), (size - 1, 422)):
        client = client_of(Playground(models, Limits(max_answer=most)))
        assert client.post(f"/api/{path}", json=body).status_code == status


def test_a_large_answer_is_refused_before_all_of_it_is_made(monkeypatch):
    drawn = []
    plain = answers.draw
    monkeypatch.setattr(answers, "draw", lambda tree, sentence: drawn.append(1) or plain(tree, sentence))
    conllu = f"1\t{'x' * 30_000}\t_\tX\t_\t_\t0\troot\t_\t_\n\n" * 50
    assert "50,000 bytes" in refused(limited(max_answer=50_000), "parse", conllu=conllu)["error"]
    assert len(drawn) == 1


def test_many_trees_count_as_well():
    play = toy_playground()
    sizes = []
    for most, nbest, status in ((1 << 20, 1, 200), (1 << 20, 16, 200), (6000, 1, 200), (6000, 16, 422)):
        with client_of(Playground(play.models, Limits(max_answer=most))) as client:
            body = {"conllu": LADDER, "drawings": False, "nbest": nbest, "beam": 32, "model": "toy"}
            response = client.post("/api/parse", json=body)
            assert response.status_code == status
            sizes.append(len(response.content))
    assert sizes[0] < 6000 < sizes[1]


@pytest.mark.parametrize(
    "host",
    [
        "user@localhost",
        "user:password@localhost",
        "localhost:x@evil.example",
        "localhost:80@evil.example",
        "localhost:",
        "localhost:80:80",
        "localhost:-1",
        "localhost:123456",
        "localhost/evil.example",
        "localhost,evil.example",
        "localhost evil.example",
        "localhost#",
        "[::1",
        "::1",
        "[::1]]",
        "[::1]evil.example:80",
        "évil.example",
        "x" * 10_000 + "/",
    ],
)
@pytest.mark.parametrize("hosts", [("localhost", "[::1]"), None])
def test_hosts_that_are_none_are_refused_even_where_any_name_will_do(host, hosts):
    response = client_of(hosts=hosts).get("/health", headers={"Host": host.encode()})
    assert response.status_code == 421
    assert len(check("Refusal", response.json())["error"]) < 700


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8000", "trees.example", "[::1]:80", "192.0.2.7", "a_b-c.d:1"])
def test_hosts_that_are_well_formed_are_answered_where_any_name_will_do(host):
    assert client_of(hosts=None).get("/health", headers={"Host": host}).status_code == 200


def test_many_half_sent_requests_leave_nobody_out():
    with serving(arrival=1, connections=300) as connect:
        half = [connect(HALF) for _ in range(200)]
        assert answer(connect(), GET)[0] == 200
        assert all(everything(connection).startswith(b"HTTP/1.1 408") for connection in half)
        becomes(lambda: len([one for one in connect.open if one.timeout_keep_alive_task is None]), 0)
