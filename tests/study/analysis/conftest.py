from tests.cli.conftest import drawn, undrawn  # noqa: F401
