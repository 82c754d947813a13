"""Episodes that have run once, for all tests of the checks."""

import os
from functools import cache

import pytest

from ur_admittance_lab.campaign import episode
from ur_admittance_lab.episodes import simulate

SWEEP = int(os.environ.get("SWEEP", "0"))  # episodes of each family; 0: a few


def pytest_collection_finish(session):
    """Compile before the first test: its time-out is for the test."""
    if any("tests/lab/campaign" in item.nodeid for item in session.items):
        ran("free", 1)


@cache
def ran(family, number):
    """(episode, trace)"""
    drawn = episode(family, number)
    [trace] = simulate([drawn.case], threads=1)
    return drawn, trace


@pytest.fixture(scope="session")
def run_once():
    return ran


@pytest.fixture(scope="session")
def sweep():
    """sweep(short): how many episodes of each family to try."""
    return lambda short: SWEEP or short
