"""The report of a fitted model, and that of the demo, which compares several."""

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unbraid.estimator.summary import Section, counted
from unbraid.metrics.kinds import columns_of
from unbraid.report.charts import plot_codes, plot_distances
from unbraid.report.drawing import as_rows, is_pictures, plot_images
from unbraid.report.fitted import Fitted, describe
from unbraid.report.html import Report, sentence
from unbraid.report.traversal import plot_traversals, shown_codes
from unbraid.trust.warnings import explain_command

# What a section of a model's summary may ask for, and the module that draws it: plot_eigenvalues, and so on.
PICTURES = dict.fromkeys(("eigenvalues", "sampled points", "selection", "spectrum"), "charts")
PICTURES |= {"kl": "training", "losses": "training", "samples": "decoded", "subspaces": "subspaces"}
ENDS = 3  # rows that are named at each end of a code
SHOWN, RECONSTRUCTED = 24, 200  # pictures of the data, and rows that are decoded again
NAMED = 30  # columns that a picture has room to name
LONG = 6  # rows of a table that is folded if it has more
SOON = 0.1  # seconds; a fit that took less (after a diagnosis, say) does not say how many


def fit_report(
    model: Any,
    X: Any,
    factors: ArrayLike | None = None,
    *,
    factor_names: Sequence[str] | None = None,
    factor_kinds: Sequence[str] | None = None,
    table: Any = None,
    title: str = "",
    lead: str = "",
) -> Report:
    """The report of a fitted model: how far to trust it, its codes, and what they do to the data.

    Parameters
    ----------
    model : estimator
        Any of :data:`unbraid.methods.METHODS`, fitted; or your own with ``summary()``.
    X : array (n, ...), or anything that the model's ``transform`` takes
        Observations. Of a large X, 5000 rows or fewer are drawn at random.
    factors : array (n, number of factors), optional
        The true factors, where they are known: factor maps and the MCC are added.
    factor_names : sequence of str, optional
    factor_kinds : sequence of str, optional
        As of a data set: which factors wrap around.
    table : frame or mapping of names to arrays (n,), optional
        What else is known about the rows: the page says which columns go with which code (:func:`unbraid.name`).
    title, lead : str
        Of the page; by default the method's name, and a sentence about the data.

    Returns
    -------
    Report
        With ``write(path)`` and ``html()``.

    Examples
    --------
    >>> import unbraid as ub
    >>> X, factors = ub.datasets.load("shapes-xy", image_size=16).sample(300, random_state=0)
    >>> page = fit_report(ub.PCAICA(2, random_state=0).fit(X), X, factors, factor_names=("x", "y"))
    >>> "Factor maps" in page.html()
    True
    """
    fit = describe(model, X, factors, factor_names=factor_names, factor_kinds=factor_kinds, table=table)
    return page_of(fit, title=title, lead=lead)


def page_of(fit: Fitted, *, title: str = "", lead: str = "") -> Report:
    """The page of :func:`fit_report` for a fit that was measured already."""
    page = Report(title or fit.summary.title, lead or _lead(fit))
    if is_pictures(fit.sample.shape[1:]):
        page.section("The data").figure(plot_images(fit.sample[:SHOWN]), "Some of the images.")
    add_trust(page, fit)
    _add_codes(page, fit)
    for section in fit.summary.sections:
        add_section(page, section, fit.sample)
    return page


def _lead(fit: Fitted) -> str:
    count = 0 if fit.codes is None else fit.codes.shape[1]
    found = f"; {count} code{'s' * (count > 1)}" if count else ""
    took = f"; fitted in {fit.seconds:.1f} s" if fit.seconds and fit.seconds > SOON else ""
    return f"{fit.n_rows} observations of {in_words(fit.sample.shape[1:])}{found}{took}."


def in_words(row_shape: Sequence[int]) -> str:
    """What a row holds.

    >>> in_words((12,)), in_words((64, 64, 3))
    ('12 columns', '64 x 64 x 3 values')
    """
    if len(row_shape) == 1:
        return counted(row_shape[0], "column")
    return f"{' x '.join(map(str, row_shape))} values"


