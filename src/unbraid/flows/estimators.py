"""NICE, RealNVP and GIN: what tells the conditional flows apart."""

from unbraid.flows.base import ARCHITECTURES
from unbraid.flows.conditional import ConditionalFlow


class GIN(ConditionalFlow):
    """General incompressible-flow network: factors from data and a condition, and how many there are.

    A volume-preserving flow maps x to codes w whose distribution given the condition u is factorial, and maximises
    the likelihood (Eq. 10 to 12), E[sum_i (w_i - mu_i(u))^2 / (2 sigma_i(u)^2) + log sigma_i(u)]. With enough
    conditions the codes are the true factors, each up to scale and shift, and codes beyond them carry noise only. Use
    it when every point has a label (a class, posterior class weights, or continuous values) and the label changes the
    distribution of the factors but not how they make the data.

    Parameters
    ----------
    condition : {"auto", "classes", "soft", "continuous"}
        How to read ``labels``: whole numbers and strings are classes, rows that sum to 1 soft labels, other floats
        continuous conditions, for which a small network gives mu(u) and sigma(u).
    latent : {"normal", "lognormal", "inverse-gaussian", "gamma", "inverse-gamma", "beta"}
        The family of the latents (Table 1); :meth:`transform` then gives codes in its support.
    architecture : {"auto", "dense", "convolutional", "unfolding"}
        Images with sides divisible by 4 go to the convolutional network, all else to the fully connected one.
        "unfolding" is for strongly bent tables with classes. Its first part finds the surface near which the rows lie:
        a learned rotation and two shifts by smooth sub-networks, such that what is decoded from the codes on the
        surface alone is near the row, under noise that falls from ten times ``noise``. There are as many of these codes
        as factors, or as the data have dimensions (:func:`~unbraid.manifold.dimension.estimate_dimension`). The second
        part fits ``n_init`` flows of these codes to the classes; the other codes take up their change of volume. Each
        part takes ``max_steps`` steps.
    n_blocks, hidden : int, or three ints for the convolutional network
        Blocks and sub-network widths; the papers' by default (8 blocks; 4, 4, 2 for images). If unfolding, those of the
        second part, by default 8 and 32; the first is twice as wide.
    clamp : {"atan", "steep-atan", "tanh"}
        How the log-scales are bounded; the authors' by default.
    scale : {"mean", "last"}
        How log-scales sum to 0: less their mean, as in the authors' code, or the last as minus the sum of the others,
        as in the paper. "last" bounds all but the last one, and has no fused kernel.
    max_steps, learning_rate, patience, tol :
        Steps of Adam; the rate drops to a tenth, and then the training ends, once the held-out likelihood has not
        risen by ``tol`` nats per feature in ``patience`` evaluations (every 50 steps; 100 on images). The default rate
        suits small flows; images want 3e-4 to 1e-3. If unfolding, the rate falls to 0 by a cosine, and ``patience``
        and ``tol`` do not count.
    betas : pair of float
        Adam's. The second moment forgets in 100 steps by default; the papers have the usual (0.9, 0.999), slow for
        runs of 800.
    drop : float
        Share of ``max_steps`` after which the rate drops at the latest; 5/8 is the papers' epoch 50 of 80. If
        unfolding, the share after which the noise has fallen.
    noise : float or "auto"
        Standard deviation of the normal noise added to the data in every step, in the unit of X; "auto" is 5 % of the
        overall standard deviation of X (0.015 on MNIST; the papers have 0.01 everywhere), 1 % if unfolding. It floors
        the standard deviations of the codes, so constant features (the border of MNIST) do no harm. Factors that move
        the data less than the noise are lost in it: lower it to find them.
    n_init : int
        Flows trained at once from different starts; the best by held-out likelihood is kept. Of three or more starts
        within 0.1 nats of it (0.01 if unfolding), the one is kept whose codes agree most with the others.
    n_factors : int or "auto"
        How many latents are factors, ``n_informative_``. "auto" counts the latents that stand out of the data noise
        and of the fine structure that many latents share (:func:`~unbraid.flows.spectrum.count_above_noise`), and warns
        where the count is uncertain.
    validation_fraction : float
        Share of each class that is held out.
    engine : {"auto", "torch", "fused", "compile"}
        "auto" takes the fused kernels for small fully connected and for convolutional flows (numba builds them once,
        then keeps them; CPU only) and torch for the rest. "compile" is ``torch.compile``: it needs a C compiler and a
        minute or more before the first step.
    **settings
        See :class:`~unbraid.training.estimator.TrainedEstimator`. A batch has the same number of points of each class.
        Records are written at every evaluation as well.

    Attributes
    ----------
    n_informative_ : int
        Latents that matter; the first columns of :meth:`transform`.
    n_informative_interval_ : (int, int)
        The counts that the spectrum allows.
    n_informative_drop_ : float
        By which factor ``above_noise_`` falls after the last latent that was counted; 2 or more is a clear drop.
    n_above_noise_ : int
        Latents above the noise: on real data often many more, a shelf of fine structure that is not counted.
    above_noise_ : array (n_features,)
        The spread of each latent over all points, over the one that the data noise alone gives it: near 1 where it
        carries only noise.
    importance_ : array (n_features,)
        What latents are ordered by, decreasing: the geometric mean of reach and spread (RealNVP: the reach), where
        the spread is half the range of the middle 68 % of a latent around its class mean.
    reach_ : array (n_features,)
        How far a latent moves the data: median of half the distance between -1 and +1 spread.
    stds_ : array (n_features,)
        The spectrum: RMS over classes of the per-class std. Alone it is not identified, as the flow may stretch one
        latent and shrink another; ``reach_`` does not change then.
    information_ : array (n_features,)
        Mutual information of each latent and the class, in nats.
    leftover_ : float
        Nats per code by which the informative codes of a class differ from independent normal ones
        (:func:`~unbraid.flows.leftover.leftover`): near 0 where the flow has unmixed the data. NaN without classes.
    found_again_ : array (n_features,)
        How well the other starts, if as likely, have each code: mean of its largest absolute correlation with one of
        theirs; NaN where there is none. ``fit`` warns where an informative code has less than 0.95.
    parameters_ : array (2, n_classes, n_features)
        Of the latent family, by class (mean and std if normal).
    classes_, priors_ : arrays (n_classes,)
    init_scores_ : array (n_init,)
        Held-out log-likelihood of each start; that of the codes on the surface alone if unfolding.
    best_init_ : int
        The start that was kept.
    n_unfolded_ : int
        Codes on the surface that was unfolded; 0 where there is none.
    history_ : list of dict
        At each evaluation, and every ``log_every`` steps: ``losses`` of the starts, ``loss`` of the best of them,
        ``held_out`` -log-likelihoods (evaluations only) and ``learning_rate``. In the first part of an unfolding flow
        these are shares of the variance that are off the surface.
    n_steps_, stopped_ :
        Steps taken, and why they ended.

    References
    ----------
    Sorrenson, Rother and Koethe (2020), Disentanglement by nonlinear ICA with general incompressible-flow networks.

    Examples
    --------
    >>> import numpy as np, unbraid as ub
    >>> rng = np.random.default_rng(0)
    >>> labels = np.arange(300) % 3
    >>> X = rng.normal(size=(300, 4)) * [1, 0.5, 0.01, 0.01] + labels[:, None] * [1, 0.5, 0, 0]
    >>> import warnings; warnings.simplefilter("ignore")
    >>> model = ub.GIN(max_steps=30, n_init=1, random_state=0).fit(X, labels)
    >>> codes = model.transform(X)
    >>> bool(np.allclose(model.inverse_transform(codes), X))
    True
    """

    _kind = "gin"
    _parameter_constraints = {"architecture": (*ARCHITECTURES, "unfolding")}


