"""Pages whose figures are made, but not drawn."""

import pytest
from matplotlib.figure import Figure

PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b55"
    "0000000a49444154789c636000000002000148afa4710000000049454e44ae426082"
)


@pytest.fixture
def drawn():
    """A test that asks for it draws its figures."""


@pytest.fixture(autouse=True)
def undrawn(request, monkeypatch):
    """One pixel for every figure: drawing takes most of a small fit, and the tests of reports look at it."""
    if "drawn" not in request.fixturenames:
        monkeypatch.setattr(Figure, "savefig", lambda self, file, **options: file.write(PIXEL))
