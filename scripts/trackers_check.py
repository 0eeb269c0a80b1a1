"""Train and score a model within each tracker for real, on local stores, and read back what arrived.

``make test-trackers`` runs it. MLflow's versions of some packages are not those of the other extras, so trackers are
installed into a folder of their own, which this script puts before the environment's.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

Work = Callable[[Any], tuple[list[float], float]]  # losses of a training, and the score, within a tracker
ROOT = Path(__file__).resolve().parents[1]
APART = ("importlib-metadata",)  # pinned for others, and MLflow needs an older one


def install(folder: Path) -> None:
    """MLflow and Weights & Biases into ``folder``, with the pinned versions of all that does not conflict."""
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
        file.write("\n".join(pin for pin in pins if pin.partition("==")[0] not in APART))
        file.flush()
        packages = ("mlflow-skinny>=3", "wandb>=0.17")
        command = [sys.executable, "-m", "pip", "install", "-q", "--target", str(folder), "-c", file.name, *packages]
        subprocess.run(command, check=True)


def check(place: Path) -> None:
    """One training and one evaluation for each tracker."""
    import numpy as np

    import unbraid as ub

    rng = np.random.default_rng(0)
    factors = rng.uniform(size=(200, 2))
    X = factors @ rng.normal(size=(2, 6))

    def work(tracker: Any) -> tuple[list[float], float]:
        with ub.tracking(tracker):
            model = ub.VAE(n_factors=2, max_steps=6, log_every=2, batch_size=32, random_state=0).fit(X)
            scores = ub.evaluate(model, (X, factors), metrics="mcc")
        return [record["loss"] for record in model.history_], scores["mcc"].value

    mlflow(place, work)
    wandb(place, work)
    tensorboard(place, work)


def mlflow(place: Path, work: Work) -> None:
    from mlflow import MlflowClient

    import unbraid as ub

    os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"  # newer versions ask for a database or this
    uri = (place / "mlruns").as_uri()
    tracker = ub.trackers.MLflow("check", uri)
    losses, mcc = work(tracker)
    client = MlflowClient(tracking_uri=uri)
    run = client.get_run(tracker.run_id)
    arrived = [m.value for m in client.get_metric_history(tracker.run_id, "VAE/loss")]
    assert arrived == losses, (arrived, losses)
    assert run.data.metrics["evaluation/mcc"] == mcc, run.data.metrics
    assert run.data.params["VAE/n_factors"] == "2", run.data.params
    assert run.info.status == "FINISHED", run.info.status
    failing = ub.trackers.MLflow("check", uri)
    try:
        with ub.tracking(failing):
            raise ArithmeticError("on purpose")
    except ArithmeticError:
        assert client.get_run(failing.run_id).info.status == "FAILED"
    print(f"MLflow: {len(losses)} losses, mcc {mcc:.3f}, parameters, states: right")


def wandb(place: Path, work: Work) -> None:
    from wandb.proto.wandb_internal_pb2 import Record

    import unbraid as ub

    losses, mcc = work(ub.trackers.WandB("check", mode="offline", dir=str(place)))
    (file,) = place.glob("wandb/offline-run-*/*.wandb")
    rows: list[dict[str, str]] = []
    for data in log_records(file.read_bytes()):
        record = Record()
        record.ParseFromString(data)
        rows.append({item.key or "/".join(item.nested_key): item.value_json for item in record.history.item})
    arrived = [float(row["VAE/loss"]) for row in rows if "VAE/loss" in row]
    assert arrived == losses, (arrived, losses)
    assert [float(row["evaluation/mcc"]) for row in rows if "evaluation/mcc" in row] == [mcc]
    print(f"Weights & Biases, offline: {len(losses)} losses, mcc {mcc:.3f}: right")


def log_records(data: bytes) -> Iterator[bytes]:
    """Records of a file in LevelDB's log format (which W&B writes) after 7 bytes of its own."""
    place, parts = 7, b""
    while place + 7 <= len(data):
        left = 32768 - place % 32768
        if left < 7:  # too short for a header: the block is filled up
            place += left
            continue
        length, kind = int.from_bytes(data[place + 4 : place + 6], "little"), data[place + 6]
        parts += data[place + 7 : place + 7 + length]
        place += 7 + length
        if kind in (1, 4):  # whole, or the last piece
            yield parts
            parts = b""


def tensorboard(place: Path, work: Work) -> None:
    import numpy as np
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    import unbraid as ub

    losses, mcc = work(ub.trackers.TensorBoard(place / "events"))
    events = EventAccumulator(str(place / "events")).Reload()
    np.testing.assert_allclose([event.value for event in events.Scalars("VAE/loss")], losses, rtol=1e-6)
    np.testing.assert_allclose([event.value for event in events.Scalars("evaluation/mcc")], [mcc], rtol=1e-6)
    print(f"TensorBoard: {len(losses)} losses, mcc {mcc:.3f}: right")


if __name__ == "__main__":
    trackers = Path(sys.argv[1]).resolve()
    if "--here" not in sys.argv:
        if not (trackers / "mlflow").is_dir():
            install(trackers)
        path = os.pathsep.join([str(trackers), *filter(None, [os.environ.get("PYTHONPATH")])])
        subprocess.run([sys.executable, *sys.argv, "--here"], env={**os.environ, "PYTHONPATH": path}, check=True)
    else:
        with tempfile.TemporaryDirectory(prefix="unbraid-trackers-") as name:
            check(Path(name))
