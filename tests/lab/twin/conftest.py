"""Recordings of hidden arms at work, made once."""

from pathlib import Path

import pytest

from benchmarks.twin.plants import Plant, draw, record
from ur_admittance_lab.scenarios.stage import Setup, Stage
from ur_admittance_lab.twin import Twin, identify_twin

SMOOTH_ARM, RUBBING_ARM = 8, 11  # a ur5e, and a ur3e whose joints have friction


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("twin")


@pytest.fixture(scope="session", params=[SMOOTH_ARM, RUBBING_ARM], ids=["smooth", "rubbing"])
def identified(request: pytest.FixtureRequest, folder: Path) -> tuple[Plant, Twin]:
    """A hidden arm, and what its recording shows of it."""
    plant = draw(request.param)
    log = folder / f"work_{plant.seed}.mcap"
    record(plant, log)
    return plant, identify_twin([log])[0]


@pytest.fixture(scope="session")
def work(folder: Path) -> Path:
    """A short recording of the usual simulated ur5e: pushed twice, along y and z."""
    path = folder / "pushed.mcap"
    stage = Stage(Setup(log=path))
    for wrench in ([0.0, 15.0, 0.0, 0.3, 0.0, 0.2], [0.0, 0.0, 12.0, 0.0, 0.4, 0.0]):
        stage.push(0.5, wrench)
        stage.run(0.8)
    stage.finish()
    return path


@pytest.fixture(scope="session")
def rest(folder: Path) -> Path:
    """Nothing happens."""
    path = folder / "rest.mcap"
    stage = Stage(Setup(log=path))
    stage.run(3.0)
    stage.finish()
    return path
