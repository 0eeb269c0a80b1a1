"""What every estimator is: parameters, the keywords of ``fit``, and its summary for pages."""