def _add_codes(page: Report, fit: Fitted) -> None:
    """The sections that every method with codes has."""
    if fit.codes is None or fit.sample_codes is None or fit.distances is None:
        return
    summary, codes = fit.summary, fit.codes
    shown = shown_codes(codes, summary.order, summary.n_shown)
    names = [f"code {j + 1}" for j in range(codes.shape[1])]
    labels = [names[j] for j in shown]
    page.section("Codes").text(
        "The codes against each other, and their distributions. Independent codes fill a shape with sides parallel to "
        "the axes."
    ).figure(plot_codes(codes[:, shown], names=labels))
    if fit.row_names is not None:
        page.section("Rows at the ends of each code").table(
            ["code", "lowest", "highest"], [(names[j], *_ends(fit.row_names, codes[:, j])) for j in shown]
        )
    if fit.factors is not None:
        page.section("Factor maps").text(
            f"The factors of these data are known: MCC {fit.mcc:.4f}. MCC, the mean correlation coefficient, compares "
            "each factor with the code that represents it; 1 is perfect.",
            "The maps show each code over the factors. Straight bands along one axis mean that the code represents the "
            "other factor alone.",
        ).figure(_factor_map(fit, codes[:, shown], labels))
    if summary.decodes:
        moved = plot_traversals(
            fit.model.inverse_transform, codes, span="quantiles", base="median", order=summary.order,
            most=summary.n_shown, names=names, angles=columns_of("circle", summary.kinds) if summary.kinds else [],
        )  # fmt: skip
        if fit.feature_names and len(fit.feature_names) <= NAMED:
            for ax in moved.axes:
                ax.set_xlabel("")
                ax.set_xticks(range(len(fit.feature_names)), fit.feature_names, rotation=90)
        page.section("Moving along each code").text(
            "One code varies from its 3rd to its 97th percentile while the others stay at their medians; the data are "
            "decoded by inverse_transform." + (" An angle goes once around." if "circle" in summary.kinds else "")
        ).figure(moved)
    if not (summary.decodes and is_pictures(fit.sample.shape[1:])):  # which shows it as pictures
        _add_loadings(page, fit, shown, labels)
    if fit.table is not None:
        _add_names(page, fit, codes)
    if summary.reconstructs:
        _add_reconstructions(page, fit.sample[:RECONSTRUCTED], fit.sample_codes[:RECONSTRUCTED], fit.model)
    page.section("Distances").text(
        "Distances between neighbouring observations, in the data and in the codes."
    ).figure(
        plot_distances(fit.distances.lengths, fit.distances.found), f"Correlation {fit.distances.isometry:.3f}."
    )  # fmt: skip


def _ends(names: NDArray, code: NDArray) -> tuple[str, str]:
    """Names of the rows with the lowest and the highest values, the extreme first."""
    order = np.argsort(code, kind="stable")
    return ", ".join(names[order[:ENDS]]), ", ".join(names[order[::-1][:ENDS]])


def _factor_map(fit: Fitted, codes: NDArray, labels: list[str]) -> Any:
    """Means over the cells where the factors are classes, every point where they are not."""
    from unbraid.report.factor_maps import plot_factor_maps, plot_mean_codes

    factors, names = np.asarray(fit.factors), fit.factor_names
    if factors.shape[1] > 2 and np.issubdtype(factors.dtype, np.integer):
        return plot_mean_codes(factors, codes, factor_names=names, code_names=labels)
    return plot_factor_maps(
        factors, codes, factor_names=names, code_names=labels, kinds=fit.summary.kinds,
        factor_kinds=fit.factor_kinds or (),
    )  # fmt: skip


def _add_loadings(page: Report, fit: Fitted, shown: NDArray, labels: list[str]) -> None:
    """The features that change along the codes, where there are enough rows to tell."""
    from unbraid.meaning.loadings import fewest_rows, loadings
    from unbraid.report.meaning import plot_courses, plot_loadings

    codes = np.asarray(fit.sample_codes)
    kinds = fit.summary.kinds
    if not kinds:
        codes = codes[:, shown]
    if len(codes) < fewest_rows(codes.shape[1]):
        return
    found = loadings(codes, fit.sample, kinds=kinds, feature_names=fit.feature_names)
    names = labels if not kinds else None
    page.section("What changes along each code").text(
        "The change of each feature for one standard deviation of a code (one radian of an angle) while the other "
        "codes stay, averaged over the data, with 95 % intervals. Grey bars could be zero."
    ).figure(plot_loadings(found, names=names))
    angles = columns_of("circle", kinds) if kinds else []
    if angles:
        page.figure(plot_courses(found, angles), "Tuning curves: means of the features that change most with an angle.")


def _add_names(page: Report, fit: Fitted, codes: NDArray) -> None:
    from unbraid.meaning.naming import name_codes

    found = name_codes(codes, fit.table, kinds=fit.summary.kinds)
    page.section("Known columns").text(
        "Each column with the code that explains most of it. Links that could be chance name no code; p is adjusted "
        "for the number of columns."
    ).table(
        ["column", "code", "explained", "p"],
        [
            (
                link.column,
                "none" if link.code is None else f"code {link.code + 1}",
                f"{link.share:.2f}",
                f"{link.p:.2g}",
            )
            for link in found.links
        ],
    )


def _add_reconstructions(page: Report, sample: NDArray, codes: NDArray, model: Any) -> None:
    decoded = np.asarray(model.inverse_transform(codes))
    left = float(np.square(as_rows(decoded) - as_rows(sample)).mean() / max(as_rows(sample).var(axis=0).mean(), 1e-300))
    page.section("Reconstructions").text(
        f"{len(sample)} observations were encoded and decoded: {100 * (1 - left):.1f} % of their variance is kept."
    )
    if is_pictures(sample.shape[1:]):
        from unbraid.report.decoded import plot_reconstructions

        page.figure(plot_reconstructions(sample, decoded), "Above the data, below their reconstructions.")


