"""Autoencoder, IRMAE, the Hessian autoencoder, and the six VAEs of the large study."""

from unbraid.autoencoders.annealed_vae import AnnealedVAE
from unbraid.autoencoders.autoencoder import Autoencoder
from unbraid.autoencoders.beta_tcvae import BetaTCVAE
from unbraid.autoencoders.beta_vae import BetaVAE
from unbraid.autoencoders.dip_vae import DIPVAE
from unbraid.autoencoders.factor_vae import FactorVAE
from unbraid.autoencoders.hessian_autoencoder import HessianAutoencoder
from unbraid.autoencoders.irmae import IRMAE
from unbraid.autoencoders.vae import VAE

__all__ = [
    "DIPVAE",
    "IRMAE",
    "VAE",
    "AnnealedVAE",
    "Autoencoder",
    "BetaTCVAE",
    "BetaVAE",
    "FactorVAE",
    "HessianAutoencoder",
]
