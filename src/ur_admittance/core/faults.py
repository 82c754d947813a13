"""What each status means, in plain words, and what to do about it."""

from collections.abc import Sequence

from ur_admittance.core.limits.shapes_record import BODIES
from ur_admittance.core.records import Status

INPUTS = ("joint state", "wrench", "reference")

SENTENCES = {
    Status.OK: "ok",
    Status.BAD_PERIOD: "the time since the last tick is {0:.4g} s (allowed: above 0, at most {1:.4g} s)",
    Status.NOT_FINITE: "the {input} is not a finite number",
    Status.STALE_JOINTS: "no joint state for {0ms:.0f} ms (limit {1ms:.0f} ms); is the robot connected?",
    Status.STALE_WRENCH: "no wrench for {0ms:.0f} ms (limit {1ms:.0f} ms); is the sensor streaming?",
    Status.OVER_FORCE: "force {0:.1f} N is above safety.max_force {1:.1f} N",
    Status.OVER_TORQUE: "torque {0:.2f} Nm about the TCP is above safety.max_torque {1:.2f} Nm",
    Status.POSITION_ERROR: "the tool is {0mm:.0f} mm from its commanded position "
    "(safety.max_position_error {1mm:.0f} mm); is the arm blocked?",
    Status.ORIENTATION_ERROR: "the tool is rotated {0:.2f} rad from its commanded orientation "
    "(safety.max_orientation_error {1:.2f} rad)",
    Status.IK_FAILED: "no joint velocities were found for this motion (smallest singular value {0:.2g})",
    Status.BAD_PARAMS: "the parameter record contains impossible numbers",
    Status.LOOP_OVERRUN: "the control loop was late; is the computer overloaded?",
    Status.PROTECTIVE_STOP: "the robot is in a protective stop; look for the cause, then unlock it",
    Status.EMERGENCY_STOP: "the emergency stop is pressed",
    Status.SAFEGUARD_STOP: "the safeguard stop is active",
    Status.CONNECTION_LOST: "the connection to the robot is lost",
    Status.INTERNAL_ERROR: "the program failed inside the loop; see the log",
    Status.COMMAND_REJECTED: "the robot takes no commands",
    Status.COLLISION: "{first} and {second} touch each other (collision: {1mm:.0f} mm)",
    Status.NOT_FOLLOWING: "the arm does not follow: a joint is {0:.3f} rad from its command, beyond what its "
    "speed explains (safety.max_following_error {1:.3g} rad); is it blocked, overloaded or at the end of its strength?",
    Status.STILL_MOVING: "the arm is still slowing down",
    Status.RETREATING: "the arm goes back: force or torque is at {0:.0%} of its safety limit (until {1:.0%})",
    Status.RETREATED: "the arm has gone back: force and torque are below {1:.0%} of their safety limits",
    Status.RETREAT_BLOCKED: "the retreat stopped because the load grew from {1:.0%} to {0:.0%} of its safety limit",
    Status.RETREAT_CLOSED: "the retreat stopped: on the way back {closed}",
    Status.UNEXPLAINED_FORCE: "at rest the tool reads {0:.1f} N that nothing explains (allowed: {1:.1f} N)",
    Status.UNEXPLAINED_TORQUE: "at rest the tool reads {0:.2f} Nm that nothing explains (allowed: {1:.2f} Nm)",
    Status.STEADY_FORCE: "the arm followed a force that is steadier than any hand (safety.steady_force_time); does "
    "anybody push it, or is the tool's weight or the zero wrong?",
    Status.NOT_ENABLED: "held: nobody holds the enabling signal (guiding.source)",
    Status.ENABLE_SILENT: "held: the enabling signal was not renewed within {0ms:.0f} ms (guiding.timeout)",
    Status.SENSORS_DISAGREE: "the two force sensors disagree (second.tolerance), and nothing says which one is wrong",
    Status.RETREAT_ENDED: "the retreat ended with force or torque at {0:.0%} of its safety limit (wanted: {1:.0%})",
}

UNAVOIDABLE = 4  # of the evidence: force that is reached before a command acts [N], 0: commands had time to act
HIT = (
    ": the tool hit something of about {1:.0f} kN/m at {0:.0f} mm/s, and before any command could act the force was "
    "bound to reach {2:.0f} N"
)

