"""Commands of the laboratory; `ur-admittance` finds them through the entry points in pyproject.toml."""
