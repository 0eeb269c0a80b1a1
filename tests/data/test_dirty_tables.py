"""Tables as labs write them: read as the numbers that they hold, or refused with the name of the column."""

import re

import numpy as np
import pandas
import pytest

from tests.facts import facts
from unbraid import datasets
from unbraid.data.frames import read_frame
from unbraid.trust.warnings import DataWarning

RNG = np.random.default_rng(3)
X = np.round(RNG.uniform(size=(40, 6)), 4)
COUNTS = RNG.integers(0, 40, (40, 6))
WAVES = ["400", "410", "420", "430", "440", "450"]
NAMES = list("abcdef")
FRAME = pandas.DataFrame(X, columns=NAMES)


def text(rows, names=NAMES, sep=","):
    lines = [] if names is None else [names]
    return "\n".join(sep.join(map(str, line)) for line in [*lines, *np.asarray(rows).tolist()]) + "\n"


def with_column(name, values, place=0):
    frame = FRAME.copy()
    frame.insert(place, name, values)
    return frame.to_csv(index=False)


def with_cells(value, cells=((3, 1), (7, 1), (9, 4)), table=X):
    rows = table.astype(object)
    for i, j in cells:
        rows[i, j] = value
    return rows


def with_rows(value, rows=(5, 11)):
    table = X.copy()
    table[list(rows)] = value
    return table


def commas(rows):
    return [[str(v).replace(".", ",") for v in row] for row in rows]


MARKED = with_cells(-200)
GAPS = X[~np.isin(np.arange(40), [3, 7, 9])]
DEAD = X[~np.isin(np.arange(40), [5, 11])]
MEDIANS = with_cells(np.nan).astype(float)
MEDIANS = np.where(np.isnan(MEDIANS), np.nanmedian(MEDIANS, axis=0), MEDIANS)

NAMED = "\n".join(f"img{i}.png," + ",".join(map(str, row)) for i, row in enumerate(X))
SPARSE = np.where(X > 0.7, X, 0.0)
DIAL, ROWS = [1, 2, 3, 9999] * 10, np.arange(40)
PASCAL = X * [1e5, 1, 1, 1, 1, 1]
AXIS = [str(400 + i) for i in range(32)]
SPECTRA = np.random.default_rng(1).uniform(size=(40, 32))
RANKS = np.argsort(X, axis=0)
LARGE = np.round(20000 * X + 1000.25, 2)
QUOTED = [[f'"{v:,.2f}"' for v in row] for row in LARGE]
POINTED = [[f"{v:,.2f}".translate({44: 46, 46: 44}) for v in row] for row in LARGE]
EMPTIER = text(X, sep=";").replace("\n", ";;\n") + 2 * (7 * ";" + "\n")

