"""Every wrong wiring of force and torque channels is named; pushes are those of a hand, not exact."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from ur_admittance.calibration.wiring import SIGNED_PERMUTATIONS, Felt, Unclear, describe, find_wiring
from ur_admittance.params import Parameters

from .conftest import SWEEP

I3 = np.eye(3)
LEVER = np.array([0.0, 0.0, 0.15])


def felt(P_force, P_torque, lever=LEVER, seed=0, sloppy_deg=8.0, grip_mm=10.0, twists=(2,), R=I3):
    """What a sensor wired so feels of three pushes along the axes of R and of twists, in configured sensor axes."""
    rng = np.random.default_rng(seed)
    found = []
    for i, (axis, is_twist) in enumerate([(0, False), (1, False), (2, False)] + [(k, True) for k in twists]):
        direction = I3[axis] if is_twist else R.T @ I3[axis]
        hand = Rotation.from_rotvec(np.radians(sloppy_deg) * rng.uniform(-1, 1, 3) / np.sqrt(3))
        force = np.zeros(3) if is_twist else hand.apply(direction) * rng.uniform(8, 30)
        if is_twist:
            force = rng.uniform(-2, 2, 3)
        where = lever + 1e-3 * grip_mm * rng.uniform(-1, 1, 3)
        torque = np.cross(where, force) + (hand.apply(direction) * rng.uniform(1, 3) if is_twist else 0.0)
        wrench = np.concatenate([P_force @ force, P_torque @ torque]) + rng.normal(size=6) * np.repeat([0.02, 0.001], 3)
        found.append(Felt(f"action {i}", direction, is_twist, wrench))
    return found


def findings(P_force, P_torque, parameters=None, **options):
    p = parameters or Parameters().changed({"tool.tcp": [*LEVER, 0, 0, 0]})
    return describe(find_wiring(felt(P_force, P_torque, **options), np.array(p.tool.tcp[:3])), p)


def swap(i, k):
    P = I3.copy()
    P[[i, k]] = P[[k, i]]
    return P


def flip(*axes):
    return np.diag([-1.0 if i in axes else 1.0 for i in range(3)])


def test_right_wiring_has_no_findings():
    for seed in range(SWEEP or 30):
        assert findings(I3, I3, seed=seed).findings == ()


@pytest.mark.parametrize("part", ["both", "force", "torque"])
@pytest.mark.parametrize(("i", "k"), [(0, 1), (1, 2), (0, 2)])
def test_every_axis_swap_is_named(part, i, k):
    P = swap(i, k)
    names = f"{'xyz'[i]} and {'xyz'[k]} are swapped"
    sentence = {"both": f"{names} (force and torque)", "force": f"force {names}", "torque": f"torque {names}"}[part]
    assert findings(I3 if part == "torque" else P, I3 if part == "force" else P).findings == (sentence,)


@pytest.mark.parametrize("axes", [(0,), (1,), (2,), (0, 1), (1, 2), (0, 2), (0, 1, 2)])
@pytest.mark.parametrize("part", ["force", "torque"])
def test_every_sign_flip_of_force_or_torque_alone_is_named(part, axes):
    P = flip(*axes)
    names = ["xyz"[i] for i in axes]
    listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    verb = "has" if len(axes) == 1 else "have"
    found = findings(P if part == "force" else I3, P if part == "torque" else I3)
    assert found.findings == (f"{part} {listed} {verb} the wrong sign",)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_single_flip_of_force_and_torque_is_named(axis):
    assert findings(flip(axis), flip(axis)).findings == (f"{'xyz'[axis]} has the wrong sign (force and torque)",)


def test_reaction_sensor_is_named_with_the_parameter():
    found = findings(-I3, -I3)
    assert found.findings == ("sensor reports the reaction: set sensor.sign to -1",)
    assert found.changes == {"sensor.sign": -1.0}


@pytest.mark.parametrize("angle", [90, -90, 180])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_every_right_angle_mounting_is_named_and_fixed(axis, angle):
    R_configured_true = Rotation.from_rotvec(np.radians(angle) * I3[axis]).as_matrix()
    P = R_configured_true.T.round()
    found = findings(P, P)
    sign = "-" if angle == -90 else ""
    assert found.findings[0].startswith(f"mounting is rotated by {abs(angle)} degrees about {sign}{'xyz'[axis]}")
    fixed = Rotation.from_euler("xyz", found.changes["sensor.rotation"]).as_matrix()
    assert np.allclose(fixed, R_configured_true, atol=1e-6)


@pytest.mark.parametrize("P", [P for P in SIGNED_PERMUTATIONS if np.linalg.det(P) > 0])
def test_all_24_mountings_and_their_reactions_are_fixed_by_the_proposed_parameters(P):
    for sign in (1.0, -1.0):
        changes = findings(sign * P, sign * P).changes
        if not changes and not np.array_equal(sign * P, I3):
            continue  # a single swap or flip is named as such: no mounting makes it
        rotation = Rotation.from_euler("xyz", changes.get("sensor.rotation", [0, 0, 0])).as_matrix()
        assert np.allclose(changes.get("sensor.sign", 1.0) * rotation.T, sign * P, atol=1e-6)


def test_all_48_by_48_wirings_of_force_and_torque_are_found():
    pairs = [(P, Q) for P in SIGNED_PERMUTATIONS for Q in SIGNED_PERMUTATIONS]
    for seed, (P_force, P_torque) in list(enumerate(pairs))[:: 1 if SWEEP else 17]:  # 17 meets every row and column
        wiring = find_wiring(felt(P_force, P_torque, seed=seed), LEVER)
        assert np.array_equal(wiring.force, P_force)
        assert np.array_equal(wiring.torque, P_torque)
        assert wiring.lever_is_right


@pytest.mark.parametrize("lever", [[0, 0, 0.15], [0.05, 0, 0.2], [0, -0.1, 0.12]])
def test_missing_lever_arm_is_named_with_the_place_of_the_pushes(lever):
    found = findings(I3, I3, Parameters(), lever=np.array(lever), twists=(2, 0, 1))
    assert len(found.findings) == 1
    assert found.findings[0].startswith("lever arm is missing")
    assert np.allclose(found.changes["tool.tcp"][:3], lever, atol=0.025)


def test_wrong_lever_arm_is_named():
    found = findings(I3, I3, Parameters().changed({"tool.tcp": [0, 0, 0.3, 0, 0, 0]}))
    assert found.findings[0].startswith("lever arm is wrong")


def test_missing_lever_arm_together_with_a_turned_mounting_gives_both_findings():
    P = Rotation.from_rotvec([0, 0, -np.pi / 2]).as_matrix().round()
    found = findings(P, P, Parameters(), twists=(2, 0, 1))
    assert found.findings[0].startswith("mounting is rotated by 90 degrees about z")
    assert found.findings[1].startswith("lever arm is missing")


@pytest.mark.parametrize("seed", range(6))
def test_mounting_rotated_by_an_odd_angle_is_named_by_its_angle(seed):
    turn = Rotation.from_rotvec(np.radians(40.0) * I3[seed % 3])
    found = findings(turn.as_matrix().T, turn.as_matrix().T, seed=seed, sloppy_deg=3.0)
    assert found.findings[0].startswith("mounting is rotated by")
    angle = float(found.findings[0].split()[4])
    assert angle == pytest.approx(40.0, abs=5.0)


def test_pushes_in_one_direction_twice_are_refused_not_guessed():
    pushes = felt(I3, I3)
    pushes[1].wrench[:] = pushes[0].wrench
    with pytest.raises(Unclear):
        find_wiring(pushes, LEVER)


def test_wiring_is_found_in_any_posture_of_the_wrist():
    for seed in range(20):
        R = Rotation.random(random_state=seed).as_matrix()
        P = SIGNED_PERMUTATIONS[(7 * seed) % 48]
        wiring = find_wiring(felt(P, P, R=R, seed=seed, sloppy_deg=5.0), LEVER)
        assert np.array_equal(wiring.force, P)
        assert np.array_equal(wiring.torque, P)
