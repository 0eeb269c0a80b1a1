"""Training steps of GIN against FrEIA in the same run: identical maths on identical weights, checked before timing.

python benchmarks/bench_flows.py            one thread; ratios are of CPU time, medians of interleaved rounds
python benchmarks/bench_flows.py --compile  adds torch.compile on the 28 x 28 network (minutes to build)
"""

import argparse
import time

import numpy as np
import torch
from torch import nn

from unbraid.flows.conditions import Classes
from unbraid.flows.families import family
from unbraid.networks.coupling import ATAN
from unbraid.networks.flow import conv_flow, dense_flow
from unbraid.networks.fused import FusedForward
from unbraid.networks.fused_images import FusedImages


def freia_subnet(hidden, convolutional):
    """The sub-network of the papers as a FrEIA constructor."""

    def build(c_in, c_out):
        widths = (c_in, hidden, hidden, c_out)
        layers = []
        for i in range(3):
            a, b = widths[i : i + 2]
            layers.append(nn.Conv2d(a, b, 3, padding=1) if convolutional else nn.Linear(a, b))
            if i < 2:
                layers.append(nn.ReLU())
        return nn.Sequential(*layers)

    return build


def freia_twin(flow, theta):
    """FrEIA's network with the permutations and the weights of model 0 of ``flow``."""
    import FrEIA.framework as framework
    import FrEIA.modules as modules

    net = framework.SequenceINN(*flow.shape)
    for layer, parameters in zip(flow.layers, flow.unflatten(theta)):
        name = type(layer).__name__
        if name == "Downsample":
            net.append(modules.IRevNetDownsampling)
        elif name == "Flatten":
            net.append(modules.Flatten)
        else:
            net.append(modules.PermuteRandom)
            permute = net.module_list[-1]
            permute.perm.data = layer.permutations[0].clone()
            permute.perm_inv.data = permute.perm.data.argsort()
            subnet = freia_subnet(layer.hidden, name == "ConvCoupling")
            net.append(
                modules.GINCouplingBlock, subnet_constructor=subnet, clamp=2.0,
                clamp_activation=lambda u: ATAN * torch.atan(u / 2),
            )  # fmt: skip
            block = net.module_list[-1]
            copy_weights(block.subnet2, parameters[:6])
            copy_weights(block.subnet1, parameters[6:])
    return net


def copy_weights(subnet, parameters):
    with torch.no_grad():
        for target, source in zip(subnet.parameters(), parameters):
            target.copy_(source[0])


def authors_loss(z, labels, n_classes):
    """-log-likelihood with per-class mean and variance of the batch, as the authors' code has it."""
    total = 0.0
    for c in range(n_classes):
        w = z[labels == c]
        mean, std = w.mean(0), w.std(0, unbiased=False)
        total = total + (0.5 * ((w - mean) / std) ** 2 + std.log()).sum()
    return total / len(z) + 0.5 * z.shape[1] * np.log(2 * np.pi)


def step(optimizer, loss):
    def run():
        optimizer.zero_grad(set_to_none=True)
        loss().backward()
        optimizer.step()

    return run


def cpu_ms(run, repeats):
    started = time.process_time()
    for _ in range(repeats):
        run()
    return 1e3 * (time.process_time() - started) / repeats


def compare(runs, rounds, repeats):
    """Median CPU milliseconds of each, measured in turns so that a busy machine hits all alike."""
    for run in runs.values():
        run()
    times = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            times[name].append(cpu_ms(run, repeats))
    return {name: float(np.median(t)) for name, t in times.items()}


def build(flow, theta, rows, labels, n_classes, forward=None):
    """Our training step, and its loss function for the check."""
    condition = Classes(family("normal"), labels, len(labels))
    parameters = theta.clone().requires_grad_()
    forward = forward or flow.forward
    x = flow.lay_out(rows)

    def loss():
        return condition.loss(forward(parameters, x)[0], None, None).sum()

    optimizer = torch.optim.Adam([parameters], lr=1e-4, fused=True)
    return step(optimizer, loss), loss, parameters