# What is written; options; the numbers and the names of columns that are read; what is told about it.
READ = {
    "wavelengths above absorbances": (text(X, WAVES), {}, X, WAVES, ["400, 410, 420", "--no-header"]),
    "falling wave numbers": (text(X, [4000.5, 3800.2, 3500, 3100.7, 2900, 2000]), {}, X, None, ["4000.5"]),
    "wavelengths above counts": (text(COUNTS, WAVES), {}, COUNTS, WAVES, ["400"]),
    "a range of wavelengths": (text(X, WAVES), {"columns": ["410:430"]}, X[:, 1:4], WAVES[1:4], ["400"]),
    "all but a range": (text(X, WAVES), {"exclude": "420:600"}, X[:, :2], WAVES[:2], ["400"]),
    "two wavelengths": (text(X[:, :2], ["400", "550"]), {}, X[:, :2], ["400", "550"], ["400", "550"]),
    "the numbers of a frame without names": (text(X, range(6)), {}, X, list("012345"), ["0, 1, 2"]),
    "no header at all": (text(X, None), {}, X, list("012345"), []),
    "a header that is a row": (text(X, WAVES), {"header": False}, np.vstack([np.arange(400, 460, 10), X]), None, []),
    "counts without a header": (text(COUNTS, None), {}, COUNTS, list("012345"), []),
    "a first line of file names": (NAMED, {}, X, None, ["--header"]),
    "byte order mark": ("\ufeff" + text(X), {}, X, NAMES, None),
    "UTF-16 of a spreadsheet": (text(X, sep="\t").encode("utf-16"), {}, X, NAMES, None),
    "Windows-1252": (text(X, ["µ", *NAMES[1:]]).encode("cp1252"), {}, X, ["µ", *NAMES[1:]], ["Windows-1252"]),
    "semicolons": (text(X, sep=";"), {}, X, NAMES, None),
    "semicolons and decimal commas": (text(commas(X), sep=";"), {}, X, NAMES, None),
    "decimal commas without a header": (text(commas(X), None, sep=";"), {}, X, None, []),
    "tabs and decimal commas": (text(commas(X), sep="\t"), {}, X, NAMES, None),
    "blanks": (text(X, None, sep="  "), {}, X, None, []),
    "sep= of a spreadsheet": ("sep=;\n" + text(X, sep=";"), {}, X, NAMES, None),
    "a separator at the end of each line": (text(X, sep=";").replace("\n", ";\n"), {}, X, NAMES, ["Unnamed: 6"]),
    "comments, names in the last": ("# lab 3\n# " + text(X), {}, X, NAMES, None),
    "lines of the instrument": ("Spectrometer XY\nuser: me\n" + text(X), {}, X, NAMES, ["2 lines", "Spectrometer"]),
    "a row of units": (text([["mV"] * 6, *X.tolist()]), {}, X, NAMES, ["mV"]),
    "units and decimal commas": (text([["mV"] * 6, *commas(X)], sep=";"), {}, X, NAMES, ["mV"]),
    "row names of R": ("a,b,c,d,e,f\n" + NAMED, {}, X, NAMES, ["rows", "''"]),
    "an index without a name": (with_column("", np.arange(40)), {}, X, NAMES, ["Unnamed: 0", "steps of 1"]),
    "an identifier": (with_column("sample_id", RNG.permutation(5000)[:40]), {}, X, NAMES, ["sample_id", "identifier"]),
    "seconds in equal steps": (with_column("x", 0.2 * np.arange(40)), {}, X, NAMES, ["'x'", "0.2"]),
    "times in unequal steps": (with_column("time", np.sort(RNG.uniform(size=40))), {}, X, NAMES, ["'time'", "--time"]),
    "rising whole numbers": (with_column("q", np.cumsum(RNG.integers(1, 9, 40))), {}, X, NAMES, ["'q'"]),
    "dates": (with_column("when", [f"{1 + i % 28}/03/2004" for i in range(40)]), {}, X, NAMES, ["'when'", "--time"]),
    "clock times with points": (with_column("at", [f"{i % 24:02d}.00.00" for i in range(40)]), {}, X, NAMES, ["'at'"]),
    "file names": (with_column("file", [f"{i}.tif" for i in range(40)], 3), {}, X, NAMES, ["'file'"]),
    "a column kept by its name": (with_column("x", ROWS), {"columns": ["x", "a"]}, np.c_[ROWS, X[:, 0]], None, None),
    "empty columns and rows": (EMPTIER, {}, X, NAMES, ["2 empty rows", "Unnamed: 7"]),
    "-200, said to be missing": (text(MARKED), {"missing": -200, "drop_missing": True}, GAPS, NAMES, ["3", "40"]),
    "-200, filled": (text(MARKED), {"missing": -200, "fill": "median"}, MEDIANS, NAMES, ["median", "'b'"]),
    "-200, said to be a number": (text(MARKED), {"missing": "none"}, MARKED.astype(float), NAMES, None),
    "a question mark": (text(with_cells("?")), {"missing": "?", "drop_missing": True}, GAPS, NAMES, ["3"]),
    "empty cells": (text(with_cells("")), {"drop_missing": True}, GAPS, NAMES, ["3 of 40"]),
    "dead rows, left out": (text(with_rows(0.0)), {"drop_missing": True}, DEAD, NAMES, ["5, 11"]),
    "an axis of wavelengths": (text(SPECTRA, AXIS), {}, SPECTRA, AXIS, ["400", "431", "--prepare derivative,spread"]),
    "prepared": (text(SPECTRA, AXIS), {"prepare": "spread"}, SPECTRA / SPECTRA.std(axis=0), AXIS, ["prepared: spread"]),
    "zeros that are counts": (text(SPARSE), {}, SPARSE, NAMES, ["3 rows"]),
    "a dial of few values": (with_column("dial", DIAL), {}, np.c_[DIAL, X], ["dial", *NAMES], ["dial", "%"]),
    "a column in another unit": (text(PASCAL), {}, PASCAL, NAMES, ["a", "100.0 %"]),
    "repeated rows": (text(np.vstack([X, X[:2]])), {}, np.vstack([X, X[:2]]), NAMES, ["2 rows"]),
    "true and false": (with_column("on", X[:, 0] > 0.5, 6), {}, np.c_[X, X[:, 0] > 0.5], [*NAMES, "on"], ["on", 2]),
    "bars": (text(X, sep="|"), {}, X, NAMES, None),
    "an identifier in one word": (with_column("SampleID", RNG.permutation(5000)[:40]), {}, X, NAMES, ["SampleID"]),
    "patients who come again": (with_column("PatientID", 100 + ROWS // 3), {}, X, NAMES, ["PatientID"]),
    "the rows in another order": (with_column("q", RNG.permutation(40)), {}, X, NAMES, ["'q'"]),
    "hours of the day": (with_column("hour", ROWS % 24), {}, X, NAMES, ["'hour'"]),
    "dates as whole numbers": (with_column("x", 20200101 + ROWS // 2), {}, X, NAMES, ["'x'", "--time"]),
    "days of a spreadsheet": (with_column("x", np.round(44000 + ROWS / 24, 5)), {}, X, NAMES, ["'x'"]),
    "text below the table": (text(X) + "Exported by LabTool 3.2\n", {}, X, NAMES, ["LabTool"]),
    "a remark between rows": (text(X[:9]) + "# pause\n" + text(X[9:], None), {}, X, NAMES, ["pause"]),
    "the header once more": (text(X[:20]) + text(X[20:]), {}, X, NAMES, ["header"]),
    "thousands with commas": (text(QUOTED), {}, LARGE, NAMES, ["'.'"]),
    "thousands with points": (text(POINTED, sep=";"), {}, LARGE, NAMES, ["','"]),
    "ranks": (text(RANKS), {}, RANKS, NAMES, None),
    "decimal commas in quotes": (text([[f'"{v}"' for v in row] for row in commas(X)]), {}, X, NAMES, ["','"]),
    "minus signs of a typesetter": (text(-X).replace("-", "\u2212"), {}, -X, NAMES, ["\u2212"]),
    "wavelengths that repeat": (text(X, [400, 400, 410, 420, 430, 440]), {}, X, None, ["400, 400"]),
}  # fmt: skip

# What is written; options; what the error must name.
REFUSED = {
    "-200": (text(MARKED), {}, ["-200", "'b'", "'e'", "missing=-200"]),
    "9999": (text(with_cells(9999)), {}, ["9999", "'b'"]),
    "-999.25 of well logs": (text(with_cells(-999.25, [(3, 1), (7, 1), (9, 1)])), {}, ["-999.25", "'b'"]),
    "a sum below the table": (text(X) + "Mean,.5,.5,.5,.5,.5\n", {}, ["'a'", "'Mean'"]),
    "thousands or decimals": (text([["1,234"] * 6] * 40, sep=";") + "x;1;1;1;1;1\n", {}, ["'a'"]),
    "another number, far off": (text(with_cells(-77, [(3, 1), (7, 1), (9, 1)])), {}, ["-77", "'b'"]),
    "text among numbers": (text(with_cells("<0.05", [(3, 1)])), {}, ["'b'", "'<0.05'", "missing="]),
    "units in the cells": (with_column("dose", [f"{i % 5} mg" for i in range(40)]), {}, ["dose", "exclude='dose'"]),
    "points for thousands": (text(commas(with_cells("1.234.5")), sep=";"), {}, ["b", "0,2368"]),
    "classes": (with_column("kind", ["x", "y"] * 20), {}, ["kind", "exclude='kind'"]),
    "empty cells": (text(with_cells("")), {}, ["'b'", "2 of 40", "drop_missing=True", "fill="]),
    "NaN": (text(with_cells("NaN")), {}, ["'b'", "2 of 40"]),
    "infinity": (text(with_cells("inf")), {}, ["'b'", "infinite"]),
    "dead rows": (text(with_rows(0.0)), {}, ["5, 11", "drop_missing=True", "missing='none'"]),
    "dead rows of a whole number": (text(np.vstack([X, np.ones((3, 6))])), {}, ["40, 41, 42", "drop_missing=True"]),
    "an unknown preparation": (text(X), {"prepare": ["magic"]}, ["'magic'", "derivative"]),
    "too few columns for a derivative": (text(X), {"prepare": "derivative"}, ["'derivative'", "15", "6"]),
    "logarithms of zeros": (text(with_rows(0.0, (5,))), {"prepare": "log", "missing": "none"}, ["'log'", "row 5"]),
    "a dead row has no scale": (text(with_rows(0.0, (5,))), {"prepare": "snv", "missing": "none"}, ["'snv'", "row 5"]),
    "rows of different lengths": (text(X) + "1,2,3,4,5,6,7\n", {}, ["line 42"]),
    "a header alone": ("a,b,c\n", {}, ["rows", "a, b, c"]),
    "a range without columns": (text(X, WAVES), {"columns": ["500:600"]}, ["500", "600", "400"]),
    "nothing but an index": ("id\n" + "\n".join(map(str, range(40))), {}, ["id", "--columns"]),
    "an unknown way to fill": (text(with_cells("")), {"fill": "magic"}, ["'magic'", "linear"]),
    "a column of gaps": (with_column("gone", np.nan), {"drop_missing": True, "columns": ["gone", "a"]}, ["'gone'"]),
}  # fmt: skip


def opened(tmp_path, content, options):
    path = tmp_path / "t.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return datasets.open(path, **options)


def test_there_are_enough_of_them():
    assert len(READ) + len(REFUSED) >= 30


@pytest.mark.parametrize(("content", "options", "values", "names", "told"), READ.values(), ids=READ)
def test_read_right(tmp_path, recwarn, content, options, values, names, told):
    found = opened(tmp_path, content, options)
    np.testing.assert_allclose(found[:], values, rtol=1e-12)
    assert names is None or found.names == [str(name) for name in names]
    said = "; ".join(found.decisions)
    assert bool(said) == bool(told)
    assert re.search(facts(*(told or [])), said), said
    assert [str(w.message).split(":")[0] for w in recwarn] == ["UB404"] * bool(said)


@pytest.mark.parametrize(("content", "options", "told"), REFUSED.values(), ids=REFUSED)
def test_refused_by_name(tmp_path, content, options, told):
    with pytest.raises(ValueError, match=facts("t.csv", *told)):
        opened(tmp_path, content, options)


@pytest.mark.parametrize("named", [True, False], ids=["header", "row"])
def test_a_first_row_of_numbers_in_a_workbook(tmp_path, named):
    path = tmp_path / "t.xlsx"
    pandas.DataFrame(X, columns=[int(w) for w in WAVES]).to_excel(path, index=False, header=named)
    if not named:
        np.testing.assert_allclose(datasets.open(path)[:], X)
        return
    with pytest.warns(DataWarning, match=facts("UB404", "400")):
        found = datasets.open(path)
    np.testing.assert_allclose(found[:], X)
    assert found.names == WAVES


def test_no_row_of_random_numbers_is_a_header(tmp_path):
    """150 tables of 2 to 8 columns, of fractions, of counts and of classes."""
    rng = np.random.default_rng(0)
    path, wrong = tmp_path / "t.csv", 0
    for trial in range(150):
        rows = rng.normal(size=(30, rng.integers(2, 9)))
        rows = [rows, np.round(20 * rows), np.round(rows)][trial % 3]
        np.savetxt(path, rows, delimiter=",", fmt="%.6g")
        wrong += len(read_frame(path)[0]) != 30
    assert wrong <= 2
