"""How far to trust a result: the warnings and what they mean."""
