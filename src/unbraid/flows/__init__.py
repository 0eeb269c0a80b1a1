"""NICE, RealNVP, GIN and self-supervised GIN."""
