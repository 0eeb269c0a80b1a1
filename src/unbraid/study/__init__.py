"""Studies: many models, their codes and scores in one store, and what they say."""
