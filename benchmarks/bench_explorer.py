"""The explorer at work: milliseconds a frame of each kind of model on 64 x 64 pictures, and seconds to the first one.

    python benchmarks/bench_explorer.py --out FOLDER              runs are fitted once and kept in FOLDER
    python benchmarks/bench_explorer.py --out FOLDER --frames 50 --kinds spectral vae

A frame is one slider event: the question over HTTP, the decoder, the PNG, the answer. "frame" is the CPU time of the
whole process for it, server and asking side together; "decode" and "png" are parts of it. "wall" is what the user
waits, the median, and "slow" its 95th percentile. "strips" is the CPU time of all traversal strips at once. "first" is
the wall time from the command to the first decoded picture, in a process of its own, best of three; "live" is that to
the first picture of another position, which needs the model; "CPU" behind each is that process's own time. Runs are
as `unbraid fit` leaves them, with the answers that a page asks first; --without measures runs that have none, as one
from an earlier version the first time. Trained models have had a few steps only: their time does not depend on what
they learned. The flow is of 16 x 16 pictures, as one of 64 x 64 takes long to fit; "wide flow" decodes one that was
never fitted.
"""

import argparse
import http.client
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import psutil
import torch

import unbraid as ub
from unbraid.app.explorer import Explorer, workspace_of
from unbraid.app.kept import OPENING, keep, keep_opening
from unbraid.app.view import view_of_run
from unbraid.networks.flow import conv_flow

N_PICTURES = 3000
QUICK = {"max_steps": 5, "random_state": 0, "progress": False}
KINDS = {
    "spectral": lambda: ub.HessianICA(2, 12, random_state=0),
    "linear": lambda: ub.PCAICA(2, random_state=0),
    "hae": lambda: ub.HessianAutoencoder(2, **QUICK),
    "vae": lambda: ub.BetaVAE(10, **QUICK),
    "flow": lambda: ub.NICE(n_factors=4, **QUICK),
}
HEAD = ("model", "frame", "decode", "png", "wall", "slow", "strips", "first", "CPU", "live", "CPU")


def run_of(kind, folder):
    """The folder of a run of this kind, fitted if it is not there."""
    path = folder / kind
    if not (path / "config.json").is_file():
        X, _ = ub.datasets.load("shapes-xy").sample(N_PICTURES, random_state=0)
        X = X[:200, ::4, ::4] if kind == "flow" else X
        model = KINDS[kind]().fit(X)
        model.save(path)
        keep(path, X, np.asarray(model.transform(X)))
    keep_opening(path, workspace_of([view_of_run(path)]))
    return path


class Page:
    """What the browser asks, over one connection that stays open."""

    def __init__(self, address):
        self.parts = urlsplit(address)
        self.connection = http.client.HTTPConnection(self.parts.hostname, self.parts.port, timeout=60)

    def ask(self, name, question=None):
        body = None if question is None else json.dumps(question)
        self.connection.request("GET" if body is None else "POST", self.parts.path + name, body)
        answer = self.connection.getresponse()
        found = answer.read()
        if answer.status != 200:
            raise SystemExit(f"{name}: {answer.status} {found[:300]!r}")
        return found


def cpu_of(work, n):
    """CPU milliseconds of one call, after a first one that is not counted."""
    work(0)
    start = time.process_time()
    for i in range(n):
        work(i)
    return 1000 * (time.process_time() - start) / n


def frames(path, n):
    workspace = workspace_of([view_of_run(path)])
    shown = workspace.shown[0]
    codes = np.tile(np.median(shown.codes, axis=0), (n, 1))
    first = shown.which[0]
    codes[:, first] = np.linspace(*np.quantile(shown.codes[:, first], [0.05, 0.95]), n)
    row = workspace.decode(0, codes[:1])
    explorer = Explorer(workspace).start()
    page, waits = Page(explorer.address), []

    def frame(i):
        start = time.perf_counter()
        page.ask("decode", {"run": 0, "codes": [codes[i].tolist()], "client": "bench", "number": i})
        waits.append(1000 * (time.perf_counter() - start))

    whole = cpu_of(frame, n)
    strips = np.repeat(codes[:1], 9 * len(shown.which), axis=0)
    found = {
        "frame": whole,
        "decode": cpu_of(lambda i: workspace.decode(0, codes[i : i + 1]), n),
        "png": cpu_of(lambda i: workspace.look.sheet(row), n),
        "wall": float(np.median(waits[1:])),
        "slow": float(np.quantile(waits[1:], 0.95)),
        "strips": cpu_of(lambda i: workspace.look.sheet(workspace.decode(0, strips)), 3),
    }
    explorer.close()
    return found


def wide_flow(n):
    """CPU milliseconds of decoding one 64 x 64 picture by the convolutional flow of default width."""
    flow = conv_flow((1, 64, 64), np.random.default_rng(0))
    theta, code = 1e-3 * torch.randn(1, flow.n_parameters), torch.randn(1, 1, flow.n_features)
    print(f"wide flow, {flow.n_parameters / 1e6:.0f} million parameters: decode", end=" ")
    print(f"{cpu_of(lambda i: flow.decode(theta, code), n):.1f} ms", flush=True)


def first_pictures(path, without):
    """Wall and CPU seconds from the command to the first decoded picture, and to one of another position."""
    if without:
        (path / OPENING).unlink(missing_ok=True)
    start = time.perf_counter()
    command = [sys.executable, "-u", "-m", "unbraid", "explore", str(path), "--no-open"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=dict(os.environ)) as process:
        try:
            page = Page(process.stdout.readline().split()[-1])
            told, found = json.loads(page.ask("runs"))["runs"][0], []
            for code in (told["start"], [1.01 * value for value in told["start"]]):
                page.ask("decode", {"run": 0, "codes": [code]})
                wall, used = time.perf_counter() - start, psutil.Process(process.pid).cpu_times()
                found += [wall, used.user + used.system]
        finally:
            process.terminate()
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="folder for the runs")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--without", action="store_true", help="measure runs without their first answers")
    parser.add_argument("--frames", type=int, default=200)
    args = parser.parse_args()
    print("".join(f"{name:>11}" for name in HEAD) + "   (ms; first, live: s)")
    for kind in args.kinds:
        path = run_of(kind, args.out)
        found = frames(path, args.frames)
        first = min(first_pictures(path, args.without) for _ in range(3))
        cells = [f"{found[name]:11.1f}" for name in HEAD[1:7]] + [f"{seconds:11.2f}" for seconds in first]
        print(f"{kind:>11}" + "".join(cells), flush=True)
    if "flow" in args.kinds:
        wide_flow(args.frames // 10)


if __name__ == "__main__":
    main()
