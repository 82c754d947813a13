"""What a fault costs: the arm moves at 0.2 m/s under the admittance controller through RTDE when something breaks.

For each fault: the sentence the user sees, and on the robot's side the time and the way until the arm stands.

    python benchmarks/rtde_faults.py                        all faults, as a table
    python benchmarks/rtde_faults.py protective             one of them
    python benchmarks/rtde_faults.py --client ur_rtde       through that library instead of the script of our own
    python benchmarks/rtde_faults.py cut --strict           on a controller that keeps the first rate of a watchdog
    python benchmarks/rtde_faults.py --campaign 5 --busy 4  recoveries: each of six events five times, beside four busy
                                                            processes, at the priorities of `run`
    python benchmarks/rtde_faults.py --starts 30 --busy 4   connect, drive for half a second, close
"""

import argparse
import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ur_admittance.control import AdmittanceController
from ur_admittance.core.records import Mode
from ur_admittance.errors import RobotError
from ur_admittance.model import robot_model
from ur_admittance.params import Parameters
from ur_admittance.robots.operate import LOOP_PRIORITY
from ur_admittance.robots.rtde.real_arm import COMMAND_PRIORITY
from ur_admittance.robots.rtde.rtde_robot import RtdeRobot
from ur_admittance.robots.rtde.settings import RtdeSettings
from ur_admittance.runtime.realtime import realtime
from ur_admittance_lab.emulator.emulator_process import EmulatorProcess

SPEED = 0.2  # [m/s] of the reference, sideways
MODEL = "ur5e"
TRIES = 3
# patience: a busy machine slows robot time down instead of losing cycles; times below are robot time
OPTIONS = ("--patience", "0.4")
# a wall in the way, and a robot that does not take much: the controller alone would yield to it
# strict real time, before everything else: what is late is our client
BUSY_OPTIONS = ("--priority", "70")
WALL = ("--environment", "wall", "--gap", "0.2", "--force-limit", "50")


@dataclass
class Outcome:
    sentence: str  # what the user reads
    duration: float | None = None  # [s] robot time from the event to standstill
    travel: float | None = None  # [m]
    speed: float | None = None  # [m/s] of the flange at the event
    moved_again: bool | None = None  # after recover(), reset and activation


class Session:
    """Emulator, robot and controller, driven cycle by cycle."""

    def __init__(self, emulator: EmulatorProcess, client: str, **settings: object) -> None:
        self.emulator, self.client = emulator, client
        chosen = RtdeSettings(client=client, rt_priority=COMMAND_PRIORITY, **settings)  # type: ignore[arg-type]
        self.robot = RtdeRobot(emulator.host, robot_model(MODEL), chosen)
        parameters = Parameters().changed({"tool.tcp": [0.0, 0.0, 0.15, 0.0, 0.0, 0.0]})
        self.controller = AdmittanceController(robot_model(MODEL), parameters)
        self.direction, self.axis = 1.0, 1  # along y
        self.tries = TRIES

    def connect(self) -> tuple[str, ...]:
        info = self.robot.connect()
        if not self.controller.configured:
            self.controller.configure()
        return info.sentences

    def cycles(self, count: int, moving: bool = True) -> None:
        """Read, update, write; ends early in a fault."""
        robot, controller = self.robot, self.controller
        for _ in range(count):
            robot.beat.wait()
            robot.read(controller.sample)
            if moving:
                twist = [0.0] * 6
                twist[self.axis] = self.direction * SPEED
                controller.set_reference_twist(twist)
            controller.update()
            robot.write(controller.command)

    def until_fault(self, limit: int = 1500) -> str:
        for _ in range(limit):
            self.cycles(1)
            if self.controller.mode == Mode.FAULT:
                return self.reason()
        return "no fault"

    def reason(self) -> str:
        words, detail = self.controller.reason, self.robot.reason
        return words if not detail or detail in words else f"{words} ({detail})"

    def get_moving(self) -> None:
        for _ in range(self.tries):
            self.cycles(3, moving=False)
            self.controller.activate()
            self.cycles(350)
            if self.controller.mode == Mode.ACTIVE:
                return
            reason = self.reason()
            print(f"not the fault that is looked for, once more: {reason}", file=sys.stderr)
            self.reset()
        raise SystemExit(f"the arm does not run: {reason}")

    def reset(self, unlock: bool = False) -> None:
        self.robot.recover(unlock=unlock)
        self.cycles(100, moving=False)
        if self.controller.mode == Mode.FAULT:
            self.controller.reset_fault()
            self.cycles(50, moving=False)

    def recovered(self, unlock: bool = False) -> bool:
        """Connect anew, reset, activate, move back: does the arm go?"""
        self.reset(unlock)
        for _ in range(self.tries):
            if self._moves_back():
                return True
            self.reset()
        return False

    def _moves_back(self) -> bool:
        if self.controller.mode != Mode.INACTIVE:
            return False
        self.direction = -self.direction
        before = self.controller.command["p_tcp"].copy()
        self.controller.activate()
        self.cycles(250)
        self.direction = -self.direction
        moved = abs(float(self.controller.command["p_tcp"][self.axis] - before[self.axis]))
        return self.controller.mode == Mode.ACTIVE and moved > 0.02

    def close(self) -> None:
        with contextlib.suppress(RobotError):
            self.robot.stop()
        self.robot.close()


