"""X and what is known about its rows; readers of files; one way in, one rule of units."""
