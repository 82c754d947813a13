"""Episodes with people as they are: hands that tremble, tap, push against each other; and tools that vibrate."""

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ur_admittance.analysis.compliance import GRIP_RATE, GRIP_RATIO
from ur_admittance.params import Parameters, preset
from ur_admittance.robots.simulated import Environment
from ur_admittance_lab.campaign.campaign_episode import REST_WINDOW, Episode, Pressed
from ur_admittance_lab.campaign.draft import Draft, rising
from ur_admittance_lab.campaign.draw import chance, direction, log_uniform, pick
from ur_admittance_lab.campaign.touching_families import FALLING, bent, contact, hand

Array = NDArray[np.float64]
Pair = tuple[float, float]

LAWS = ("defaults", "hand_guiding")
LIMP = (5.0, 5.0)  # stiffness [N/m] and damping [Ns/m] of an arm that only pushes ...
LOOSE, FIRM = (0.1, 0.05), (30.0, 1.0)  # ... and of a wrist when pushing and holding [Nm/rad], [Nms/rad]
FELT = 2.0  # [N] of trembling that must not stiffen the arm
HELD = {f"admittance.{axes}_axes": [False, False, True, False, False, False] for axes in ("enabled", "force")}
FAST = {"max_linear_velocity": 0.25}  # surface_following has 0.1 m/s: a path as fast as that would leave it nothing
PRESSING = ("surface_following", "polishing")
SHAKING = (*PRESSING, "defaults")
REVERSED = 0.2  # [s] in which a stroke over a surface starts and ends
STROKE = 0.1  # [m]
FOLLOWED = 0.167, 6.67  # [N], [N/(m/s)] RMS of the force: 0.3 N at 20 mm/s, 0.5 N at 50 mm/s, and on along that line
SHAKEN = 0.5  # [N] the same of the slow part of the force under a tool that vibrates
SLOWLY = 0.1  # [s] over which that is averaged, in whole periods of the vibration


def drawn(family: str, number: int, law: str = "defaults") -> Draft:
    """A working pose, 4 to 20 ms of servo and sensor together, at 500 Hz, with the defaults or a preset."""
    draft = Draft(family, number)
    draft.rate = 500.0
    draft.quieter()
    total = int(draft.rng.integers(4, 21))  # [ms]
    late = int(draft.rng.integers(0, min(8, total) + 1)) if chance(draft.rng, 0.3) else 0
    draft.sensor = replace(draft.sensor, delay=1e-3 * late)
    draft.servo = replace(draft.servo, delay=1e-3 * (total - late))
    bent(draft)
    draft.parameters = draft.with_devices(Parameters() if law == "defaults" else preset(law))
    return draft


def guided(family: str, number: int) -> Draft:
    """By hand, with one of the two laws that are meant for it."""
    return drawn(family, number, LAWS[number % 2])


def place_for(force: Array, stiffness: float, damping: float, period: float) -> Array:
    """Where an arm of that stiffness must want to be (n, 3) [m] so that its muscles exert this force (n, 3) [N]."""
    place, x = np.empty_like(force), np.zeros(3)
    for i, f in enumerate(force):
        x = (f + damping / period * x) / (stiffness + damping / period)
        place[i] = x
    return place


def through_the_grip(frequency: float, mass: float, stiffness: float, damping: float) -> float:
    """Force on a tool that is held fast over that of the muscles: the hand's mass on its grip amplifies a little."""
    if mass == 0.0:
        return 1.0
    s = 2j * math.pi * frequency
    grip = mass * GRIP_RATE**2 + 2.0 * GRIP_RATIO * mass * GRIP_RATE * s
    return abs(grip / (mass * s**2 + damping * s + stiffness + grip))


def grab(draft: Draft, places: Array, stiffness: float, damping: float, mass: float, turning: Pair = FIRM) -> None:
    """From now on a hand wants to be at these places (n, 3). turning: its stiffness and damping."""
    path = np.hstack([places, np.zeros_like(places)])
    grip = {"stiffness": (stiffness, turning[0]), "damping": (damping, turning[1]), "mass": mass}
    words = f"a hand of {mass:.2f} kg, {stiffness:.0f} N/m and {damping:.0f} Ns/m takes hold"
    draft.act(words, draft.time, lambda script, at: script.grab(at, path, **grip))  # type: ignore[arg-type]
    draft.time += len(path) * draft.period


def push(draft: Draft, force: Array) -> None:
    """From now on these forces (n, 3) act on the tool."""
    wrench = np.hstack([force, np.zeros_like(force)])
    words = f"forces of up to {np.linalg.norm(force, axis=1).max():.0f} N"
    draft.act(words, draft.time, lambda script, at: script.push(at, len(wrench) * script.period, wrench))
    draft.time += len(wrench) * draft.period


