# Written by scripts/stubs.py.
__all__: list[str]
from unbraid.autoencoders.ada_gvae import AdaGVAE as AdaGVAE
from unbraid.autoencoders.additive import AdditiveAutoencoder as AdditiveAutoencoder
from unbraid.autoencoders.additive import AdditiveVAE as AdditiveVAE
from unbraid.autoencoders.annealed_vae import AnnealedVAE as AnnealedVAE
from unbraid.autoencoders.autoencoder import Autoencoder as Autoencoder
from unbraid.autoencoders.beta_tcvae import BetaTCVAE as BetaTCVAE
from unbraid.autoencoders.beta_vae import BetaVAE as BetaVAE
from unbraid.autoencoders.dip_vae import DIPVAE as DIPVAE
from unbraid.autoencoders.factor_vae import FactorVAE as FactorVAE
from unbraid.autoencoders.hessian_autoencoder import HessianAutoencoder as HessianAutoencoder
from unbraid.autoencoders.irmae import IRMAE as IRMAE
from unbraid.autoencoders.ivae import IVAE as IVAE
from unbraid.autoencoders.slow_vae import SlowVAE as SlowVAE
from unbraid.autoencoders.vae import VAE as VAE
