"""Downloads against a small server: whole, resumed, cut, wrong, absent."""

import hashlib
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from tests.facts import facts
from unbraid import datasets
from unbraid.datasets import registry
from unbraid.datasets.storage import Remote, download

DATA = bytes(range(256)) * 40_000
MD5 = hashlib.md5(DATA, usedforsecurity=False).hexdigest()


class Handler(BaseHTTPRequestHandler):
    asked: list = []
    cut = None

    def do_GET(self):
        start = int(self.headers.get("Range", "bytes=0-")[6:-1])
        Handler.asked.append(start)
        if self.path == "/none":
            self.send_error(404)
            return
        if start >= len(DATA):
            self.send_error(416)
            return
        body = DATA[start:]
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body if Handler.cut is None else body[: Handler.cut])

    def log_message(self, *args):
        pass


@pytest.fixture
def url():
    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    Handler.asked, Handler.cut = [], None
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_whole_download(url, tmp_path):
    download(f"{url}/file", tmp_path / "deep" / "file", MD5)
    assert (tmp_path / "deep" / "file").read_bytes() == DATA
    assert [p.name for p in (tmp_path / "deep").iterdir()] == ["file"]


def test_a_cut_download_is_resumed(url, tmp_path):
    path = tmp_path / "file"
    Handler.cut = 5_000_000
    with pytest.raises(ConnectionError, match=facts(5000000, 10240000)):
        download(f"{url}/file", path, MD5)
    assert not path.exists()
    Handler.cut = None
    download(f"{url}/file", path, MD5)
    assert path.read_bytes() == DATA
    assert Handler.asked == [0, 5_000_000]


def test_a_part_that_is_whole_needs_no_more(url, tmp_path):
    (tmp_path / "file.part").write_bytes(DATA)
    download(f"{url}/file", tmp_path / "file", MD5)
    assert (tmp_path / "file").read_bytes() == DATA


def test_a_wrong_checksum_never_replaces_a_good_file(url, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"good")
    with pytest.raises(ValueError, match=facts("md5", "0000")):
        download(f"{url}/file", path, "0000")
    assert path.read_bytes() == b"good"
    assert not (tmp_path / "file.part").exists()
    Handler.cut = 1000
    with pytest.raises(ConnectionError):
        download(f"{url}/file", path, MD5)
    assert path.read_bytes() == b"good"


def test_no_network_says_which_file_goes_where(tmp_path, url):
    with pytest.raises(ConnectionError, match=facts("127.0.0.1:9", str(tmp_path), "UNBRAID_DATA")):
        download("http://127.0.0.1:9/file", tmp_path / "file")
    with pytest.raises(ConnectionError, match=facts(404, str(tmp_path))):
        download(f"{url}/none", tmp_path / "file")


def test_get_fetches_what_is_missing(url, tmp_path, monkeypatch):
    monkeypatch.setitem(registry.REMOTE, "shapes3d", (Remote("3dshapes.h5", MD5, f"{url}/file"),))
    monkeypatch.setenv("UNBRAID_DATA", str(tmp_path))
    assert datasets.get("shapes3d") == [tmp_path / "3dshapes.h5"]
    datasets.get("shapes3d")
    assert len(Handler.asked) == 1
    with pytest.raises(ValueError, match=facts("'shapes-xy'", "shapes3d, cars3d", "dsprites, place-cells, ffhq")):
        datasets.get("shapes-xy")
    with pytest.raises(FileNotFoundError, match=facts("img_align_celeba", "https://mmlab", str(tmp_path))):
        datasets.get("celeba")


def test_every_loaded_name_has_its_files():
    files = {e.name for e in registry.ENTRIES if e.origin == "file"}
    assert files == set(registry.REMOTE)
    assert all(len(r.md5) == 32 for files in registry.REMOTE.values() for r in files if r.url)