def tremble(draft: Draft, newtons: float) -> str:
    """10 s of a hand of 0 to 3 kg, still or guiding slowly, whose muscles' force oscillates so that the hand exerts
    just that force on a tool that is held fast."""
    rng, seconds = draft.rng, 10.0
    mass = float(rng.uniform(0.3, 3.0)) if chance(rng, 0.75) else 0.0
    stiffness, damping = float(log_uniform(rng, 300.0, 2000.0)), float(rng.uniform(20.0, 60.0))
    frequency, towards = float(rng.uniform(4.0, 12.0)), direction(rng)
    t = np.arange(1, round(seconds / draft.period) + 1) * draft.period
    muscles = newtons / through_the_grip(frequency, mass, stiffness, damping)
    shape = muscles * np.sin(2.0 * math.pi * frequency * t) * np.minimum(1.0, t / 0.5)
    places = place_for(shape[:, None] * towards, stiffness, damping, draft.period)
    if chance(rng, 0.5):  # there and back
        way = direction(rng) * float(rng.uniform(0.03, 0.1))
        places += rising(seconds, 0.4 * seconds, draft.period) * way
    draft.story.append(f"trembling with {newtons:.1f} N at {frequency:.1f} Hz")
    grab(draft, places, stiffness, damping, mass)
    return f"{mass:.2f} kg {stiffness:.0f} N/m {frequency:.1f} Hz"


def oppose(draft: Draft, heavy: bool) -> None:
    """2 to 6 pushes of 5 to 40 N that rise in 20 to 200 ms, mostly each against the one before."""
    rng, period = draft.rng, draft.period
    towards, parts = direction(rng), []
    for _ in range(int(rng.integers(2, 7))):
        rise = float(rng.uniform(0.02, 0.2))
        seconds = 2.0 * rise + float(rng.uniform(0.0, 0.3))
        parts.append(rising(seconds, rise, period) * towards * rng.uniform(5.0, 40.0))
        parts.append(np.zeros((round(rng.uniform(0.0, 0.2) / period) if chance(rng, 0.5) else 0, 3)))
        towards = -towards if chance(rng, 0.7) else direction(rng)
    force = np.vstack([*parts, np.zeros((round(1.5 / period), 3))])
    mass = float(rng.uniform(0.3, 2.0))
    if heavy:
        grab(draft, place_for(force, *LIMP, period), *LIMP, mass, LOOSE)
    else:
        push(draft, force)


def touch(draft: Draft, times: Pair, held: bool) -> None:
    """3 to 8 half waves of 10 to 40 N within 6 s. times: shortest and longest [s]. held: by another hand, through which
    they reach the tool (30 Hz wide when that has a mass)."""
    rng, period = draft.rng, draft.period
    force = np.zeros((round(6.0 / period), 3))
    for at in np.sort(rng.uniform(0.5, 5.0, int(rng.integers(3, 9)))):
        seconds = float(rng.uniform(*times))
        t = np.arange(len(force)) * period - at
        shape = np.where((t > 0.0) & (t < seconds), np.sin(np.pi * t / seconds), 0.0)
        force += shape[:, None] * direction(rng) * rng.uniform(10.0, 40.0)
    if not held:
        push(draft, force)
        return
    mass = float(rng.uniform(0.3, 3.0)) if chance(rng, 0.5) else 0.0
    stiffness, damping = float(log_uniform(rng, 300.0, 2000.0)), float(rng.uniform(20.0, 60.0))
    grab(draft, place_for(force, stiffness, damping, period), stiffness, damping, mass)


TAPS, SECOND_HAND = (0.005, 0.02), (0.1, 0.6)  # [s] shortest and longest


def stroke(draft: Draft, speed: float) -> tuple[float, str]:
    """10 N on a plane of 10 to 100 kN/m, level or as steep as the preset can follow, slid over to and fro; when that
    begins."""
    rng = draft.rng
    draft.choose({"admittance.desired_wrench": [0.0, 0.0, 10.0, 0.0, 0.0, 0.0]}, HELD, FAST)
    approach = draft.parameters.contact.approach_speed[0]
    angle = math.atan(FALLING * approach / speed) * float(rng.uniform(-1.0, 1.0)) * chance(rng, 0.5)
    stiffness, friction = float(log_uniform(rng, 1e4, 1e5)), float(rng.uniform(0.05, 0.4))
    draft.environment = Environment.incline(angle, stiffness, gap=0.005, friction=friction)
    draft.time += draft.environment.gap / approach + 2.0
    begin, heading = draft.time, float(rng.uniform(0.0, 2.0 * math.pi))
    along = np.array([math.cos(heading), math.sin(heading), 0.0, 0.0, 0.0, 0.0])
    for sign in (1.0, -1.0, 1.0, -1.0):
        draft.twist(STROKE / speed + REVERSED, sign * speed * along, ramp=REVERSED)
    return begin, f"{stiffness / 1e3:.0f} kN/m mu {friction:.2f} {math.degrees(angle):.1f} deg"