def add_trust(page: Report, fit: Fitted) -> None:
    """A section on how far to trust the codes."""
    page.section(f"How far to trust {fit.summary.title}")
    diagnosis = getattr(fit.model, "diagnosis_", None)
    if diagnosis is not None:
        page.note([diagnosis.answer], "good" if diagnosis.verdict == "yes" else "look")
    concerns = [concern for concern in fit.concerns if diagnosis is None or concern != diagnosis.answer]
    if concerns:
        page.note([sentence(concern) for concern in concerns], "look")
    elif fit.summary.note:
        page.note([fit.summary.note], "good" if fit.summary.checked else "")
    facts = fit.summary.facts
    folded = f"All {len(facts)} figures" if len(facts) > LONG else ""
    page.table(["figure", "value", "what it means"], [(f.name, f.value, f.meaning) for f in facts], folded=folded)
    if fit.remarks:
        page.text("Warnings raised during the fit:", *(sentence(remark) for remark in fit.remarks))
    more = explain_command([*fit.concerns, *fit.remarks])
    if more:
        page.text("Causes, remedies, and when to ignore them:").code(more)


def add_section(page: Report, section: Section, sample: NDArray) -> None:
    """A section of a model's summary; a long table is hidden behind a line."""
    page.section(section.title).text(*section.text)
    if section.picture:
        if section.picture not in PICTURES:
            raise ValueError(f"there is no picture {section.picture!r}. Available: {', '.join(PICTURES)}.")
        data = section.data | ({section.rows_as: sample} if section.rows_as else {})
        module = import_module(f"unbraid.report.{PICTURES[section.picture]}")
        draw = getattr(module, f"plot_{section.picture.replace(' ', '_')}")
        page.figure(draw(**data), section.caption)
    if section.columns:
        hidden = f"All {len(section.rows)} rows" if len(section.rows) > LONG else ""
        page.table(section.columns, section.rows, marked=section.marked, folded=hidden)


def demo_page(fits: Sequence[Fitted], lead: str) -> Report:
    """The report of ``unbraid demo``: the methods side by side, then the best one in full."""
    from unbraid.report.factor_maps import plot_factor_maps

    best = max(fits, key=lambda fit: fit.mcc or 0.0)
    names = best.factor_names or []
    page = Report("Two factors, found without labels", lead)
    page.section("The data").text(
        f"{best.n_rows} images of a white square. Only its position changes, so two numbers, "
        f"{' and '.join(names)}, determine every pixel. The methods see only the pixels."
    ).figure(plot_images(best.sample[:SHOWN]), "Some of the images.")
    page.section("Result").table(
        ["method", "MCC", "local isometry", "seconds", *best.summary.settings],
        [demo_row(fit, list(best.summary.settings)) for fit in fits],
        marked=list(fits).index(best),
    ).text(
        "MCC, the mean correlation coefficient, compares each true factor with the code that represents it; 1 is "
        "perfect. Local isometry measures whether the codes preserve distances between neighbours. It needs no "
        "labels, so the settings can be chosen by it."
    )
    page.section("Factor maps").text(
        "Every dot is an image, placed by its true factors and coloured by its code. A code that represents one factor "
        "gives straight bands along the other axis; a mixture gives slanted or curved ones."
    ).figures(
        (
            plot_factor_maps(fit.factors, fit.codes, factor_names=names, title=fit.summary.title),
            f"{fit.summary.title}: MCC {fit.mcc:.4f}.",
        )
        for fit in fits
        if fit.factors is not None and fit.codes is not None
    )
    page.section("Distances").text(
        "Distances between neighbouring images, in pixels and in the codes. The proof behind HLLE+ICA requires that "
        "the dots lie on the line."
    ).figures(
        (
            plot_distances(fit.distances.lengths, fit.distances.found, title=fit.summary.title),
            f"{fit.summary.title}: correlation {fit.distances.isometry:.3f}",
        )
        for fit in fits
        if fit.distances is not None
    )
    if best.codes is not None:
        page.section(f"Moving along the codes of {best.summary.title}").text(
            "In each strip one code varies while the other stays at its median; the images are decoded by "
            "inverse_transform."
        ).figure(plot_traversals(best.model.inverse_transform, best.codes, span="quantiles", base="median"))
    for fit in sorted(fits, key=lambda fit: fit is not best):
        add_trust(page, fit)
        for section in fit.summary.sections:
            add_section(page, section, fit.sample)
    page.section("Next steps").code(
        "unbraid fit DATA --factors 2 --out RUN      # DATA: .npy, .npz, .h5, .zarr, a folder of images, a data set\n"
        "unbraid explore RUN                         # explore its factors in the browser; also: unbraid demo --open\n"
        "unbraid fit --help"
    )
    return page


def demo_row(fit: Fitted, settings: Sequence[str]) -> list[Any]:
    """A line of the demo's table: title, MCC, local isometry, seconds, and the settings of these names."""
    isometry = "" if fit.distances is None else f"{fit.distances.isometry:.3f}"
    chosen = [fit.summary.settings.get(name, "") for name in settings]
    return [fit.summary.title, f"{fit.mcc:.4f}", isometry, f"{fit.seconds:.2f}", *chosen]
