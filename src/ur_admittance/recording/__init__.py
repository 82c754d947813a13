"""Runs on disk: writing, reading, exact replay, explaining, plotting."""