def shake(draft: Draft, newtons: float, frequency: float) -> float:
    """A tool that vibrates comes to a floor of 3 to 100 kN/m and presses with 20 N; when its force must be steady."""
    rng = draft.rng
    draft.choose({"admittance.desired_wrench": [0.0, 0.0, 20.0, 0.0, 0.0, 0.0]}, HELD)
    draft.environment = Environment.floor(float(log_uniform(rng, 3e3, 1e5)), gap=0.005)
    seconds = draft.environment.gap / draft.parameters.contact.approach_speed[0] + 6.0
    t = np.arange(1, round(seconds / draft.period) + 1) * draft.period
    # Straight lines from cycle to cycle take a share off, which is put back.
    size = newtons / float(np.sinc(frequency * draft.period)) ** 2
    wave = size * np.sin(2.0 * math.pi * frequency * t) * np.minimum(1.0, t / REVERSED)
    draft.story.append(f"the tool vibrates with {newtons:.1f} N at {frequency:.0f} Hz")
    push(draft, wave[:, None] * direction(rng))
    return draft.time - 4.0


# the families


def tremor(number: int) -> Episode:
    """A hand with a mass trembles with 0 to 4 N at 4 to 12 Hz, holds or guides: the arm stays as soft as it is."""
    draft = guided("tremor", number)
    newtons = float(draft.rng.uniform(0.0, 4.0))
    tremble(draft, newtons)
    return draft.finish(draft.time + 0.5, unraised=newtons <= FELT, unstopped=True)


def pushes(number: int) -> Episode:
    """Quick pushes against each other in free space, by hands with and without a mass: nobody is a wall."""
    draft = guided("pushes", number)
    oppose(draft, chance(draft.rng, 0.5))
    end = draft.settled()
    return draft.finish(end, unraised=True, unstopped=True, rest=end - REST_WINDOW)


def taps(number: int) -> Episode:
    """Taps of 10 to 40 N for 5 to 20 ms on a tool that is free or held, or pushes by a second hand: nothing stops."""
    draft = guided("taps", number)
    touch(draft, pick(draft.rng, (TAPS, TAPS, SECOND_HAND)), chance(draft.rng, 0.6))
    end = draft.settled()
    return draft.finish(end, unstopped=True, rest=end - REST_WINDOW)


def strokes(number: int) -> Episode:
    """Slid over a surface at 20 to 100 mm/s, to and fro: the normal force is the wanted one."""
    draft = drawn("strokes", number, PRESSING[number % 2])
    speed = float(log_uniform(draft.rng, 0.02, 0.1))
    begin, _ = stroke(draft, speed)
    pressed = Pressed(begin + 1.0, draft.time, 10.0, FOLLOWED[0] + FOLLOWED[1] * speed)
    return draft.finish(draft.time + 0.5, pressed=pressed, unstopped=True)


def vibration(number: int) -> Episode:
    """A tool that presses and vibrates with 5 to 20 N at 30 to 200 Hz: its slow force is the wanted one."""
    draft = drawn("vibration", number, SHAKING[number % 3])
    newtons, frequency = float(draft.rng.uniform(5.0, 20.0)), float(log_uniform(draft.rng, 30.0, 200.0))
    start = shake(draft, newtons, frequency)
    slowly = round(SLOWLY * frequency) / frequency
    pressed = Pressed(start, draft.time, 20.0, SHAKEN, slowly)
    return draft.finish(draft.time + 0.5, pressed=pressed, unstopped=True)


def late(number: int) -> Episode:
    """Force control or a hand on a surface, robot.response_time wrong by -50 to +100 %: nothing rings."""
    drawn = (contact, hand)[number % 2](number, "late")
    return with_response(drawn, 2.0 ** float(np.random.default_rng(number).uniform(-1.0, 1.0)))


def with_response(episode: Episode, factor: float) -> Episode:
    """The arm answers after another time than its parameter says, which is this times as long."""
    told = factor * episode.case.servo.response_time
    case = replace(episode.case, parameters=episode.case.parameters.changed({"robot.response_time": told}))
    story = (f"robot.response_time = {told:.4f} s, {factor:.2f} times the true one", *episode.story)
    return replace(episode, case=case, story=story, residual=())