def _incident(emulator: EmulatorProcess, outcome: Outcome) -> Outcome:
    """Wait until the emulator has seen the arm stand."""
    end = time.monotonic() + 10.0
    while time.monotonic() < end:
        incident = emulator.ask("incident")
        if incident and incident["duration"] is not None:
            outcome.duration, outcome.travel = incident["duration"], incident["travel"]
            outcome.speed = incident["speed"]
            break
        time.sleep(0.05)
    return outcome


def _stopped_by(command: str, release: str = "", unlock: bool = False) -> Callable[[Session], Outcome]:
    def fault(session: Session) -> Outcome:
        session.emulator.tell(command)
        outcome = _incident(session.emulator, Outcome(session.until_fault()))
        session.cycles(300)
        if release:
            session.emulator.tell(release)
        if unlock:
            session.emulator.tell("unlock delay 0.2")
        if "emergency" in command:
            _power_up(session.emulator)
        outcome.moved_again = session.recovered(unlock)
        return outcome

    return fault


def _power_up(emulator: EmulatorProcess) -> None:
    for order in ("power on", "brake release"):
        emulator.dashboard(order)


def _at_the_pendant(
    command: str, undo: Callable[[EmulatorProcess], object] = lambda emulator: None
) -> Callable[[Session], Outcome]:
    """Somebody presses a button there; ``undo``: before the reset, where that alone is not enough."""

    def fault(session: Session) -> Outcome:
        session.emulator.tell(f"mark {command}")
        session.emulator.dashboard(command)
        session.until_fault()
        session.cycles(100)  # until the robot has been asked why
        outcome = _incident(session.emulator, Outcome(session.reason()))
        undo(session.emulator)
        outcome.moved_again = session.recovered()
        return outcome

    return fault


def contact(session: Session) -> Outcome:
    """The tool is driven against a wall, and the robot stops itself."""
    session.close()
    with EmulatorProcess(*OPTIONS, *WALL) as emulator:
        pressed = Session(emulator, session.client)
        pressed.axis = 0
        try:
            pressed.connect()
            pressed.get_moving()
            outcome = _incident(emulator, Outcome(pressed.until_fault()))
            pressed.cycles(300)
            emulator.tell("unlock delay 0.2")
            outcome.moved_again = pressed.recovered(unlock=True)
        finally:
            pressed.close()
    return outcome


def frozen(seconds: float) -> Callable[[Session], Outcome]:
    """The whole robot, arm and network, stands still for a while."""

    def fault(session: Session) -> Outcome:
        session.emulator.tell("mark frozen")
        with session.emulator.frozen():
            sentence = session.until_fault()
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                session.cycles(1)
        outcome = Outcome(sentence)
        session.cycles(200)
        _incident(session.emulator, outcome)
        outcome.moved_again = session.recovered()
        return outcome

    return fault


def cut(seconds: float) -> Callable[[Session], Outcome]:
    """The cable: no bytes in either direction, the robot goes on by itself."""

    def fault(session: Session) -> Outcome:
        session.emulator.tell(f"cut {seconds}")
        outcome = Outcome(session.until_fault())
        end = time.monotonic() + seconds + 0.5
        while time.monotonic() < end:
            session.cycles(1)
        _incident(session.emulator, outcome)
        outcome.moved_again = session.recovered()
        return outcome

    return fault


def connections_closed(session: Session) -> Outcome:
    session.emulator.tell("drop")
    outcome = Outcome(session.until_fault())
    session.cycles(100)
    _incident(session.emulator, outcome)
    outcome.moved_again = session.recovered()
    return outcome


def robot_killed(session: Session) -> Outcome:
    session.emulator.kill()
    outcome = Outcome(session.until_fault())
    session.cycles(50)
    session.emulator.start()
    outcome.moved_again = session.recovered()
    return outcome


def program_paused(session: Session) -> Outcome:
    """The control computer stops sending for a while: the robot's watchdog must stop the arm."""
    session.emulator.tell("mark no more commands")
    time.sleep(1.5)  # longer than the emulator's patience
    outcome = Outcome(session.until_fault())
    _incident(session.emulator, outcome)
    outcome.moved_again = session.recovered()
    return outcome


