"""The commands ``unbraid datasets list`` and ``get``."""

import pytest
from typer.testing import CliRunner

from tests.datasets import originals
from unbraid.cli import app
from unbraid.datasets import registry


@pytest.fixture
def run(monkeypatch, tmp_path):
    monkeypatch.setenv("UNBRAID_DATA", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "200")
    return lambda *args: CliRunner().invoke(app, ["datasets", *args])


def test_list_names_every_data_set_and_what_is_here(run, tmp_path):
    originals.mnist(tmp_path)
    out = run("list").output
    known = {*registry.names(), *(weights.name for weights in registry.WEIGHTS)}
    lines = {name: line for name in known for line in out.splitlines() if f"│ {name} " in line}
    assert set(lines) == known
    assert lines["mnist"].split()[-2] == "yes"
    assert lines["shapes3d"].split()[-2] == "no"
    assert lines["room"].split()[-2] == "yes"
    assert lines["ffhq"].split()[-2] == "no"
    assert str(tmp_path) in out


def test_get_of_what_needs_none_is_an_error(run):
    result = run("get", "shapes-xy")
    assert result.exit_code != 0
    assert "shapes3d" in str(result.exception)
