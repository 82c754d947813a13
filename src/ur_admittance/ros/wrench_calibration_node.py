"""wrench_calibration_node: finds tool mass, centre of mass, bias, mounting and tilt, and writes the calibration file.

~/calibrate   the arm turns its wrist through well-chosen orientations by itself; the answer comes at once, progress
              and result are on ~/state
~/take_pose   read the sensor in the present pose, which somebody else has brought the arm to
~/finish      identify from the poses taken, write the file
~/stop        end a running calibration; the arm stands
"""

import sys
import threading
from dataclasses import replace
from pathlib import Path

from std_msgs.msg import String

from ur_admittance.calibration import Reading, identify, session
from ur_admittance.calibration.tool_calibration import save_calibration
from ur_admittance.errors import CalibrationError, LifecycleError, UrAdmittanceError
from ur_admittance.outputs import PARAMETERS, refusal
from ur_admittance.robots.ros.polled import LATCHED
from ur_admittance.ros.arm_node import RAW_TOPIC, ArmNode
from ur_admittance.ros.node_run import offer, run
from ur_admittance.ros.parameters import COMMANDING, Option

OPTIONS: dict[str, Option] = {
    "output_file": ("calibration.yaml", "file to write"),
    "overwrite": (False, "replace output_file if it exists"),
    "poses": (12, "how many orientations to visit"),
    **COMMANDING,
}


class WrenchCalibrationNode(ArmNode):
    """The work is done in the main thread, one job after the other; services only order it."""

    def __init__(self) -> None:
        super().__init__("wrench_calibration_node", OPTIONS)
        self._check_output()
        self._state = self.create_publisher(String, "~/state", LATCHED)
        self._job = threading.Event()
        self._ordered = ""
        self._readings: list[Reading] = []
        offer(self, calibrate=self._calibrate, take_pose=self._take_pose, finish=self._finish, stop=self._stop)
        self._say("idle: call ~/calibrate, or ~/take_pose in several orientations and then ~/finish")

    def _say(self, text: str) -> None:
        self.get_logger().info(text)
        self._state.publish(String(data=text))

    def work(self) -> int:
        ended = self.told_to_end
        while not ended.is_set():
            if not self._job.wait(0.2):
                continue
            self.told_to_end = stop = threading.Event()
            watch = threading.Thread(target=lambda s=stop: _forward(ended, s))
            watch.start()
            try:
                self._do(self._ordered)
            except UrAdmittanceError as error:
                self._say(f"failed: {error}")
            finally:
                stop.set()
                watch.join()
                self.told_to_end = ended
                self._job.clear()
        return 0

    def _do(self, job: str) -> None:
        if job == "calibrate":
            with self.calm_arm(RAW_TOPIC) as arm:
                count = int(self.option("poses"))
                result = session.calibrate(arm, self.parameters, count, say=self._say, robot=arm.model.name)
        elif job == "take_pose":
            with self.calm_arm(RAW_TOPIC, driving=False) as arm:
                self._readings.append(arm.read_at_rest())
            self._say(f"{len(self._readings)} poses taken")
            return
        else:
            result = session.dated(identify(self._readings, self.parameters))
            self._readings.clear()
        path = self.option("output_file")
        result = replace(result, source=self.resolve_topic_name(RAW_TOPIC))
        save_calibration(result, path)
        self.get_logger().info(f"\n{result}")
        self._say(f"done: mass {result.mass:.3f} kg, residual {result.residual_force:.3f} N; written to {path}")

    def _check_output(self) -> None:
        file, overwrite = Path(self.option("output_file")), bool(self.option("overwrite"))
        if words := refusal(file, PARAMETERS, overwrite, "start with -p overwrite:=true"):
            raise CalibrationError(f"output_file {words}.")

    def _order(self, job: str) -> str:
        if self._job.is_set():
            raise LifecycleError(f"{job} refused: {self._ordered} is still running.")
        self._check_output()  # before the arm moves
        self._ordered = job
        self._job.set()
        return f"{job} has begun; see ~/state"

    def _calibrate(self) -> str:
        return self._order("calibrate")

    def _take_pose(self) -> str:
        return self._order("take_pose")

    def _finish(self) -> str:
        if not self._readings:
            raise CalibrationError("finish refused: no poses taken yet.")
        return self._order("finish")

    def _stop(self) -> str:
        if not self._job.is_set():
            return "nothing is running"
        self.told_to_end.set()
        return "stopping"


def _forward(ended: threading.Event, stop: threading.Event) -> None:
    """The end of the process ends the job too."""
    while not stop.wait(0.1):
        if ended.is_set():
            stop.set()


def main() -> None:
    sys.exit(run(WrenchCalibrationNode))


if __name__ == "__main__":
    main()