def process_stopped(session: Session) -> Outcome:
    """SIGSTOP for a second: a debugger, a suspended terminal, a frozen virtual machine."""
    session.emulator.tell("mark stopped")
    subprocess.Popen(["sh", "-c", f"sleep 1; kill -CONT {os.getpid()}"])
    os.kill(os.getpid(), signal.SIGSTOP)
    outcome = Outcome(session.until_fault())
    _incident(session.emulator, outcome)
    outcome.moved_again = session.recovered()
    return outcome


def client_killed(session: Session) -> Outcome:
    """Another process drives the arm and is killed without any chance to stop it."""
    session.close()
    code = (
        "import runpy, sys, time; f = runpy.run_path(sys.argv[1]); "
        "e = f['EmulatorProcess'](host=sys.argv[2]); s = f['Session'](e, sys.argv[3]); s.connect(); s.get_moving(); "
        "print('moving', flush=True); s.cycles(100000)"
    )
    arguments = [sys.executable, "-c", code, __file__, session.emulator.host, session.client]
    client = subprocess.Popen(arguments, stdout=subprocess.PIPE)
    assert client.stdout is not None
    client.stdout.readline()
    time.sleep(0.2)
    session.emulator.tell("mark client killed")
    client.kill()
    client.wait()
    outcome = _incident(session.emulator, Outcome("(the process that would say something is dead)"))
    session.controller = Session(session.emulator, session.client).controller
    session.connect()
    outcome.moved_again = session.recovered()
    return outcome


def second_client(session: Session) -> Outcome:
    """A second program wants to command the arm; the first must not notice."""
    code = (
        "import sys; from ur_admittance.robots.rtde.rtde_robot import RtdeRobot\n"
        "from ur_admittance.model import robot_model\n"
        "from ur_admittance.robots.rtde.settings import RtdeSettings\n"
        "from ur_admittance.errors import RobotError\n"
        "try: RtdeRobot(sys.argv[1], robot_model('ur5e'), RtdeSettings(client=sys.argv[2])).connect()\n"
        "except RobotError as error: print(error)"
    )
    arguments = [sys.executable, "-c", code, session.emulator.host, session.client]
    client = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)
    while client.poll() is None:
        session.direction = 1.0 if float(session.controller.command["p_tcp"][1]) < 0.1 else -1.0
        session.cycles(5)
    assert client.stdout is not None
    return Outcome(client.stdout.read().strip(), moved_again=session.controller.mode == Mode.ACTIVE)


def slider(session: Session) -> Outcome:
    """At 30 % the same command moves the arm at 30 % of the speed, and the command does not run ahead of the arm."""
    session.cycles(50)
    session.emulator.dashboard("emulator slider 0.3")
    session.direction = -1.0
    session.cycles(500)
    command = session.controller.command
    y0, t0 = float(command["p_tcp"][1]), session.emulator.ask("state")["time"]
    session.cycles(250)
    y1, t1 = float(command["p_tcp"][1]), session.emulator.ask("state")["time"]
    speed = abs(y1 - y0) / (t1 - t0)
    error = 1e3 * float(abs(command["pose_error"][1]))
    sentence = f"{speed:.3f} m/s of {SPEED} m/s, commanded pose {error:.1f} mm ahead of the arm"
    return Outcome(sentence, speed=speed, moved_again=session.controller.mode == Mode.ACTIVE)


def wrong_payload(session: Session) -> Outcome:
    """The robot believes in 2 kg where 1 kg hangs."""
    session.close()
    session.emulator.tell("reset")
    wrong = Session(session.emulator, session.client, payload_kg=2.0, payload_cog=(0.0, 0.0, 0.05))
    sentences = wrong.connect()
    wrong.close()
    right = Session(session.emulator, session.client, payload_kg=1.0, payload_cog=(0.0, 0.0, 0.05))
    right_sentences = right.connect()
    right.close()
    return Outcome(sentences[-1], moved_again="kg too" not in " ".join(right_sentences))


FAULTS: dict[str, Callable[[Session], Outcome]] = {
    "protective stop": _stopped_by("protective stop", unlock=True),
    "contact": contact,
    "emergency stop": _stopped_by("emergency stop", "emergency release"),
    "safeguard stop": _stopped_by("safeguard stop", "safeguard release"),
    "network cut 1 s": cut(1.0),
    "network cut 5 s": cut(5.0),
    "robot frozen 1 s": frozen(1.0),
    "robot frozen 5 s": frozen(5.0),
    "connections closed": connections_closed,
    "robot switched off": robot_killed,
    "pause": _at_the_pendant("pause"),
    "stop button": _at_the_pendant("stop"),
    "power off": _at_the_pendant("power off", _power_up),
    "local control": _at_the_pendant("emulator local control", lambda emulator: emulator.tell("remote control")),
    "watchdog: no commands": program_paused,
    "process stopped 1 s": process_stopped,
    "client killed": client_killed,
    "second client": second_client,
    "speed slider 30 %": slider,
    "wrong payload": wrong_payload,
}


