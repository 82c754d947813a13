"""One random episode: a case of the simulation, and what is known about it before it runs."""

from dataclasses import asdict, dataclass
from typing import Any

from ur_admittance.core.records import Status
from ur_admittance.params import Parameters
from ur_admittance_lab.episodes import Case

REST_WINDOW = 1.0  # [s] at the end in which the arm must stand still
STEADY_WINDOW = 2.0  # [s] in which a contact must not oscillate: eight periods of the slowest bounce, 4 Hz

REPORTED = {  # what the controller may say about each injected fault
    "wrench_lost": (Status.STALE_WRENCH,),
    "joints_lost": (Status.STALE_JOINTS,),
    "nan_wrench": (Status.NOT_FINITE,),
    "nan_joints": (Status.NOT_FINITE,),
    "protective_stop": (Status.PROTECTIVE_STOP,),
    "frozen": (Status.STALE_JOINTS, Status.STALE_WRENCH),
}


@dataclass(frozen=True)
class Fault:
    """Something that breaks, from ``start`` to ``end`` [s]."""

    kind: str  # a key of REPORTED
    start: float
    end: float


@dataclass(frozen=True)
class Pressed:
    """A surface feels this normal force."""

    start: float  # [s]
    end: float  # [s]
    force: float  # [N]
    rms: float  # [N] of the difference, at most
    mean_over: float = 0.0  # [s] the force is averaged over this time; 0: every cycle counts


@dataclass(frozen=True)
class Episode:
    """A case, and from when on what must hold. Times in s since the start; None: not promised here."""

    family: str
    number: int
    case: Case
    story: tuple[str, ...]  # what happens, one line each
    faults: tuple[Fault, ...] = ()
    load: float = 0.0  # [N] largest force of the hand
    ramp: float | None = None  # [s] shortest rise of that force when nothing else is touched; None: it may step
    rest: float | None = None  # the arm stands still
    dragged: bool = False  # ... or a spring still drags it along what is in its way, slower and slower
    steady: float | None = None  # the contact force does not oscillate
    sliding: tuple[float, float] | None = None  # the tool slides with a constant force
    clear: bool = False  # distances to boxes, table and the arm itself are measured once more
    residual: tuple[float, ...] = ()  # from each of these on the normal force is steady for STEADY_WINDOW
    still: bool = False  # nothing ever pushes: the flange does not move at all
    pressed: Pressed | None = None
    unraised: bool = False  # nobody is stiff: the damping is what the user chose
    unstopped: bool = False  # nothing that happens is a reason to stop

    @property
    def name(self) -> str:
        """As --repeat takes it."""
        return f"{self.family}:{self.number}"

    def parameter_sets(self) -> tuple[Parameters, ...]:
        return (self.case.parameters, *self.case.changes)

    def as_dict(self) -> dict[str, Any]:
        """The case in words and numbers: parameters only where they differ from the defaults."""
        case, defaults = self.case, Parameters().flat()
        sets = [
            {name: value for name, value in parameters.flat().items() if value != defaults[name]}
            for parameters in self.parameter_sets()
        ]
        return {
            "episode": self.name,
            "robot": case.robot,
            "q": None if case.q is None else list(case.q),
            **{part: asdict(getattr(case, part)) for part in ("tool", "environment", "servo", "sensor")},
            "parameters": sets,
            "story": list(self.story),
        }