class RealNVP(ConditionalFlow):
    """Affine couplings that may change the volume: log p(x|u) = log p(w|u) + log|det dw/dx|.

    The density of x, of each class if labels are given. Latents are as identifiable as GIN's, but a standard
    deviation no longer says how much a latent matters (``reach_`` still does). Attributes are those of
    :class:`GIN`; labels may be left out.

    Parameters
    ----------
    **settings
        See :class:`~unbraid.GIN`.

    References
    ----------
    Dinh, Sohl-Dickstein and Bengio (2016), Density estimation using Real NVP, Eq. 7 and 8.

    Examples
    --------
    >>> import numpy as np, unbraid as ub
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> model = ub.RealNVP(max_steps=20, n_init=1, random_state=0).fit(X)
    >>> model.score_samples(X).shape
    (200,)
    """

    _kind = "realnvp"


class NICE(ConditionalFlow):
    """Additive couplings: the volume is kept, and no latent is stretched.

    The simplest flow; use it as a baseline for :class:`GIN`, whose attributes it shares. Labels may be left out.

    Parameters
    ----------
    **settings
        See :class:`~unbraid.GIN`.

    References
    ----------
    Dinh, Krueger and Bengio (2014), NICE: Non-linear independent components estimation.

    Examples
    --------
    >>> import numpy as np, unbraid as ub
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> model = ub.NICE(max_steps=20, n_init=1, random_state=0).fit(X)
    >>> bool(np.allclose(model.inverse_transform(model.transform(X)), X))
    True
    """

    _kind = "nice"
