"""Draw the curves of the calibration page: every metric on codes of known quality.

python docs/calibration_curves.py        writes docs/images/calibration-*.png and calibration.csv
"""

import csv
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from unbraid import metrics as m
from unbraid.evaluation import ceiling_codes

IMAGES = Path(__file__).parent / "images"
SIZES = (4, 6, 8, 10)
N = 3000
METRICS = {
    "MCC": m.mcc,
    "weak MCC": lambda v, z: m.mcc(v, z, weak=True),
    "MIG": m.mig,
    "MIG-sup": m.mig_sup,
    "JEMMIG": m.jemmig,
    "DCIMIG": m.dcimig,
    "MED": m.med,
    "modularity": m.modularity,
    "DCI disentanglement": lambda v, z: m.dci(v, z, backend="compiled").disentanglement,
    "DCI completeness": lambda v, z: m.dci(v, z, backend="compiled").completeness,
    "SAP": m.sap,
    "explicitness": m.explicitness,
    "InfoM": lambda v, z: m.infomec(v, z).infom,
    "InfoC": lambda v, z: m.infomec(v, z).infoc,
    "InfoE": lambda v, z: m.infomec(v, z).infoe,
    "IRS": m.irs,
    "FactorVAE score": lambda v, z: m.factor_vae(v, z, n_train=2000, n_test=2000),
    "BetaVAE score": lambda v, z: m.beta_vae(v, z, n_train=2000, n_test=2000),
}
COMBINED = {
    ("DCI disentanglement", "DCI completeness"): lambda v, z: _two(m.dci(v, z, backend="compiled")),
    ("InfoM", "InfoC", "InfoE"): lambda v, z: _three(m.infomec(v, z)),
}


def _two(found):
    return found.disentanglement, found.completeness


def _three(found):
    return found.infom, found.infoc, found.infoe


def scores(factors, codes):
    """All metrics of one representation, by name."""
    shared = {name for names in COMBINED for name in names}
    found = {name: float(f(factors, codes)) for name, f in METRICS.items() if name not in shared}
    for names, f in COMBINED.items():
        found.update(zip(names, f(factors, codes)))
    return {name: found[name] for name in METRICS}


def truth(seed=0):
    """Factors, and codes that determine them: one Gaussian code a factor."""
    rng = np.random.default_rng(seed)
    factors = np.stack([rng.integers(s, size=N) for s in SIZES], axis=1)
    return factors, ceiling_codes(factors, random_state=seed), rng


def noisy(level):
    factors, codes, rng = truth()
    return factors, codes + level * rng.normal(size=codes.shape)


def rotated(degrees):
    """Two pairs of codes, each turned in its plane."""
    factors, codes, _ = truth()
    a = np.radians(degrees)
    turn = np.kron(np.eye(2), [[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])
    return factors, codes @ turn


def duplicated(copies):
    """Some of the codes twice, the copy with a little noise of its own."""
    factors, codes, rng = truth()
    return factors, np.hstack([codes, codes[:, :copies] + 0.1 * rng.normal(size=(N, copies))])


def told(n):
    """Codes for n of the four factors, noise for the others."""
    factors, codes, rng = truth()
    return factors, np.hstack([codes[:, ::-1][:, :n], rng.normal(size=(N, 4 - n))])


CURVES = {
    "noise": ("standard deviation of noise added to perfect codes", noisy, (0, 0.1, 0.2, 0.4, 0.7, 1, 1.5, 2, 3)),
    "rotation": ("degrees by which pairs of perfect codes are turned", rotated, (0, 5, 10, 15, 20, 25, 30, 35, 40, 45)),
    "copies": ("number of the 4 codes that occur twice", duplicated, (0, 1, 2, 3, 4)),
    "told": ("number of the 4 factors that have a code", told, (0, 1, 2, 3, 4)),
}


def draw(name, label, points, values, chance):
    figure, axes = plt.subplots(3, 6, figsize=(12, 6), sharex=True, sharey=True, layout="constrained")
    for axis, metric in zip(axes.flat, METRICS):
        axis.plot(points, [v[metric] for v in values], "o-", color="#1f5a8a", markersize=3, linewidth=1.5)
        axis.axhline(chance[metric], color="#b0452c", linestyle=":", linewidth=1.2)
        axis.set_title(metric, fontsize=9)
        axis.set_ylim(-0.03, 1.05)
        axis.grid(alpha=0.25)
        axis.tick_params(labelsize=7)
    figure.supxlabel(label, fontsize=9)
    figure.supylabel("score (dotted: chance level)", fontsize=9)
    figure.savefig(IMAGES / f"calibration-{name}.png", dpi=180)
    plt.close(figure)


def draw_sizes():
    """Chance level and ceiling of MIG by sample size, for factors of 3 to 40 values."""
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained", sharex=True)
    sizes = (300, 1000, 3000, 10_000, 30_000)
    for n_values, colour in zip((3, 8, 32, 40), plt.cm.viridis(np.linspace(0.1, 0.85, 4))):
        low, high = [], []
        for n in sizes:
            rng = np.random.default_rng(n)
            v = [rng.integers(n_values, size=n) for _ in range(5)]
            low.append(np.mean([m.mig(x, rng.normal(size=n)) for x in v]))
            high.append(np.mean([m.mig(x, ceiling_codes(x, random_state=i)) for i, x in enumerate(v)]))
        axes[0].loglog(sizes, low, "o-", color=colour, markersize=3, label=f"{n_values} values")
        axes[1].semilogx(sizes, high, "o-", color=colour, markersize=3, label=f"{n_values} values")
    axes[0].set_title("MIG of one independent Gaussian code", fontsize=9)
    axes[1].set_title("MIG of a Gaussian code that determines the factor", fontsize=9)
    axes[1].set_ylim(0, 1.02)
    for axis in axes:
        axis.set_xlabel("samples", fontsize=9)
        axis.grid(alpha=0.25, which="both")
        axis.tick_params(labelsize=8)
        axis.legend(fontsize=8)
    figure.savefig(IMAGES / "calibration-mig.png", dpi=180)
    plt.close(figure)


def main():
    IMAGES.mkdir(exist_ok=True)
    factors, codes, rng = truth()
    rows = {
        "perfect": scores(factors, codes),
        "noisy (.4)": scores(*noisy(0.4)),
        "turned by 45": scores(*rotated(45)),
        "all twice": scores(*duplicated(4)),
        "3 of 4 told": scores(*told(3)),
        "constant": scores(factors, np.zeros((N, 4))),
        "random": scores(factors, rng.normal(size=(N, 4))),
    }
    with (IMAGES / "calibration.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["metric", *rows])
        for name in METRICS:
            writer.writerow([name, *(f"{r[name]:.2f}" for r in rows.values())])
    for name, (label, make, points) in CURVES.items():
        draw(name, label, points, [scores(*make(p)) for p in points], rows["random"])
    draw_sizes()


if __name__ == "__main__":
    main()
