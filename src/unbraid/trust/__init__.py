"""How far to trust a result: the table of figures, the warnings, what codes alone show, and the expected MCC."""
