"""Image generators (DCGAN, StyleGAN2), the directions in them (GANSpace), and the data set that moves along these."""

from unbraid.datasets.registry import Entry

GAN_MANIFOLD = Entry(
    "gan-manifold",
    "manifold:GANManifold",
    "principal components",
    "endless",
    "your generator, or ffhq",
    needs=(("torch", "torch"),),
    package="unbraid_papers.generators",
)