UNEXPLAINED = (
    "If nothing touches the tool, correct the payload or the tool's weight, or zero the sensor (zero_free_tool); if "
    "the force is known and the arm may yield to it, activate_with_load."
)
REMEDIES = {
    Status.BAD_PERIOD: "Check the computer's clock and load, then reset the fault.",
    Status.NOT_FINITE: "Check the device that sent it, then reset the fault.",
    Status.STALE_JOINTS: "Check the cable and the robot, then reset the fault.",
    Status.STALE_WRENCH: "Check the sensor's cable and rate, then reset the fault.",
    Status.OVER_FORCE: "Free the tool or ask for a retreat, check tool mass and sensor bias, then reset the fault.",
    Status.OVER_TORQUE: "Free the tool or ask for a retreat, check its centre of mass and TCP, then reset the fault.",
    Status.POSITION_ERROR: "Free the arm, then reset the fault; activation starts from the measured pose.",
    Status.ORIENTATION_ERROR: "Free the arm, then reset the fault; activation starts from the measured pose.",
    Status.IK_FAILED: "Move the arm away from this configuration, then reset the fault.",
    Status.BAD_PARAMS: "Reload the parameters, then reset the fault.",
    Status.LOOP_OVERRUN: "Close other programs or use a real-time kernel, then reset the fault.",
    Status.PROTECTIVE_STOP: "Find the cause, unlock the robot on the pendant, then reset the fault.",
    Status.EMERGENCY_STOP: "Release the button, start the robot, then reset the fault.",
    Status.SAFEGUARD_STOP: "Leave the safeguarded area, then reset the fault.",
    Status.CONNECTION_LOST: "Check the network and the robot, then reset the fault.",
    Status.INTERNAL_ERROR: "Restart the program, and report the fault with its log.",
    Status.COMMAND_REJECTED: "Clear what the robot reports, then reset the fault.",
    Status.COLLISION: "Move the arm apart by other means, or correct the boxes, the table or the tool under collision.",
    Status.NOT_FOLLOWING: "Free the arm, check its load and payload setting, then reset the fault.",
    Status.STILL_MOVING: "Wait until it stands still.",
    Status.RETREATING: "Wait; stop ends it.",
    Status.RETREATED: "Reset the fault.",
    Status.RETREAT_BLOCKED: "Look what the tool touches on its way back; ask again, or free it by hand.",
    Status.RETREAT_CLOSED: "Correct the workspace or the boxes, then ask again; or free the tool by hand.",
    Status.SENSORS_DISAGREE: "Check both sensors, zero them with the tool free, then reset the fault.",
    Status.UNEXPLAINED_FORCE: UNEXPLAINED,
    Status.UNEXPLAINED_TORQUE: UNEXPLAINED,
    Status.STEADY_FORCE: "Correct the payload or the tool's weight, or zero the sensor with the tool free; then reset "
    "the fault.",
    Status.NOT_ENABLED: "Hold the enabling signal; the arm then goes on by itself.",
    Status.ENABLE_SILENT: "Look whether its sender still runs, then hold it again; the arm goes on by itself.",
    Status.RETREAT_ENDED: "Ask again, or free the tool by hand, then reset the fault.",
}

# What the robot reported lasts until the reset, which looks again, and connects again where it has to.
ENDED_BY_RESET = (Status.CONNECTION_LOST, Status.COMMAND_REJECTED, Status.EMERGENCY_STOP, Status.SAFEGUARD_STOP)


def sentence(status: int, evidence: Sequence[float] = (0.0, 0.0)) -> str:
    """One sentence for a status and its numbers: the value, its bound, and what made a hit unavoidable."""
    value, bound = float(evidence[0]), float(evidence[1])
    words = {"0ms": 1e3 * value, "1ms": 1e3 * bound, "0mm": 1e3 * value, "1mm": 1e3 * bound}
    which = INPUTS[int(value)] if status == Status.NOT_FINITE else ""
    first, second, closed = "", "", ""
    if status in (Status.COLLISION, Status.RETREAT_CLOSED) and value >= 0.0:
        first, second = BODIES[int(value) % 16], BODIES[int(value) // 16]
        closed = f"{first} would be {words['1mm']:.0f} mm from {second}"
    elif status == Status.RETREAT_CLOSED:
        closed = f"the tool would be {-words['1mm']:.0f} mm outside the workspace"
    said = SENTENCES[Status(status)].format(
        value, bound, input=which, first=first, second=second, closed=closed, **words
    )
    if status == Status.OVER_FORCE and len(evidence) > UNAVOIDABLE and evidence[UNAVOIDABLE] > 0.0:
        said += HIT.format(1e3 * evidence[2], 1e-3 * evidence[3], max(value, evidence[UNAVOIDABLE]))
    return said


def remedy(status: int) -> str:
    """What to do about it; empty when nothing is wrong."""
    return REMEDIES.get(Status(status), "")
