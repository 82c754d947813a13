"""Shared by all tests."""

import os
import signal

import pytest
from hypothesis import settings

# A shared build machine has pauses that say nothing about the code; the time-out of pytest guards against hanging.
settings.register_profile("default", deadline=None)
settings.load_profile("default")


# A script starts its background jobs with SIGINT ignored, and their children inherit that. Tests of Ctrl-C need it.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def missing(component: str) -> None:
    """Call when an optional component is not installed: skips on a desk, fails in CI, where nothing may be missing."""
    sentence = f"{component} is not installed"
    if os.environ.get("UR_ADMITTANCE_CI"):
        pytest.fail(sentence)
    pytest.skip(sentence)


@pytest.fixture
def optional():
    """optional("rclpy") imports a module or handles its absence as `missing` does."""

    def load(module):
        try:
            return __import__(module, fromlist=["_"])
        except ImportError:
            return missing(module)

    return load
