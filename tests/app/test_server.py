"""The server: who is let in, what is refused and how, and that a storm of slider events leaves it standing."""

import http.client
import io
import json
import struct
import threading
import zlib
from urllib.parse import urlsplit

import numpy as np
import psutil
import pytest
from PIL import Image


class Client:
    """Questions to one address, with any header."""

    def __init__(self, address):
        self.parts = urlsplit(address)

    def __call__(self, path="", body=None, headers=None, *, root=None, method=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.parts.port, timeout=300)
        body = json.dumps(body).encode() if isinstance(body, dict) else body
        where = (self.parts.path if root is None else root) + path
        try:
            connection.request(method or ("GET" if body is None else "POST"), where, body, headers or {})
            answer = connection.getresponse()
            return answer.status, answer.read(), dict(answer.headers)
        finally:
            connection.close()


@pytest.fixture
def client(served):
    return Client(served("spectral"))


def refused(answer, status, *words):
    assert answer[0] == status
    told = json.loads(answer[1])["error"]
    for word in words:
        assert word in told


def test_the_page_and_its_headers(client):
    status, text, headers = client()
    assert status == 200
    assert b"<h1>unbraid" in text
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "http" not in headers["content-security-policy"]
    assert headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize("root", ["/", "/wrong/", "/" + "A" * 32 + "/", "//", "/%C3%A9/"])
def test_a_wrong_token_is_refused(client, root):
    for path in ("", "runs", "page.js", "codes.csv"):
        refused(client(path, root=root), 403, "token")


def test_another_origin_is_refused_and_the_own_one_is_not(client):
    port = client.parts.port
    for origin in ("http://evil.example", "null", f"https://127.0.0.1:{port}", f"http://127.0.0.1:{port + 1}"):
        refused(client("runs", headers={"Origin": origin}), 403, "another page")
    assert client("runs", headers={"Origin": f"http://127.0.0.1:{port}"})[0] == 200


def test_another_host_is_refused(client):
    port = client.parts.port
    for host in ("evil.example", f"evil.example:{port}", "127.0.0.1", f"127.0.0.1.evil.example:{port}"):
        refused(client("runs", headers={"Host": host}), 421, "127.0.0.1")
    assert client("runs", headers={"Host": f"localhost:{port}"})[0] == 200


@pytest.mark.parametrize(
    "path", ["../config.json", "%2e%2e/config.json", "config.json", "static/../server.py", "..%2f..%2fetc/passwd"]
)
def test_nothing_outside_the_page_can_be_read(client, path):
    assert client(path)[0] in (403, 404)


def test_a_large_upload_is_refused_before_it_is_read(client):
    before = psutil.Process().memory_info().rss
    connection = http.client.HTTPConnection("127.0.0.1", client.parts.port, timeout=300)
    connection.putrequest("POST", client.parts.path + "encode")
    connection.putheader("Content-Length", str(100 * 2**20))
    connection.endheaders(b"x" * 1000)
    assert connection.getresponse().status == 413
    connection.close()
    chunks = (b"x" * 2**16 for _ in range(25 * 16))  # 25 MB that do not say how long they are
    connection = http.client.HTTPConnection("127.0.0.1", client.parts.port, timeout=300)
    try:
        connection.request("POST", client.parts.path + "encode", chunks, encode_chunked=True,
                           headers={"Transfer-Encoding": "chunked"})  # fmt: skip
        status = connection.getresponse().status
    except (BrokenPipeError, ConnectionResetError):
        status = 413  # it hung up while we were still sending
    assert status == 413
    connection.close()
    assert psutil.Process().memory_info().rss - before < 60 * 2**20
    assert client()[0] == 200


