"""Fit CEBRA-Time with its own code and print a line of JSON; run by ``by_cebra`` of cases.py in CEBRA's environment.

python peer_cebra.py RECORDING.npy CODES.npy N_CODES STEPS SEED DISTANCE OFFSET

OFFSET is how many rows apart positive pairs are.
"""

import json
import sys
import time

import cebra
import numpy as np
import torch

recording, out, n_codes, steps, seed, distance, offset = sys.argv[1:]
torch.set_num_threads(1)
torch.manual_seed(int(seed))
np.random.seed(int(seed))  # noqa: NPY002
X = np.load(recording).astype(np.float32)
model = cebra.CEBRA(
    model_architecture="offset1-model" if distance == "cosine" else "offset1-model-mse",
    output_dimension=int(n_codes),
    batch_size=512,
    max_iterations=int(steps),
    learning_rate=1e-3,
    num_hidden_units=128,
    time_offsets=int(offset),
    conditional="time",
    distance=distance,
    temperature=1.0,
    device="cpu",
    verbose=False,
)
start = time.process_time()
model.fit(X)
seconds = time.process_time() - start
np.save(out, model.transform(X))
print(json.dumps({"cpu_seconds": seconds, "version": cebra.__version__}))
