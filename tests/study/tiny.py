"""A study that takes a second, and stores side by side."""

from sqlalchemy import select

from unbraid.study import parse_spec
from unbraid.study.schema import kept, losses, pools, runs, scores

TINY = """
name = "tiny"
seeds = 2
pool = 200
metrics = ["mcc", "mig", "total_correlation"]
checkpoint_every = 5

[defaults]
max_steps = 20
log_every = 10
n_factors = 2

[[datasets]]
name = "isometric"
options = { n_features = 10 }
rows = 300

[[methods]]
name = "pca-ica"
sweep = { n_factors = [2, 3] }

[[methods]]
name = "beta-vae"
sweep = { beta = [1, 4] }
"""

LINEAR = TINY[: TINY.index('[[methods]]\nname = "beta-vae"')].replace("max_steps = 20\nlog_every = 10\n", "")


def tiny():
    return parse_spec(TINY, "tiny.toml")


def linear(seeds=2):
    """PCA+ICA alone: no training, milliseconds a run."""
    return parse_spec(LINEAR.replace("seeds = 2", f"seeds = {seeds}"), "linear.toml")


def content(store):
    """All rows but times and machines; artefacts by their address, which is that of their bytes."""
    asked = {
        "runs": select(runs.c.run, runs.c.index, runs.c.status, runs.c.steps, runs.c.pool, runs.c.config, runs.c.error),
        "scores": select(scores),
        "losses": select(losses),
        "kept": select(kept),
        "pools": select(pools),
    }
    with store.engine.connect() as connection:
        return {name: sorted(map(tuple, connection.execute(query))) for name, query in asked.items()}
