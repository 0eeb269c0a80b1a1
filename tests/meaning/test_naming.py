import numpy as np
import pytest

import unbraid as ub
from tests.facts import facts
from unbraid.meaning import name_codes

CLASSES = np.array(["low", "middle", "high"])


def world(seed, n=300):
    """Codes near their factors, a column of some kind for each factor, and ten columns that know nothing."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 5))
    z = rng.uniform(size=(n, d))
    order = rng.permutation(d)
    codes = z[:, order] * rng.choice([-1, 1], d) + 0.03 * rng.normal(size=z.shape)
    table, truth = {}, {}
    for factor in range(d):
        seen = z[:, factor] + 0.08 * rng.normal(size=n)
        kinds = [seen, seen**3, CLASSES[np.digitize(seen, [0.3, 0.7])], np.cos(4 * seen)]
        table[f"known {factor}"] = kinds[rng.integers(4)]
        truth[f"known {factor}"] = int(np.argmax(order == factor))
    for j in range(10):
        table[f"nothing {j}"] = [rng.normal(size=n), rng.choice(CLASSES, n), rng.exponential(size=n) ** 2][j % 3]
    return codes, table, truth


def test_columns_go_with_their_codes_and_chance_with_none():
    right = wrong = tried = 0
    for seed in range(8):
        codes, table, truth = world(seed)
        for link in name_codes(codes, table).links:
            expected = truth.get(link.column)
            tried += expected is not None
            right += expected is not None and link.code == expected
            wrong += link.code is not None and link.code != expected
    assert right >= 0.95 * tried
    assert wrong <= 6  # of 80 columns that know nothing; one or two are expected


def test_slow_columns_are_not_linked_to_slow_codes():
    """Two random walks correlate by chance; shifts along time know that, permutations do not."""
    found = {True: 0, False: 0}
    for seed in range(20):
        rng = np.random.default_rng(seed)
        codes, column = np.cumsum(rng.normal(size=(400, 1)), axis=0), np.cumsum(rng.normal(size=400))
        for time in found:
            found[time] += name_codes(codes, {"column": column}, time=time).links[0].code is not None
    assert found[True] <= 4 < 12 <= found[False]


def test_angles_are_compared_by_direction():
    angle = np.random.default_rng(0).uniform(-np.pi, np.pi, 300)
    turned = np.angle(np.exp(1j * (angle + 2.5)))
    link = name_codes(angle[:, None], {"heading": turned}, kinds=["circle"], angles=["heading"]).links[0]
    assert link.code == 0
    assert link.share > 0.99


def test_rows_without_a_value_are_left_out():
    z = np.random.default_rng(0).uniform(size=(200, 1))
    gaps = np.where(np.arange(200) % 2, z[:, 0], np.nan)
    words = np.where(np.arange(200) % 2, CLASSES[(2.9 * z[:, 0]).astype(int)], "")
    found = name_codes(z, {"gaps": gaps, "words": words})
    assert [link.code for link in found.links] == [0, 0]
    assert found.of(0)[0].share > 0.9


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        ({}, {}, "columns"),
        ({"a": np.zeros(5)}, {}, facts("'a'", 5, 100)),
        ({"a": np.zeros(100)}, {"angles": ["b"]}, facts("b", "a")),
        ({"a": np.full(100, np.nan)}, {}, facts("'a'", 0, 20)),
        ({"a": np.zeros(100)}, {"level": 2}, facts("level", 2)),
    ],
)
def test_bad_tables_are_refused(table, options, message):
    with pytest.raises(ValueError, match=message):
        name_codes(np.random.default_rng(0).normal(size=(100, 1)), table, **options)


def test_an_array_is_no_table():
    with pytest.raises(TypeError, match=facts("ndarray", "mapping")):
        name_codes(np.zeros((100, 1)), np.zeros((100, 2)))


def test_a_constant_column_goes_with_no_code():
    codes = np.random.default_rng(0).normal(size=(100, 2))
    assert name_codes(codes, {"same": np.ones(100)}).links[0].code is None


def test_a_saved_run_is_named_from_the_command_line(tmp_path):
    pandas = pytest.importorskip("pandas")
    from typer.testing import CliRunner

    from unbraid.cli import app

    z = np.random.default_rng(0).uniform(size=(300, 2))
    X = z @ [[1.0, 0.0, 2.0], [0.0, 1.0, 1.0]]
    model = ub.PCAICA(2, random_state=0).fit(X)
    model.save(tmp_path / "run")
    np.save(tmp_path / "run" / "codes.npy", model.transform(X))
    pandas.DataFrame({"width": z[:, 0], "lot": np.arange(300) % 7}).to_csv(tmp_path / "known.csv", index=False)
    done = CliRunner().invoke(app, ["name", str(tmp_path / "run"), str(tmp_path / "known.csv")])
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert sum("width" in line and line.startswith("code") for line in lines) == 1
    assert "no code: lot" in lines


def test_report_and_explorer_show_what_changes():
    pandas = pytest.importorskip("pandas")
    z = np.random.default_rng(0).uniform(size=(300, 2))
    frame = pandas.DataFrame(z @ [[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]], columns=["a", "bee", "c"])
    model = ub.PCAICA(2, random_state=0).fit(frame)
    page = ub.report.fit_report(model, frame, table={"width": z[:, 0]}).html()
    assert "What changes along each code" in page
    assert "width" in page

    from unbraid.app.view import view_of
    from unbraid.app.workspace import Workspace

    facts_shown = Workspace(frame.to_numpy(), [view_of(model)], np.asarray(model.transform(frame))).overview()["runs"][
        0
    ]["facts"]
    assert any(name.startswith("code") and "bee" in value for name, value, _ in facts_shown)
