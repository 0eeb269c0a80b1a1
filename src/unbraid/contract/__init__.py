"""What every estimator is: inputs, parameters, persistence, progress, warnings, and its summary for pages."""
