"""nn.Modules that the estimators stand on."""
