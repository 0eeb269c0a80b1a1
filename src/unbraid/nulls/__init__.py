"""Would a fit have said the same of nothing? Shuffled evidence, held-out scores, and agreement between runs."""
