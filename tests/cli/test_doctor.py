"""``unbraid doctor``: what is installed, what is missing, and how fast it is."""

import numpy as np
import pytest
from typer.testing import CliRunner

from unbraid.cli import app, doctor


def test_it_names_every_part_and_measures():
    ran = CliRunner().invoke(app, ["doctor"])
    assert ran.exit_code == 0, ran.output
    for part in ("unbraid ", "Python 3.", f"numpy {np.__version__}", "Extras:", "Cores:", "Data folder:", "HessianICA"):
        assert part in ran.output
    assert float(ran.output.split("MCC ")[1].split()[0]) > 0.99


def test_a_missing_package_is_named_with_the_extras_that_need_it(monkeypatch):
    there = doctor.installed
    monkeypatch.setattr(doctor, "installed", lambda name: None if name == "torch" else there(name))
    found = doctor.extras()
    assert found["torch"] == ["torch"]
    assert "torch" in found["accelerate"], "it includes the extra torch"
    assert "torch" not in found["tables"]
    assert "torch not installed" in doctor.versions()[1]


@pytest.mark.parametrize("name", doctor.FOR_DEVELOPERS)
def test_the_extras_of_developers_are_left_out(name):
    assert name not in doctor.extras()
