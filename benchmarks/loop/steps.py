"""What single steps of a cycle cost, done the way of this program and the way one would write them at first."""

import json
import pickle
import socket
import timeit
from collections.abc import Callable
from typing import Any

import numpy as np

from ur_admittance.control import AdmittanceController
from ur_admittance.core.records import COMMAND, PARAMS, SAMPLE, STATE, new
from ur_admittance.core.tick import tick
from ur_admittance.core.views import scalar, vector
from ur_admittance.model import robot_model
from ur_admittance.params import Parameters
from ur_admittance.params.record import fill
from ur_admittance.runtime.interfaces import LOOP
from ur_admittance.runtime.telemetry import TelemetryWriter


def cost(action: Callable[[], Any], repeats: int = 7) -> float:
    """Best time of one call [us]; the best, because every disturbance only adds."""
    timer = timeit.Timer(action)
    count, _ = timer.autorange()
    return 1e6 * min(timer.repeat(repeats, max(1, count // 5))) / max(1, count // 5)


def access() -> dict[str, float]:
    """Twelve numbers out of the interfaces of a six-jointed arm: by name, by remembered index, by a view."""
    joints = robot_model("ur5e").joint_names
    interfaces = [
        (f"{joint}/{kind}", float(i))
        for i, joint in enumerate(joints)
        for kind in ("position", "velocity", "effort", "temperature")
    ]
    wanted = [f"{joint}/{kind}" for joint in joints for kind in ("position", "velocity")]
    index = [next(i for i, (name, _) in enumerate(interfaces) if name == want) for want in wanted]
    record = new(SAMPLE)
    q, qd, out = vector(record, "q"), vector(record, "qd"), np.zeros(12)

    def by_name() -> None:
        for k, want in enumerate(wanted):
            for name, value in interfaces:
                if name == want:
                    out[k] = value
                    break

    def by_index() -> None:
        for k, i in enumerate(index):
            out[k] = interfaces[i][1]

    def by_view() -> None:
        out[:6] = q
        out[6:] = qd

    return {"by_name": cost(by_name), "by_index": cost(by_index), "by_view": cost(by_view)}


def allocation() -> dict[str, float]:
    """The law on six axes: fresh arrays in every cycle, arrays made before, and the whole compiled tick."""
    mass = np.diag(np.array([8.0, 8.0, 8.0, 0.8, 0.8, 0.8]))
    damping, wrench = np.diag(np.array([64.0] * 3 + [6.4] * 3)), np.ones(6)
    inverse, v = np.linalg.inv(mass), np.zeros(6)
    force, acceleration, diagonal, over_mass = np.zeros(6), np.zeros(6), np.diag(damping).copy(), 1.0 / np.diag(mass)

    def inverted_each_time() -> Any:
        return np.linalg.inv(mass) @ (wrench - damping @ v) * 0.002

    def fresh() -> Any:
        return inverse @ (wrench - damping @ v) * 0.002

    def in_place() -> None:
        np.multiply(diagonal, v, out=force)
        np.subtract(wrench, force, out=force)
        np.multiply(force, over_mass, out=acceleration)
        np.multiply(acceleration, 0.002, out=acceleration)

    params, state, sample, command = new(PARAMS), new(STATE), new(SAMPLE), new(COMMAND)
    fill(params[0], Parameters(), robot_model("ur5e"))
    sample["dt"], sample["q"] = 0.002, robot_model("ur5e").home
    sample["request"] = 1
    cycle = tick.on(params, state, sample, command)
    cycle()
    sample["request"] = 0
    return {
        "inverse_each_time": cost(inverted_each_time),
        "fresh": cost(fresh),
        "in_place": cost(in_place),
        "whole_tick": cost(cycle),
    }


def telling() -> dict[str, float]:
    """One cycle told to others: the ring in shared memory, and the same numbers as text."""
    controller, loop = AdmittanceController(robot_model("ur5e")), new(LOOP)
    scalar(loop, "sequence")[0] = 2
    fields = ("q", "qd", "twist", "wrench_tcp", "offset", "pose_error")
    with TelemetryWriter("measured_steps", model="ur5e", rate=500.0) as ring:
        ring.publish(controller, loop)
        return {
            "ring": cost(lambda: ring.publish(controller, loop)),
            "text": cost(lambda: json.dumps({field: controller.command[field].tolist() for field in fields})),
        }


def handing_over() -> dict[str, float]:
    """Six joint targets from one stage to the next: a shared array, or a message through the system (same process, so
    without the time to wake anybody up)."""
    theirs, ours = np.zeros(6), np.ones(6)
    sender, receiver = socket.socketpair()
    with sender, receiver:

        def message() -> None:
            sender.send(pickle.dumps({"stamp": 0, "positions": ours.tolist()}))
            theirs[:] = pickle.loads(receiver.recv(4096))["positions"]

        return {"shared": cost(lambda: theirs.__setitem__(slice(None), ours)), "message": cost(message)}


def all_steps() -> dict[str, dict[str, float]]:
    return {"access": access(), "allocation": allocation(), "telling": telling(), "handing_over": handing_over()}