EVENTS = ("network cut 1 s", "client killed", "process stopped 1 s", "pause", "power off", "speed slider 30 %")


def run(name: str, client: str = "direct", strict: bool = False) -> Outcome:
    """strict: the controller keeps the first rate that a program sets for a watchdog."""
    with EmulatorProcess(*OPTIONS) as emulator:
        return play(emulator, name, client, strict)


def play(emulator: EmulatorProcess, name: str, client: str, strict: bool, tries: int = TRIES) -> Outcome:
    emulator.tell(f"first watchdog {'on' if strict else 'off'}")
    session = Session(emulator, client)
    session.tries = tries
    try:
        session.connect()
        session.get_moving()
        return FAULTS[name](session)
    finally:
        session.close()


@contextlib.contextmanager
def busy(count: int) -> Iterator[None]:
    """That many processes that never wait."""
    processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def campaign(emulator: EmulatorProcess, name: str, count: int, client: str, strict: bool) -> None:
    """One event so often, with one try for each recovery: sentence, largest distance [mm], recoveries."""
    outcomes, lost = [], []
    for _ in range(count):
        emulator.tell("reset")
        try:
            outcomes.append(play(emulator, name, client, strict, tries=1))
        except (RobotError, SystemExit) as error:
            lost.append(f"{error}; {' '.join(emulator.lines[-2:])}")
    ways = [1e3 * o.travel for o in outcomes if o.travel is not None]
    recovered = sum(bool(o.moved_again) for o in outcomes)
    words = " / ".join({re.sub(r"\d+", "", o.sentence): o.sentence for o in outcomes}.values())  # one of each kind
    largest = f"{max(ways):.1f}" if ways else "-"
    print(f"| {client} | {name} | {words} | {largest} | {recovered} of {count} |", flush=True)
    for sentence in lost:
        print(f"not even started: {sentence}", file=sys.stderr)


def starts(emulator: EmulatorProcess, count: int, client: str, strict: bool) -> None:
    """How often the program on the robot is lost in the first half second."""
    lost = []
    for _ in range(count):
        emulator.tell("reset")
        emulator.tell(f"first watchdog {'on' if strict else 'off'}")
        session = Session(emulator, client)
        try:
            session.connect()
            session.cycles(250, moving=False)
            if session.robot.in_trouble:
                lost.append(f"{session.reason()}; {emulator.lines[-1]}")
        except RobotError as error:
            lost.append(str(error))
        finally:
            session.close()
    print(f"{client}: {len(lost)} of {count} starts lost the program")
    for sentence in lost:
        print(f"  {sentence}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("fault", nargs="?", default="", help="part of its name; all of them when there is none")
    parser.add_argument("--client", choices=("ur_rtde", "direct"), default="direct")
    parser.add_argument("--strict", action="store_true", help="the controller keeps the first rate of a watchdog")
    parser.add_argument("--busy", type=int, default=0, help="processes that never wait, beside it")
    parser.add_argument("--campaign", type=int, default=0, help="recoveries from each of the events")
    parser.add_argument("--starts", type=int, default=0)
    options = parser.parse_args()
    if options.campaign or options.starts:
        with EmulatorProcess(*BUSY_OPTIONS) as emulator, busy(options.busy), realtime(LOOP_PRIORITY):
            if options.starts:
                starts(emulator, options.starts, options.client, options.strict)
            for name in EVENTS if options.campaign else ():
                if options.fault in name:
                    campaign(emulator, name, options.campaign, options.client, options.strict)
    else:
        table(options.fault, options.client, options.strict)


def table(part: str, client: str, strict: bool) -> None:
    print("| fault | the user reads | speed m/s | until standstill s | distance mm | moves again |")
    print("|---|---|---|---|---|---|")
    for name in FAULTS:
        if part in name:
            o = run(name, client, strict)
            numbers = [f"{x:.3f}" if x is not None else "-" for x in (o.speed, o.duration)]
            way = f"{1e3 * o.travel:.1f}" if o.travel is not None else "-"
            again = {True: "yes", False: "NO", None: "-"}[o.moved_again]
            print(f"| {name} | {o.sentence} | {numbers[0]} | {numbers[1]} | {way} | {again} |", flush=True)


if __name__ == "__main__":
    main()
