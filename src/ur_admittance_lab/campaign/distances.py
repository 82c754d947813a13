"""Distances of an arm to itself, to boxes and to the table by MuJoCo: an independent judge of those in the tick."""

from typing import Any

import mujoco
import numpy as np

from ur_admittance.core.limits.shapes_record import CAPSULES, FIRST_BOX, TABLE, TOOL
from ur_admittance.model import RobotModel
from ur_admittance.model.frames import Array, frame_with_z_along

FARTHEST = 0.1  # [m] pairs that are farther apart than this count as this far
FIRST_MOVER = 2  # base and shoulder stay where they are
SHORTEST = 1e-9  # [m] of a capsule's axis: a ball has none


class Judge:
    """Measures with the geometry of one PARAMS["shapes"], placed by the kinematics of the model."""

    def __init__(self, shapes: Any, model: RobotModel) -> None:
        self._shapes, self._model = shapes, model
        self._half = 0.5 * np.linalg.norm(shapes["end"] - shapes["start"], axis=1)
        sizes = np.full((TABLE - FIRST_BOX, 3), 0.001)
        sizes[shapes["box"][: shapes["boxes"]]] = shapes["box_half"][: shapes["boxes"]]
        self._mujoco = mujoco.MjModel.from_xml_string(self._xml(sizes))
        self._data = mujoco.MjData(self._mujoco)
        for k in range(int(shapes["boxes"])):
            body = FIRST_BOX + int(shapes["box"][k])
            self._data.geom_xpos[body] = shapes["box_position"][k]
            self._data.geom_xmat[body] = shapes["box_rotation"][k].ravel()
        self._data.geom_xpos[TABLE] = shapes["table_height"] * shapes["table_normal"]
        self._data.geom_xmat[TABLE] = frame_with_z_along(shapes["table_normal"]).ravel()
        # radius of a ball around each body
        self._size = np.concatenate([self._half + shapes["radius"], np.linalg.norm(sizes, axis=1), [np.inf]])
        self._pairs = self._all_pairs()

    def _xml(self, boxes: Array) -> str:
        """One geom for each body, in their order."""
        geoms = [
            f'<geom type="capsule" size="{max(r, 0.001)} {max(half, SHORTEST)}"/>'
            for r, half in zip(self._shapes["radius"].tolist(), self._half.tolist(), strict=True)
        ]
        geoms += [f'<geom type="box" size="{" ".join(map(str, size))}"/>' for size in boxes.tolist()]
        geoms.append('<geom type="plane" size="5 5 0.1"/>')
        return f'<mujoco><option ccd_tolerance="1e-9"/><worldbody>{"".join(geoms)}</worldbody></mujoco>'

    def _all_pairs(self) -> list[tuple[int, int]]:
        shapes = self._shapes
        pairs = [(int(one), int(two)) for one, two in shapes["pair"][: shapes["pairs"]]]
        movers = [body for body in range(FIRST_MOVER, CAPSULES) if shapes["radius"][body] >= 0.0]
        for k in range(int(shapes["boxes"])):
            box = FIRST_BOX + int(shapes["box"][k])
            pairs += [(body, box) for body in movers if not (body == TOOL and shapes["box_touchable"][k])]
        if shapes["table"]:
            last = TOOL if shapes["table_touchable"] else CAPSULES
            pairs += [(body, TABLE) for body in movers if FIRST_MOVER < body < last]
        return pairs

    def _ends(self, q: Array) -> Array:
        """Of all axes at the joint angles q (n, 6): (n, CAPSULES, 2, 3) [m]."""
        model, links = self._model, self._shapes["link"]
        points = np.stack([self._shapes["start"], self._shapes["end"]], axis=1)
        ends = np.broadcast_to(points, (len(q), *points.shape)).copy()
        for joint in range(5, -1, -1):
            behind = ends[:, links > joint]
            c, s = np.cos(q[:, joint, None, None]), np.sin(q[:, joint, None, None])
            x, y, z = np.moveaxis(behind, -1, 0)
            turned = np.stack([c * x - s * y, s * x + c * y, z], axis=-1)
            ends[:, links > joint] = turned @ model.chain_rotation[joint].T + model.chain_position[joint]
        return np.asarray(ends)

    def smallest(self, q: Array) -> Array:
        """Smallest distance of all pairs for each row of q (n, 6) [m], at most FARTHEST."""
        ends, data = self._ends(q), self._data
        centres, along = ends.mean(axis=2), ends[:, :, 1] - ends[:, :, 0]
        found = np.full(len(q), FARTHEST)
        if self._shapes["table"]:  # the upper arm's end at the shoulder stays where it is: only the other one counts
            height = ends[:, FIRST_MOVER, 1] @ self._shapes["table_normal"] - self._shapes["table_height"]
            found = np.minimum(found, height - self._shapes["radius"][FIRST_MOVER])
        for one, two in self._pairs:
            other = centres[:, two] if two < CAPSULES else np.broadcast_to(data.geom_xpos[two], (len(q), 3)).copy()
            apart = np.linalg.norm(centres[:, one] - other, axis=1) - self._size[one] - self._size[two]
            for k in np.flatnonzero(apart < FARTHEST):
                for body in (one, two):
                    if body < CAPSULES:
                        data.geom_xpos[body] = centres[k, body]
                        if self._half[body] > SHORTEST:
                            axis = along[k, body] / (2.0 * self._half[body])
                            data.geom_xmat[body] = frame_with_z_along(axis).ravel()
                distance = mujoco.mj_geomDistance(self._mujoco, data, one, two, FARTHEST, None)
                found[k] = min(found[k], distance)
        return found