def freia_step(flow, theta, rows, labels, n_classes):
    """FrEIA's training step on the same weights."""
    twin, target = freia_twin(flow, theta), torch.from_numpy(labels)
    optimizer = torch.optim.Adam([p for p in twin.parameters() if p.requires_grad], lr=1e-4)
    return step(optimizer, lambda: authors_loss(twin(rows)[0], target, n_classes))


def check(flow, theta, rows, labels, n_classes):
    """Largest difference of codes and of gradients, ours and FrEIA's, in double precision on the same weights."""
    twin = freia_twin(flow, theta).double()
    exact = theta.double().requires_grad_()
    z, _ = flow.forward(exact, flow.lay_out(rows.double()))
    other, _ = twin(rows.double())
    condition = Classes(family("normal"), labels, len(labels))
    condition.loss(z, None, None).sum().backward()
    authors_loss(other, torch.from_numpy(labels), n_classes).backward()
    theirs = []
    for module in twin.module_list:
        if hasattr(module, "subnet1"):
            theirs += [p.grad.flatten() for net in (module.subnet2, module.subnet1) for p in net.parameters()]
    gradient = torch.cat(theirs)
    return (z[0].T - other).abs().max().item(), ((exact.grad[0] - gradient).abs().max() / gradient.abs().max()).item()


def report(title, times, per_model, difference):
    base = times["FrEIA"]
    print(f"\n{title}   (codes differ by {difference[0]:.1e}, gradients by {difference[1]:.1e} in double)")
    print(f"{'':34s}{'ms / model-step':>16s}{'times FrEIA':>14s}")
    for name, ms in times.items():
        each = ms / per_model.get(name, 1)
        print(f"{name:34s}{each:16.2f}{base / each:14.2f}")


def small(rounds):
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(5), 200)
    rows = torch.from_numpy(rng.normal(size=(1000, 10)).astype(np.float32))
    runs, per_model = {}, {}
    for k in (1, 8):
        flow = dense_flow(10, rng, n_models=k)
        theta = flow.initial(rng, identity=False) * 0.5
        if k == 1:
            difference = check(flow, theta, rows, labels, 5)
            runs["FrEIA"] = freia_step(flow, theta, rows, labels, 5)
        runs[f"unbraid, torch, K = {k}"] = build(flow, theta, rows, labels, 5)[0]
        runs[f"unbraid, fused kernel, K = {k}"] = build(flow, theta, rows, labels, 5, FusedForward(flow))[0]
        per_model |= {f"unbraid, torch, K = {k}": k, f"unbraid, fused kernel, K = {k}": k}
    report("10-d, 8 blocks, batch 1000", compare(runs, rounds, 10), per_model, difference)


def images(rounds, compiled):
    rng = np.random.default_rng(1)
    labels = np.repeat(np.arange(10), 24)
    rows = torch.from_numpy(rng.uniform(size=(240, 1, 28, 28)).astype(np.float32))
    flow = conv_flow((1, 28, 28), rng)
    theta = flow.initial(rng, identity=False) * 0.5
    difference = check(flow, theta, rows, labels, 10)
    runs = {
        "FrEIA": freia_step(flow, theta, rows, labels, 10),
        "unbraid, torch": build(flow, theta, rows, labels, 10)[0],
        "unbraid, fused blocks": build(flow, theta, rows, labels, 10, FusedImages(flow))[0],
    }
    if compiled:
        started = time.perf_counter()
        runs["unbraid, torch.compile"] = build(flow, theta, rows, labels, 10, torch.compile(flow.forward))[0]
        runs["unbraid, torch.compile"]()
        print(f"\ntorch.compile took {time.perf_counter() - started:.0f} s to build (or to find in its cache)")
    report("28 x 28, 2,620,192 parameters, batch 240", compare(runs, rounds, 2), {}, difference)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compile", action="store_true", help="also time torch.compile on the 28 x 28 network")
    parser.add_argument("--rounds", type=int, default=7)
    args = parser.parse_args()
    torch.set_num_threads(1)
    small(args.rounds)
    images(args.rounds, args.compile)


if __name__ == "__main__":
    main()
