"""Small runs of every kind, and a browser that may talk to this machine only."""

from urllib.parse import urlsplit

import numpy as np
import pytest

import unbraid as ub
from unbraid.app.explorer import Explorer
from unbraid.app.kept import keep
from unbraid.app.workspace import workspace_of


@pytest.fixture(scope="session")
def squares():
    return ub.datasets.load("shapes-xy", image_size=32).sample(400, random_state=0)


def until(page, condition):
    """Wait for a JavaScript expression; Playwright's own way needs an eval, which the page forbids."""
    for _ in range(3000):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(100)
    raise AssertionError(f"after 300 seconds this is still false: {condition}")


def settle(page):
    """Wait until every model's picture and strips show the newest position of its sliders."""
    page.wait_for_selector("#runs:has(.run):not(:has(.run:not([data-settled])))")


def centroid(image):
    """(across, down) of what is brighter than half."""
    bright = np.where(image > 127, image, 0)
    assert bright.sum() > 0
    down, across = np.indices(image.shape)
    return np.array([(across * bright).sum(), (down * bright).sum()]) / bright.sum()


def every_place(side=20):
    """A square at every place of a grid: unlike in a random sample, its x and y are exactly uncorrelated."""
    data = ub.datasets.load("shapes-xy", image_size=32)
    ends = np.quantile(data.sample(1000, random_state=0)[1], [0, 1], axis=0)
    across, down = np.meshgrid(*np.linspace(*ends, side).T)
    return data.observe(np.column_stack([across.ravel(), down.ravel()]))


def spectra(n=300):
    """Two bumps whose heights are the factors."""
    heights = np.random.default_rng(0).uniform(0.2, 1, (n, 2))
    x = np.linspace(0, 1, 60)
    return heights @ np.exp(-np.square((x - [[0.3], [0.7]]) / 0.05))


def waves(n=120):
    """One wave that moves: its phase is an angle."""
    phase = 2 * np.pi * np.arange(n) / n
    return np.cos(np.linspace(0, 2 * np.pi, 40, endpoint=False) - phase[:, None])


@pytest.fixture(scope="session")
def runs(tmp_path_factory, squares):
    """Folders of runs as ``unbraid fit`` leaves them, by name; fitted when first asked for."""
    folder, X = tmp_path_factory.mktemp("runs"), squares[0]
    quick = {"max_steps": 3, "random_state": 0, "progress": False}
    little = {"n_init": 1, "engine": "torch", "architecture": "dense", "hidden": 8, "n_blocks": 2}
    made = {
        "spectral": lambda: (ub.HessianICA(2, 12, random_state=0), X),
        "grid": lambda: (ub.HessianICA(2, 12, random_state=0), every_place()),
        "linear": lambda: (ub.PCAICA(2, random_state=0), X),
        "vae": lambda: (ub.BetaVAE(4, **quick), X[:100]),
        "flow": lambda: (ub.NICE(n_factors=4, **quick, **little), X[:100, ::4, ::4]),
        "spectra": lambda: (ub.PCAICA(2, random_state=0), spectra()),
        "angle": lambda: (ub.ProductManifold(random_state=0), waves()),
    }

    def get(name):
        if not (folder / name).exists():
            model, data = made[name]()
            codes = model.fit_transform(data)
            model.save(folder / name)
            keep(folder / name, np.asarray(data), np.asarray(codes))
        return folder / name

    return get


@pytest.fixture
def served(runs):
    """The address at which runs are served, until the test ends."""
    open_ = []

    def serve(*names):
        explorer = Explorer(workspace_of([runs(name) for name in names])).start()
        open_.append(explorer)
        return explorer.address

    yield serve
    for explorer in open_:
        explorer.close()


@pytest.fixture
def page_of(browser):
    """Open an address; requests to other hosts, errors of scripts and of the console fail the test."""
    faults, contexts = [], []

    def check(route):
        if urlsplit(route.request.url).hostname == "127.0.0.1":
            route.continue_()
        else:
            faults.append(f"a request to {route.request.url}")
            route.abort()

    def start(address, **options):
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        contexts.append(context)
        context.set_default_timeout(300_000)  # a last stop: the machine may be busy
        page = context.new_page()
        page.route("**/*", check)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda told: faults.append(told.text) if told.type == "error" else None)
        page.goto(address)
        page.wait_for_selector("body[data-ready]")
        settle(page)
        return page

    start.faults = faults
    yield start
    for context in contexts:
        context.close()
    assert not faults
