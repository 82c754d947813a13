"""The steps in which nothing moves: computer and network, type of arm, geometry, payload, sensor."""

from typing import Any

import numpy as np

from ur_admittance.errors import CalibrationError
from ur_admittance.model.frames import rotation_from_vector, rpy_from_rotation
from ur_admittance.robots.rtde import tool as rtde_tool
from ur_admittance.robots.rtde.arm_geometry import ALLOWED, geometry
from ur_admittance.robots.rtde.bringup.conversation import Bench, Found, Step
from ur_admittance.robots.rtde.doctor import MARKS, examine
from ur_admittance.robots.rtde.listen import Listener
from ur_admittance.robots.rtde.rtde_checks import check_ready

LISTEN = 2.0  # [s]
NAME = "bringup"  # of the controller
TIMEOUT = 3.0  # [s] of a connection


def _check(bench: Bench) -> Found:
    findings = examine(bench.host, bench.model.name, LISTEN, NAME, client=bench.client)
    lines = []
    for finding in findings:
        lines.append(f"{MARKS[finding.level]} {finding.text}")
        lines += [f"     -> {finding.remedy}"] if finding.remedy else []
    return Found(all(finding.level != "bad" for finding in findings), tuple(lines))


def _model(bench: Bench) -> Found:
    ready = check_ready(bench.host, bench.model, TIMEOUT, power_on=False, take_over=False)
    about = bench.report.about
    kind = "an emulated arm" if ready.emulated else "a real arm"
    lines = (
        f"{kind}: {bench.model.name}, serial number {about['serial number']}, software {about['software']}, "
        f"{ready.rate:g} Hz",
        "reach and payload are not known of an arm from a file"
        if bench.model.payload_kg is None
        else f"reach {bench.model.reach_m} m, payload {bench.model.payload_kg:g} kg",
    )
    return Found(True, lines, {"control_rate": ready.rate})


def _kinematics(bench: Bench) -> Found:
    arm = geometry(bench.host, bench.model)
    return Found(arm.left is None or not arm.left.exceeds(ALLOWED), (arm.sentence,))


def _payload(bench: Bench) -> Found:
    state, force = _look(bench)
    lines = []
    if "payload" in state:
        center = _three(1e3 * np.array(state["payload_cog"]))
        lines.append(f"the robot carries {state['payload']:.3g} kg with its centre at {center} mm (flange frame)")
    doubts = rtde_tool.doubts(force)
    lines += doubts or [f"{np.linalg.norm(force):.1f} N are left at rest"]
    tcp = _asked_tcp(bench, state.get("tcp_offset", [0.0] * 6))
    lines.append(f"the TCP is at {_three(1e3 * tcp[:3])} mm, turned by {_three(np.degrees(tcp[3:]))} degrees")
    return Found(not doubts, tuple(lines), {"tool.tcp": tcp.tolist()})


def _look(bench: Bench) -> tuple[dict[str, Any], Any]:
    """What the robot says of its tool, and its mean force at rest (3,) [N]."""
    with Listener(bench.host, TIMEOUT) as robot:
        robot.choose(("actual_TCP_force", "payload", "payload_cog", "tcp_offset"))
        states = [state for _, state in robot.states(0.5)]
    return states[-1], np.mean([state["actual_TCP_force"][:3] for state in states], axis=0)


def _asked_tcp(bench: Bench, offset: list[float]) -> Any:
    """x y z [m], roll pitch yaw [rad]: as the robot has it, or as the person says."""
    rpy = rpy_from_rotation(rotation_from_vector(offset[3:]))
    known = " ".join(f"{x + 0.0:.6g}" for x in (*(1e3 * np.array(offset[:3])), *np.degrees(rpy)))
    answer = bench.ask(
        f"TCP in the flange frame: x y z [mm] roll pitch yaw [degrees]; Enter: as the robot says, {known}"
    )
    if not answer:
        return np.array([*offset[:3], *rpy])
    try:
        numbers = np.array([float(word) for word in answer.replace(",", " ").split()])
    except ValueError:
        numbers = np.empty(0)
    if len(numbers) not in (3, 6) or not np.isfinite(numbers).all():
        raise CalibrationError(f"TCP {answer!r}: must be three or six numbers, for example 0 0 150.")
    if not 1.0 <= max(np.abs(numbers[:3])) <= 2000.0 and numbers[:3].any():
        raise CalibrationError(f"TCP {answer!r}: its position must be 0, or 1 to 2000 mm from the flange.")
    position, angles = 1e-3 * numbers[:3], np.radians(numbers[3:]) if len(numbers) == 6 else np.zeros(3)
    return np.array([*position, *angles])


def _sensor(bench: Bench) -> Found:
    with bench.arm(commanding=False) as (arm, robot):
        before = arm.read_at_rest()
        force, torque = _three(before.wrench[:3]), _three(before.wrench[3:], 3)
        noise = f"{before.spread[:3].max():.2f} N, {before.spread[3:].max():.3f} Nm"
        lines = [f"source {bench.sensor}: {force} N and {torque} Nm at rest, noise {noise}"]
        if bench.sensor != "builtin":
            lines.append("its bias and the tool's weight are found by the calibration")
            return Found(True, tuple(lines), {"sensor.source": bench.sensor})
        robot.zero_ft_sensor()
        after = arm.read_at_rest().wrench
    left = float(np.linalg.norm(after[:3]))
    lines.append(f"after zeroing {left:.2f} N and {np.linalg.norm(after[3:]):.3f} Nm are left")
    return Found(left < rtde_tool.DOUBTFUL_FORCE, tuple(lines))


def _three(values: Any, digits: int = 1) -> str:
    return "[" + " ".join(f"{x + 0.0:.{digits}f}" for x in values) + "]"


STANDING = (
    Step(
        "check",
        "Computer, network and robot",
        "Looks at this computer, the network and the state of the robot, for two seconds. Nothing moves.\n"
        "A line marked BAD keeps the arm from being driven: fix it and repeat. A note costs some quality only.",
        _check,
        "Has everything been fixed that should be?",
    ),
    Step(
        "model",
        "The type of the arm",
        "Masses, limits and geometry come from the type of the arm, so it must be the right one. The serial number is\n"
        "on the label at the base: compare it, so that this report is that of the arm in front of you.",
        _model,
        "Is this the arm in front of you?",
    ),
    Step(
        "kinematics",
        "Its own geometry",
        "Each arm is measured in the factory; its own geometry is read from the robot and used. Our tool pose is then\n"
        "compared with the one that the robot shows: more than 2 mm or 0.5 degrees mean that something is wrong.",
        _kinematics,
        "Do you accept it?",
    ),
    Step(
        "payload",
        "What it carries",
        "The robot removes the weight of its payload from the wrench: 1 kg too much or too little acts like a steady\n"
        "push of 10 N. The TCP is the point that you will push. Correct both on the pendant (Installation > General)\n"
        "and repeat. Nothing may touch the tool.",
        _payload,
        "Are mass, centre and TCP those of the tool?",
    ),
    Step(
        "sensor",
        "The force sensor, and its zero",
        "Reads the sensor for a second at rest; the robot's own sensor is then zeroed, as with its own button. A zero\n"
        "does not replace a right payload: it holds for this orientation. Nothing may touch the tool, nothing moves.",
        _sensor,
        "Was nothing touching the tool?",
    ),
)
