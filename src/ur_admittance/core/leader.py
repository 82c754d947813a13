"""Who leads the reference, as a code and in words."""

from enum import IntEnum


class Leader(IntEnum):
    NOBODY = 0
    STAGE = 1
    TWIST = 2
    POSE = 3
    SILENT = 4
    GO = 5


WORDS = {
    Leader.NOBODY: "",
    Leader.STAGE: "led by a stage",
    Leader.TWIST: "led by velocities from outside",
    Leader.POSE: "led to a pose from outside",
    Leader.SILENT: "the velocities from outside have ceased; nobody leads",
    Leader.GO: "taken to a pose",
}
FROM_OUTSIDE = (Leader.TWIST, Leader.POSE, Leader.SILENT, Leader.GO)
