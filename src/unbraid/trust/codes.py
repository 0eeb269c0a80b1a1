"""The one list of warnings: what each says, and what its page of the docs adds."""

from dataclasses import dataclass

from unbraid.trust.table import FIGURES, MORE_ROWS


@dataclass(frozen=True)
class Code:
    """A line of the list of warnings.

    Attributes
    ----------
    sentence : str
        What is said, with room for figures.
    remedy : str
        What to do, said with it; it may have room for figures too.
    cause : str
        What it comes from, for the page of the docs.
    ignore : str
        When it does no harm, for the page of the docs.
    figure : str
        The key of the figure that it is about, in :mod:`unbraid.trust.table`; empty where it is about none.
    """

    sentence: str
    remedy: str
    cause: str
    ignore: str
    figure: str = ""


def about(key: str, sentence: str, cause: str, ignore: str) -> Code:
    """The warning of a figure, whose remedy is in the table of figures."""
    return Code(sentence, FIGURES[key].remedy, cause, ignore, key)


NEVER = "Never: the codes mean something else than they seem to."

CODES = {
    "UB101": Code(
        "the diagnosis of these data says no ({causes}); {method} was fitted all the same, as the best guess. Its "
        "codes are not to be taken for the factors.",
        "print(model.diagnosis_) says what fails and what would help.",
        "An assumption without which factors cannot be found fails for these data.",
        "If you want a picture of the data, not their factors.",
    ),
    "UB102": about(
        "class_contact",
        "the classes fall into {count} groups that do not overlap: {names}; at most {between:.2%} of a class's nearest "
        "neighbours lie in another group. A factor along which classes are apart is then often found as two or more "
        "latents.",
        "Between some classes of the labels there is empty space, in which a flow is free.",
        "If you compare points of one group only.",
    ),
    "UB103": about(
        "class_size",
        "{count} of {of} classes have fewer than {least} members (the smallest has {smallest}, so its standard "
        "deviations are known to {error:.0%}).",
        "A flow with labels learns a mean and a variance of every class, and few points do not give them.",
        "If the small classes hold a small share of the points.",
    ),
    "UB104": about(
        "conditions",
        "{conditions} conditions for {latents} informative latents: the theory guarantees them from n k + 1 = {needed} "
        "conditions on (k = 2). Fewer often suffice in practice (GIN, experiment 2).",
        "The proof of GIN asks for more conditions than the labels have.",
        "If several random states find the same latents.",
    ),
    "UB105": Code(
        "a factor wraps around, and no code runs along it without a jump; product-manifold was fitted, which gives it "
        "an angle (radians).",
        "model.kinds_ says which factors are angles, model.verified_ which passed their checks.",
        "The data run around a loop, such as all views of a turning object.",
        "If you expect an angle among the factors.",
    ),
    "UB106": Code(
        "{names} of this data set is an angle, and the metrics take it as a number that jumps where it closes.",
        "Use unbraid.metrics.mcc(factors, codes, kinds=..., code_kinds=...), which compares angles.",
        "A factor that wraps around has no order, which most metrics need.",
        "If the factor covers less than half a turn.",
    ),
    "UB107": Code(
        "{n_factors} factors are scored against {n_codes} codes, so not every factor has a code of its own.",
        "The order is evaluate(factors, codes): swap the two if they came in another order.",
        "There are fewer columns of codes than of factors, or the two arguments were swapped.",
        "If the representation has fewer dimensions than there are factors.",
    ),
    "UB201": about(
        "participation",
        "an eigenvector lives on {share:.1f} % of the points: the embedding has collapsed.",
        "A few points hang by a thread (outliers, a sparse corner), and an eigenvector describes them alone. Large "
        "neighbourhoods and noise make it likelier.",
        NEVER,
    ),
    "UB202": about(
        "local_isometry",
        "local isometry is {isometry:.2f}: distances between neighbours are not kept, so the codes need not be the "
        "factors.",
        "The theory needs factors that change the data at a constant rate; the codes found do not. The data may be too "
        "sparse or noisy, have another number of factors, or simply not be of that kind.",
        "If only the order of the points along a code matters.",
    ),
    "UB203": about(
        "eigengap",
        "the eigengap is {gap:.2f}: the spectrum does not say where the factors end.",
        "The eigenvalue after the last factor is nearly as small as that of the last factor: there are more or fewer "
        "factors than were asked for, or too few points to tell.",
        "If you know the number of factors, and the codes look right.",
    ),
    "UB204": about(
        "rotation_doubt",
        "the rotation is uncertain: solutions that rest on different assumptions are {doubt:.0f} degrees apart (up to "
        "{usual:.0f} is usual), and the codes may be turned by up to {degrees} degrees.",
        "The right space was found, but not for certain the axes in it: the factors are nearly Gaussian or depend on "
        "each other, or the points are few.",
        "If any rotation serves, as for a regression on all codes.",
    ),
    "UB205": about(
        "kurtosis",
        "{codes} cannot be told from Gaussians (excess kurtosis {kurtosis}): ICA cannot separate them.",
        "Two Gaussian factors look the same from all sides.",
        "If any rotation of these factors serves.",
    ),
    "UB206": about(
        "extension_error",
        "the local maps disagree by {error:.2f} standard deviations on held-out points: new points are placed only "
        "roughly.",
        "Neighbours are so far apart that the manifold bends between them.",
        "If only the codes of the points that were fitted matter.",
    ),
    "UB207": about(
        "apart",
        "the neighbour graph falls into {pieces} pieces; the largest was embedded, and {outside} point(s) outside it "
        "were placed by the nearest local maps.",
        "Some points lie apart from the rest: outliers, classes, a discrete factor, or a gap in what was collected.",
        "If they are outliers that you do not need.",
    ),
    "UB208": Code(
        "ICA did not converge from any start; the codes are the last iterate.",
        "Raise n_init or try the other contrast.",
        "No rotation stands out, as with Gaussian factors or very few points.",
        "If any rotation serves.",
    ),
    "UB209": about(
        "structure",
        "the data have no structure: {reason}. There are no factors to find; the one code that was computed means "
        "nothing.",
        "The features are as independent of each other as after shuffling each by itself.",
        NEVER,
    ),
    "UB210": about(
        "dimension_gap",
        "the number of factors cannot be told from the data: {reason}. {taken} were taken, {low} to {high} are "
        "possible.",
        "Neighbourhoods of different sizes show different numbers of directions, or none that stands out.",
        "If the number that was taken is the one you expect.",
    ),
    "UB211": about(
        "dependence",
        "the codes depend on each other ({nats:.2f} nats, up to {usual} is usual), so they cannot all be independent "
        "factors.",
        "The factors are dependent, the points are too few for the embedding, or their support is no box.",
        "If you know that the factors depend on each other, and the codes look right.",
    ),
    "UB212": about(
        "r_hat",
        "{codes} was not found again: refits on halves, by another seed and by other settings correlate by "
        "{correlation:.2f} (R-hat {r_hat:.2f}; up to {usual} is usual).",
        "The code rests on a few points, on a setting or on a seed, not on the data as a whole.",
        NEVER,
    ),
    "UB221": about(
        "spectrum_drop",
        "n_informative_ = {count} of {of} is uncertain: the spectrum allows {low} to {high} latents, and the spread "
        "over the noise drops by a factor of {drop:.2f} after the last one counted (a clear drop is {clear:g} or "
        "more).",
        "Informative latents and noise are not clearly told apart in the spectrum of a flow.",
        "If the number is the one you expect, or you choose the latents yourself.",
    ),
    "UB222": about(
        "found_again",
        "the starts disagree: others have code {which} with a correlation of {correlation:.2f} only ({usual:g} or more "
        "is usual), so it is not settled by the data.",
        "The loss cannot see a function of what is not augmented in an augmented code, and noise is found anew.",
        "If you do not use this code.",
    ),
    "UB231": Code(
        "{found} factors were found of the {wanted} that were asked for: nothing else changes the data on its own.",
        "Shorter factors need more rows.",
        "A factor is too short against the others, or the data have fewer.",
        "If the factors that were found are those that matter.",
    ),
    "UB232": about(
        "factor_connected",
        "The samples fall into {pieces} parts that do not touch: a part is no factor.",
        "The neighbour graph of the product manifold is not connected.",
        "Never: fit the parts alone.",
    ),
    "UB233": Code(
        "The dimension of the data is unclear ({estimate}), so factors may be missing.",
        MORE_ROWS,
        "Without a dimension nothing says when all factors are found.",
        "If the factors that were found are those that you expect.",
    ),
    "UB234": about(
        "factor_complete",
        "The factors have {found} dimensions together, the data {dimension}: {means}.",
        "Fewer or more factors were found than the data have directions.",
        "If the factors that were found are those that you expect.",
    ),
    "UB235": about(
        "factor_shape",
        "Not verified as {kind}: {codes} ({failed}).",
        "One of the checks of a factor of this kind failed; checks_ holds their figures.",
        "If a plot of the factor shows what you expect.",
    ),
    "UB236": about(
        "factor_faithful",
        "Samples of the same factors differ: something else changes the data, a line crosses itself, or an angle goes "
        "round more than once because views look nearly alike.",
        "The factors that were found do not tell the data apart.",
        "If the rest that changes is noise that you know of.",
    ),
    "UB237": Code(
        "The rows, in their order, go {turns} times round the circle of {codes}.",
        "If they are one turn of an object, it looks alike after 1/{turns} of it, and the code is {turns} times its "
        "angle.",
        "An object with a symmetry shows the same view more than once in a turn.",
        "If the rows are not one turn: several turns, or in no order.",
    ),
    "UB241": Code(
        "{points} points are too few for dimension {dimension}: {wanted} neighbours each are wanted, {used} are used.",
        "Give more points.",
        "Tangent spaces of GEOMANCER need more neighbours the more dimensions there are.",
        "If the gap is wide all the same.",
    ),
    "UB242": Code(
        "{neighbors} neighbours are too few for the curvature of a manifold of dimension {dimension}, which has "
        "{unknowns} unknowns; tangent spaces are left uncorrected.",
        "Use more, or curved=False.",
        "A quadratic fit has more unknowns than there are neighbours.",
        "If the gap is wide all the same.",
    ),
    "UB243": Code(
        "The dimension is unclear ({estimate}).",
        "Give dim=... if you know it.",
        "GEOMANCER splits tangent spaces, whose dimension must be known.",
        "If dim_ is the dimension that you expect.",
    ),
    "UB244": Code(
        "The neighbour graph falls into {parts} disconnected parts of {sizes} points; they are tied by their shortest "
        "bridges, and subspaces may be matched wrongly between them.",
        "Use a larger n_neighbors, more points, or fit each part alone.",
        "Some points lie apart from the rest.",
        "If the subspaces are used within one part only.",
    ),
    "UB245": Code(
        "The number of submanifolds is {reason}",
        "n_submanifolds_ = 1 means undivided here, not that there is one factor.",
        "The spectrum has no gap that says how many submanifolds there are; the text names the reason.",
        "Never: nothing was split.",
    ),
    "UB246": Code(
        "gap={gap} selects nothing: the lowest eigenvalue is {lowest:.4g}. One submanifold is reported.",
        "Give a larger gap, or gap='auto'.",
        "All eigenvalues lie above the gap that was asked for.",
        "If you wanted to know whether anything lies below it.",
    ),
    "UB247": about(
        "submanifold_gap",
        "The gap is narrow: the eigenvalues across it have ratio {ratio:.3g}, and {safe:.0f} is safe. {few}: the "
        "subspaces are rough, and the number of submanifolds may be wrong.",
        "The eigenvalues that count submanifolds are not clearly apart from the rest.",
        "If the number is the one you expect, and rough subspaces serve.",
    ),
    "UB248": about(
        "tangent_error",
        "The tangent spaces are rough, and so are the subspaces: they {turn}. {few}.",
        "Neighbourhoods of different sizes show different tangent spaces: curvature, or noise.",
        "If rough subspaces serve.",
    ),
    "UB301": Code(
        "{count} of {of} rows are duplicates of others; each place is counted once.",
        "If they are not meant to be there, look at how the data were collected.",
        "The same row occurs more than once.",
        "Always, where duplicates are expected: they get the same codes.",
    ),
    "UB302": Code(
        "{count} of {of} features are constant and noise=0: the likelihood has no bound there, and the flow spends "
        "itself on them.",
        "Give noise='auto' or drop these features.",
        "A density on a plane of fewer dimensions is infinite.",
        "Never: the other latents suffer.",
    ),
    "UB303": Code(
        "{count} of {of} classes have one member and were left out, as one point has no variance: {names}.",
        "Merge them with others, or collect more of them.",
        "A class of one point says nothing about a distribution.",
        "If these classes do not matter.",
    ),
    "UB304": Code(
        "{missing} of {of} chunks of {path} are not stored; they are read as {fill}. That is right if the data are "
        "constant there.",
        "If the copy is incomplete, copy it again.",
        "A zarr writer may leave out chunks of one value, and a copy may have lost them.",
        "If the data are constant there, such as a mask or a padded edge.",
    ),
    "UB401": Code(
        "stopped after {done} of {of} steps by {by}.",
        "Give checkpoint=... and fit again to go on, or raise max_seconds.",
        "The time that was allowed ended before the training did.",
        "If the history shows that the loss has settled.",
    ),
    "UB402": Code(
        "the eigenfields have residual {residual:.2g} against eigenvalues {lowest:.2g} to {highest:.2g} after {calls} "
        "operator calls.",
        "Use a larger tol, or more neighbours.",
        "The solver of GEOMANCER ran out of passes.",
        "If the residual is far below the gap.",
    ),
    "UB403": Code(
        "the eigen-solver stopped after {iterations} iterations with residual {residual:.1e}: the spectrum has no gap "
        "after the wanted vectors.",
        "Try another n_neighbors, or check n_factors.",
        "The eigenvalue after the last factor is nearly as small as that of the last factor.",
        "If the residual is small and the codes look right.",
    ),
}
