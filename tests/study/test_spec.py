import pytest

from tests.facts import facts
from unbraid.methods import METHODS
from unbraid.study import SpecError, parse_spec, read_spec, tasks_of
from unbraid.study.places import line_of
from unbraid.study.sweeps import expand

from .tiny import TINY, linear, tiny


def test_product_zip_and_chain():
    assert expand({"product": {"a": [1, 2], "b": [3, 4]}}) == [
        {"a": 1, "b": 3}, {"a": 1, "b": 4}, {"a": 2, "b": 3}, {"a": 2, "b": 4}
    ]  # fmt: skip
    assert expand({"zip": {"a": [1, 2], "b": [3, 4]}}) == [{"a": 1, "b": 3}, {"a": 2, "b": 4}]
    assert expand({"chain": [{"a": [1]}, {"zip": {"a": [2], "b": [3]}}]}) == [{"a": 1}, {"a": 2, "b": 3}]
    assert expand({}) == [{}]


def test_the_paper_has_12600_models_of_its_own_strengths():
    tasks = tasks_of(read_spec("paper"))
    assert len(tasks) == 12_600 == len({task.run for task in tasks})
    assert [task.index for task in tasks] == list(range(12_600))
    assert len({task.dataset for task in tasks}) == 7
    strengths = {m: sorted({t.strength for t in tasks if t.method == m}) for m in {t.method for t in tasks}}
    assert strengths == {
        "beta-vae": [1, 2, 4, 6, 8, 16],
        "annealed-vae": [5, 10, 25, 50, 75, 100],
        "factor-vae": [10, 20, 30, 40, 50, 100],
        "beta-tcvae": [1, 2, 4, 6, 8, 10],
        "dip-vae-i": [1, 2, 5, 10, 20, 50],
        "dip-vae-ii": [1, 2, 5, 10, 20, 50],
    }
    ratios = {
        t.method: t.config["parameters"]["lambda_d"] / t.config["parameters"]["lambda_od"]
        for t in tasks
        if t.method.startswith("dip")
    }
    assert ratios == {"dip-vae-i": 10, "dip-vae-ii": 1}
    assert {t.config["parameters"]["preset"] for t in tasks} == {"paper"}


def test_the_laptop_has_what_the_comparison_needs():
    tasks = tasks_of(read_spec("laptop"))
    swept = [t for t in tasks if t.strength is not None]
    assert len(swept) == 6 * 6 * (5 + 3)
    others = {t.method for t in tasks if t.strength is None}
    assert others == {"autoencoder", "irmae", "hessian-autoencoder", "hessian-ica", "laplacian-ica", "pca-ica"}
    assert len(tasks) == len(swept) + 6 * (5 + 3)


def test_an_address_is_of_what_the_codes_depend_on():
    runs = [task.run for task in tasks_of(tiny())]
    assert len(set(runs)) == 8
    scored_otherwise = TINY.replace('["mcc", "mig", "total_correlation"]', '["sap"]')
    assert [task.run for task in tasks_of(parse_spec(scored_otherwise))] == runs
    longer = [task.run for task in tasks_of(parse_spec(TINY.replace("max_steps = 20", "max_steps = 21")))]
    assert [a == b for a, b in zip(runs, longer)] == [True] * 4 + [False] * 4  # PCA+ICA has no steps


def test_first_seeds_have_the_first_priority():
    assert [(task.seed, task.priority) for task in tasks_of(linear(seeds=3))] == [(0, 0), (1, 1), (2, 2)] * 2


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("pool = 200", "pol = 200", ("pol", "name, about, seeds")),
        ("rows = 300", "row = 300", ("datasets[0].row", "name, label, options")),
        ('name = "pca-ica"', 'name = "pca"', ("'pca'", next(iter(METHODS)))),
        ('name = "isometric"', 'name = "isometry"', ("'isometry'", "dsprites")),
        ("n_features = 10", "features = 10", ("isometric", "'features'", "n_factors, n_features")),
        ("beta = [1, 4]", "gamma = [1, 4]", ("beta-vae", "'gamma'", "batch_size, beta")),
        ("beta = [1, 4]", "beta = [1, -4]", ("beta", -4)),
        ("beta = [1, 4]", "beta = 4", ("beta = 4", "list")),
        ('"mig"', '"mug"', ("mug", "all, mcc")),
        ("seeds = 2", "seeds = 0", ("seeds",)),
        ("max_steps = 20", "steps = 20", ("'steps'",)),
    ],
)
def test_an_error_names_file_line_key_and_what_is_valid(old, new, words):
    broken = TINY.replace(old, new)
    line = broken[: broken.index(new)].count("\n") + 1
    with pytest.raises(SpecError, match=facts("mine.toml", f"line {line}", *words)):
        parse_spec(broken, "mine.toml")


def test_no_toml_names_its_line():
    with pytest.raises(SpecError, match=facts("mine.toml", "TOML", "line 2")):
        parse_spec('name = "a"\nseeds = \n', "mine.toml")


def test_what_needs_labels_joins_data_that_have_them():
    gin = TINY + '\n[[methods]]\nname = "gin"\n'
    with pytest.raises(SpecError, match=facts("gin", "labels", "isometric", 'datasets = ["gin-mixture"]')):
        parse_spec(gin)
    joined = parse_spec(gin + 'datasets = ["gin-mixture"]\n[[datasets]]\nname = "gin-mixture"\nrows = 500\n')
    assert [t.dataset for t in tasks_of(joined) if t.method == "gin"] == ["gin-mixture"] * 2


def test_what_is_not_trained_step_by_step_needs_rows():
    with pytest.raises(SpecError, match=facts("line 19", "pca-ica", "isometric", "rows")):
        parse_spec(TINY.replace("rows = 300", ""))


def test_the_same_task_twice_is_refused():
    with pytest.raises(ValueError, match=facts(0, 2, "pca-ica", "isometric", "seed 0")):
        tasks_of(parse_spec(TINY.replace("[2, 3]", "[2, 2]")))


def test_lines_of_nested_tables():
    text = "a = 1\n[[m]]\nname = 'x'\n[m.sweep]\nbeta = [1]\n[[m]]\nsweep = { gamma = [2] }\n"
    assert line_of(text, ("m", 0, "sweep", "beta")) == 5
    assert line_of(text, ("m", 1, "sweep", "gamma")) == 7
    assert line_of(text, ("m", 1, "sweep", "delta")) == 7


def test_lines_of_statements_that_span_several():
    text = 'about = """\nseeds = 3\n"""\n\n# how many\nseeds = [\n  1,\n  -2,\n]\nname = "a"\n'
    assert line_of(text, ("seeds", 1)) == 6
    assert line_of(text, ("name",)) == 10
