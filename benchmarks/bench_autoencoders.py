"""Training of VAEs against pythae: the same network, start weights, images, batch size, optimiser and loss, in turns.

python benchmarks/bench_autoencoders.py               one thread; ratios are of CPU time, medians over the rounds
python benchmarks/bench_autoencoders.py --epochs 1 --rounds 1   a quick look

pythae runs in an environment of its own, benchmarks/.pythae-venv, which the first run makes (it needs the network or
a local index, and the torch of constraints.txt). Its time is that of its training epochs; ours is that of all of
``fit``. FactorVAE is left out: pythae's trains the autoencoder on half of each batch, so a step is not the same work.
"""

import argparse
import json
import os
import subprocess
import tempfile
import time
import venv
from pathlib import Path

import numpy as np
import torch
from autoencoder_nets import BATCH, LEARNING_RATE, N_FACTORS, negative_elbo, networks

import unbraid as ub

HERE = Path(__file__).resolve().parent
PEER = "pythae==0.1.2"
N_IMAGES = 20_000
METHODS = {"VAE": 1.0, "BetaVAE": 4.0, "BetaTCVAE": 6.0}
LEAST_RATIO, LEAST_SPEED = 1.3, 45


def peer_python():
    """The interpreter of pythae's environment, made if need be."""
    folder = HERE / ".pythae-venv"
    python, done = folder / "bin" / "python", folder / PEER
    if not done.exists():
        print(f"making {folder} with {PEER} ...", flush=True)
        venv.create(folder, clear=True, with_pip=True)
        constraints = HERE.parent / "constraints.txt"
        install = [python, "-m", "pip", "install", "-q", "-c", constraints, "torch", PEER]
        if subprocess.run(install, check=False).returncode:
            raise SystemExit(f"pip could not install {PEER}; is there a way to PyPI or to a mirror of it?")
        done.touch()
    return python


def run_peer(python, images, method, epochs, seed):
    command = [python, HERE / "peer_pythae.py", images, method, METHODS[method], epochs, seed]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        raise SystemExit(f"pythae failed:\n{done.stderr[-3000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def run_ours(images, method, steps, seed, own_network=True):
    options = {} if method == "VAE" else {"beta": METHODS[method]}
    if own_network:
        encoder, decoder = networks(seed)
        options |= {"encoder": encoder, "decoder": decoder}
    model = getattr(ub, method)(
        n_factors=N_FACTORS, preset="small", batch_size=BATCH, learning_rate=LEARNING_RATE, max_steps=steps,
        random_state=seed, **options,
    )  # fmt: skip
    cpu, wall = time.process_time(), time.perf_counter()
    model.fit(images)
    found = {"cpu_seconds": time.process_time() - cpu, "wall_seconds": time.perf_counter() - wall, "steps": steps}
    reconstruction, kl = negative_elbo(
        lambda x: tuple(map(torch.from_numpy, model.encode(x.numpy()))),
        lambda z: torch.from_numpy(model.inverse_transform(z.numpy())),
        torch.from_numpy(images[:2000]) / 255,
    )
    return found | {"reconstruction": reconstruction, "kl": kl}


def speed(runs):
    return float(np.median([run["steps"] / run["cpu_seconds"] for run in runs]))


def line(name, method, runs, base=None):
    """A row of the table; what both minimise is taken apart, because the methods weigh its terms differently."""
    wall = float(np.median([run["steps"] / run["wall_seconds"] for run in runs]))
    reconstruction, kl = (float(np.mean([run[key] for run in runs])) for key in ("reconstruction", "kl"))
    ratio = "" if base is None else f"{speed(runs) / base:.2f}"
    print(
        f"{method:12s}{name:26s}{speed(runs):12.1f}{wall:10.1f}{ratio:>8s}"
        f"{reconstruction + kl:14.2f}{reconstruction:10.2f}{kl:8.2f}",
        flush=True,
    )


def check(method, runs):
    """pythae's own loss beside the same weighted sum by the score of both sides, on the same weights, other noise."""
    if method == "BetaTCVAE":
        return ""
    ours = np.mean([run["reconstruction"] + METHODS[method] * run["kl"] for run in runs])
    theirs = np.mean([run["own_loss"] for run in runs])
    return f"pythae's own loss of its model {theirs:.2f}, by our formula {ours:.2f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=3, help=f"of {-(-N_IMAGES // BATCH)} steps")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    args = parser.parse_args()
    torch.set_num_threads(1)
    python = peer_python()
    X, _ = ub.datasets.load("dsprites").sample(N_IMAGES, random_state=0)
    images = np.round(255 * X).astype(np.uint8)
    steps = args.epochs * -(-N_IMAGES // BATCH)
    print(f"{N_IMAGES} dSprites images, batch {BATCH}, {steps} steps, {args.rounds} round(s), one thread, {PEER}\n")
    print(f"{'method':12s}{'':26s}{'steps/CPU s':>12s}{'steps/s':>10s}{'ratio':>8s}{'nats/image':>14s}{'= rec.':>10s}"
          f"{'+ KL':>8s}")  # fmt: skip
    verdicts = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "images.npy"
        np.save(path, images)
        for method in args.methods:
            peer, ours, preset = [], [], []
            run_ours(images, method, 20, 0)  # pythae tries its model out before its clock starts, too
            for seed in range(args.rounds):
                peer.append(run_peer(python, path, method, args.epochs, seed))
                ours.append(run_ours(images, method, steps, seed))
                preset.append(run_ours(images, method, steps, seed, own_network=False))
            line("pythae", method, peer)
            line("unbraid, same network", method, ours, speed(peer))
            line('unbraid, preset "small"', method, preset, speed(peer))
            verdicts.append((method, speed(ours) / speed(peer), speed(preset), check(method, peer)))
    print(f"\nwanted: ratio {LEAST_RATIO} on the same network, {LEAST_SPEED} steps/s a core for the preset")
    for method, ratio, steps_per_second, same in verdicts:
        met = ratio >= LEAST_RATIO and steps_per_second >= LEAST_SPEED
        print(f"{method}: {ratio:.2f}x, {steps_per_second:.0f} steps/s: {'met' if met else 'NOT MET'}. {same}")


if __name__ == "__main__":
    main()