def bomb(side):
    """A PNG of side x side black pixels in a few kilobytes per thousand rows."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    squeezer = zlib.compressobj(9, wbits=-zlib.MAX_WBITS)
    rows = squeezer.compress(bytes(100 * (side + 1))) + squeezer.flush(zlib.Z_FULL_FLUSH)  # may be repeated
    checksum = struct.pack(">I", side * (side + 1) % 65521 << 16 | 1)  # Adler's, of that many zeros
    body = b"\x78\x9c" + side // 100 * rows + b"\x03\x00" + checksum
    head = struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
@pytest.mark.parametrize("side", [7_000, 10_000, 20_000])
def test_a_picture_that_unpacks_to_much_is_refused(client, side):
    file = bomb(side)
    assert len(file) < 2**20
    before = psutil.Process().memory_info().rss
    refused(client("encode", file), 415, "million")
    assert psutil.Process().memory_info().rss - before < 30 * 2**20


def test_texts_and_damaged_pictures_are_refused(client):
    refused(client("encode", b"I am a text."), 415, "PNG", "JPEG")
    file = io.BytesIO()
    Image.fromarray(np.random.default_rng(0).integers(0, 255, (200, 200), dtype=np.uint8)).save(file, "PNG")
    refused(client("encode", file.getvalue()[:5000]), 415, "damaged")
    refused(client("encode", b""), 415)


@pytest.mark.parametrize(
    ("path", "body", "status", "word"),
    [
        ("decode", b"{", 400, "JSON"),
        ("decode", b"[1]", 400, "object"),
        ("decode", b"[" * 100_000, 400, "JSON"),
        ("decode", {"run": 7, "codes": [[0, 0]]}, 404, "there are 1"),
        ("decode", {"run": True, "codes": [[0, 0]]}, 404, "there is no run"),
        ("decode", {"codes": [[0]]}, 422, "lists of 2"),
        ("decode", {"codes": [["a", "b"]]}, 422, "lists of 2"),
        ("decode", {"codes": [[0, 0]] * 301}, 422, "1 to 300"),
        ("decode", b'{"codes": [[NaN, 0]]}', 422, "finite"),
        ("examples", {"rows": [-1]}, 422, "from 0 to 399"),
        ("examples", {"rows": [1.5]}, 422, "from 0 to 399"),
        ("position", {"rows": []}, 422, "rows"),
        ("name", {"code": 9, "name": "x"}, 422, "from 0 to 1"),
        ("name", {"code": 0, "name": 3}, 422, "text"),
    ],
)
def test_bad_questions_get_a_sentence(client, path, body, status, word):
    refused(client(path, body), status, word)
    assert client()[0] == 200


def test_a_question_that_is_too_long_is_refused(client):
    try:
        answer = client("decode", b" " * (2**20 + 1))
    except (BrokenPipeError, ConnectionResetError):
        pass  # the server hung up before the end of it
    else:
        refused(answer, 413, "too large")
    assert client()[0] == 200


def test_codes_as_csv_and_an_unknown_run(client):
    status, text, headers = client("codes.csv?run=0")
    assert status == 200
    assert text.startswith(b'"code 1","code 2"\n')
    assert "attachment" in headers["content-disposition"]
    refused(client("codes.csv?run=x"), 404, "there is no run")


def storm(client, n):
    """Slider events from 8 hands at once; (statuses, what the last position gave, growth of memory in bytes)."""
    codes = json.loads(client("runs")[1])["runs"][0]
    low, high = (np.array([s[end] for s in codes["sliders"]]) for end in ("low", "high"))
    positions = np.linspace(low, high, n).tolist()
    statuses = {}

    def hand(first):
        for i in range(first, n, 8):
            question = {"codes": [positions[i]], "client": "storm", "number": i}
            status, body, _ = client("decode", question)
            statuses[i] = status, body if i == n - 1 else len(body)

    before = psutil.Process().memory_info().rss
    hands = [threading.Thread(target=hand, args=(k,)) for k in range(8)]
    for thread in hands:
        thread.start()
    for thread in hands:
        thread.join()
    growth = psutil.Process().memory_info().rss - before
    return {i: status for i, (status, _) in statuses.items()}, statuses[n - 1][1], positions[-1], growth


def check_storm(client, n):
    client("decode", {"codes": [[0, 0]]})
    statuses, last, position, growth = storm(client, n)
    assert set(statuses.values()) <= {200, 204}
    assert statuses[len(statuses) - 1] == 200
    assert last == client("decode", {"codes": [position]})[1]
    assert growth < 40 * 2**20


def test_a_storm_of_slider_events(client):
    check_storm(client, 200)


@pytest.mark.slow
def test_a_storm_as_of_a_minute_of_dragging(client):
    check_storm(client, 12_000)


def test_a_position_that_was_overtaken_is_not_decoded(served, monkeypatch):
    """While a slow model works on the first of five, the last arrives: those between are passed over."""
    from unbraid.app.server import Questions
    from unbraid.app.workspace import Workspace

    decode, decoded, begun, ready = Workspace.decode, [], threading.Event(), threading.Event()
    call, arrived = Questions._call, []

    async def counted(self, function, *args):
        arrived.append(function)
        if len(arrived) == 5:
            ready.set()
        return await call(self, function, *args)

    def slow(self, number, codes):
        decoded.append(codes[0, 0])
        begun.set()
        ready.wait(300)
        return decode(self, number, codes)

    client = Client(served("linear"))
    monkeypatch.setattr(Workspace, "decode", slow)
    monkeypatch.setattr(Questions, "_call", counted)
    answers = {}

    def send(i):
        answers[i] = client("decode", {"codes": [[i / 10, 0]], "client": "me", "number": i})[0]

    threads = [threading.Thread(target=send, args=(i,)) for i in range(5)]
    threads[0].start()
    begun.wait(300)
    for thread in threads[1:]:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == {0: 200, 1: 204, 2: 204, 3: 204, 4: 200}
    assert decoded == [0.0, 0.4]
