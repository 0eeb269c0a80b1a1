"""HLLE+ICA on thousands of faces of StyleGAN2, with its baselines: MCC of faces that were learned from and of others.

    python benchmarks/experiment_faces.py --components 0,1 0,1,2 --faces 3000 --unseen 200 --side 64 --seeds 0 1 2 3 4

The faces of one set of components are one sample, of which each seed leaves other ones unseen; they are drawn once and
kept (.15 CPU seconds each), at 128 pixels a side; --side 64 halves them. The weights come by
`unbraid datasets get ffhq`. --peers are "FastICA" of the pixels and "scikit-learn, best k", its method="hessian" and
FastICA at the best of seven k by the labels; neither has codes of unseen faces.
"""

import argparse
import time
import warnings

import numpy as np
from sklearn.neighbors import KNeighborsRegressor

import unbraid as ub
from unbraid_papers.horan_manifolds import ALONE, Images

METHODS = {
    "default": lambda d, seed: ub.HessianICA(d, random_state=seed),
    "paper's rule": lambda d, seed: ub.HessianICA(d, selection="closest", units="given", random_state=seed),
    "LTSA+ICA": lambda d, seed: ub.TangentICA(d, random_state=seed),
    "PCA+ICA": lambda d, seed: ub.PCAICA(d, random_state=seed),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--components", nargs="+", default=["0,1", "0,1,2"])
    parser.add_argument("--faces", type=int, default=3000)
    parser.add_argument("--unseen", type=int, default=200)
    parser.add_argument("--methods", nargs="*", choices=METHODS, default=list(METHODS))
    parser.add_argument("--peers", nargs="*", choices=["FastICA", "scikit-learn, best k"], default=[])
    parser.add_argument("--side", type=int, default=64, choices=[64, 128])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for words in options.components:
        components = tuple(int(word) for word in words.split(","))
        data = ub.datasets.load("gan-manifold", generator="ffhq", components=components, image_size=options.side)
        X, factors = data.sample(options.faces + options.unseen, random_state=0)
        for seed in options.seeds:
            order = np.random.default_rng(seed).permutation(len(X))
            seen, new = order[: options.faces], order[options.faces :]
            for name in options.methods:
                started = time.process_time()
                model = METHODS[name](len(components), seed).fit(X[seen])
                seconds = time.process_time() - started
                scores = [ub.metrics.mcc(factors[rows], model.transform(X[rows])) for rows in (seen, new)]
                print(
                    f"{words} {seed} {name}: {scores[0]:.4f}, unseen {scores[1]:.4f}, {seconds:.1f} CPU s", flush=True
                )
            images = Images(np.rint(255 * X[seen]).astype(np.uint8), factors[seen], X[:0], factors[:0])
            for name in options.peers:
                started = time.process_time()
                score = ub.metrics.mcc(factors[seen], ALONE[name](images, len(components), seed))
                print(f"{words} {seed} {name}: {score:.4f}, {time.process_time() - started:.1f} CPU s", flush=True)
            rows = X.reshape(len(X), -1)
            reader = KNeighborsRegressor(5, weights="distance").fit(rows[seen], factors[seen])
            found = ub.metrics.mcc(factors[new], reader.predict(rows[new]))
            chance = ub.metrics.mcc(factors[seen], factors[np.random.default_rng(seed).permutation(seen)])
            print(f"{words} {seed} k-NN with labels, unseen: {found:.4f}; chance {chance:.4f}", flush=True)


if __name__ == "__main__":
    main()
