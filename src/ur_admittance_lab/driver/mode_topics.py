"""What the driver says about the robot and lets people do to it: status topics, dashboard, controller manager.

| name | source |
|---|---|
| /io_and_status_controller/robot_program_running, robot_mode, safety_mode | gpio_controller.cpp: latched, published on change only |
| /io_and_status_controller/io_states | gpio_controller.cpp, publishIO(): 18 digital inputs, pin by pin, in every cycle |
| /io_and_status_controller/set_io | gpio_controller.cpp, setIO(): digital outputs 0..17; seen in io_states |
| /io_and_status_controller/zero_ftsensor, resend_robot_program | gpio_controller.cpp; std_srvs/Trigger |
| /dashboard_client/play, stop, unlock_protective_stop | dashboard_client_ros.cpp; std_srvs/Trigger |
| /controller_manager/list_controllers, switch_controller | controller_manager.cpp; controller_manager_msgs |
"""  # noqa: E501

from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from std_msgs.msg import Bool
from std_srvs.srv import Trigger

from ur_admittance.errors import RobotError
from ur_admittance.robots.ros.polled import LATCHED
from ur_admittance.ros.node_run import answering
from ur_admittance_lab.driver.beside import beside
from ur_admittance_lab.driver.driver import Driver

INPUTS = 18  # of a UR


class Status:
    """Topics and services; what they change is changed under the lock of the cycle."""

    def __init__(self, driver: Driver, lock: Any, rate: float, log: Any) -> None:
        self._driver, self._lock = driver, lock
        io, dashboard = beside("io_and_status_controller"), beside("dashboard_client")
        self._manager = beside("controller_manager", {"update_rate": round(rate)})
        self.nodes: list[Node] = [io, dashboard, self._manager]
        self._program = io.create_publisher(Bool, "~/robot_program_running", LATCHED)
        self._modes: list[tuple[Any, Any, str]] = []
        try:
            from ur_dashboard_msgs.msg import RobotMode, SafetyMode
        except ImportError:
            log.info("ur_dashboard_msgs is not installed: no robot_mode and safety_mode")
        else:
            self._modes = [
                (io.create_publisher(RobotMode, "~/robot_mode", LATCHED), RobotMode, "mode"),
                (io.create_publisher(SafetyMode, "~/safety_mode", LATCHED), SafetyMode, "safety"),
            ]
        self._inputs: Any = None  # publisher of the digital inputs
        try:
            from ur_msgs.msg import IOStates
            from ur_msgs.srv import SetIO
        except ImportError:
            log.info("ur_msgs is not installed: no io_states and set_io")
        else:
            self._inputs = io.create_publisher(IOStates, "~/io_states", 1)
            io.create_service(SetIO, "~/set_io", self._set_io)
        self._in_bits = self._out_bits = 0
        self.set_inputs(0)
        self._said: dict[str, Any] = {}
        self._offer(io, zero_ftsensor=self._zero, resend_robot_program=self.play)
        self._offer(dashboard, play=self.play, stop=self.stop, unlock_protective_stop=self.unlock)
        self._offer_switching(log)
        self.publish()

    def _offer(self, node: Node, **actions: Callable[[], str]) -> None:
        for name, action in actions.items():
            node.create_service(Trigger, f"~/{name}", answering(node, action))

    def set_inputs(self, bits: int) -> None:
        """The digital inputs from now on; made into a message once, which is sent in every cycle."""
        self._in_bits = bits
        if self._inputs is None:
            return
        from rclpy.serialization import serialize_message
        from ur_msgs.msg import Digital, IOStates

        into, out = (
            [Digital(pin=pin, state=bool(bits >> pin & 1)) for pin in range(INPUTS)]
            for bits in (self._in_bits, self._out_bits)
        )
        self._input_states = serialize_message(IOStates(digital_in_states=into, digital_out_states=out))

    def _set_io(self, request: Any, response: Any) -> Any:
        """Digital outputs only, as UR's driver numbers them."""
        response.success = request.fun == request.FUN_SET_DIGITAL_OUT and 0 <= request.pin < INPUTS
        if response.success:
            bit = 1 << request.pin
            self._out_bits = self._out_bits & ~bit | (bit if request.state else 0)
            self.set_inputs(self._in_bits)
        return response

    def publish(self) -> None:
        """What has changed, and the inputs."""
        robot = self._driver.robot
        if self._inputs is not None:
            self._inputs.publish(self._input_states)
        if self._said.get("program") != robot.program_running:
            self._said["program"] = robot.program_running
            self._program.publish(Bool(data=robot.program_running))
        for publisher, kind, what in self._modes:
            value = int(getattr(robot, what))
            if self._said.get(what) != value:
                self._said[what] = value
                publisher.publish(kind(mode=value))

    # what people do

    def _zero(self) -> str:
        with self._lock:
            self._driver.world.zero_sensor()
        return "the sensor is zeroed"

    def play(self) -> str:
        with self._lock:
            self._driver.robot.play()
        return "the program runs"

    def stop(self) -> str:
        with self._lock:
            self._driver.robot.stop_program()
        return "the program is stopped"

    def pause(self) -> str:
        with self._lock:
            self._driver.robot.pause()
        return "the program is paused"

    def unlock(self) -> str:
        with self._lock:
            self._driver.robot.unlock(self._driver.time)
        return "the protective stop is unlocked; the program has to be started"

    def protective_stop(self) -> str:
        with self._lock:
            self._driver.robot.protective_stop("somebody asked for it", self._driver.time)
        return "protective stop"

    def emergency_stop(self) -> str:
        with self._lock:
            self._driver.robot.emergency_stop()
        return "emergency stop"

    def safeguard_stop(self) -> str:
        with self._lock:
            self._driver.robot.safeguard_stop()
        return "safeguard stop"

    def make_safe(self) -> str:
        with self._lock:
            self._driver.robot.make_safe()
        return "the stop is over"

    # the controller manager

    def _offer_switching(self, log: Any) -> None:
        try:
            from controller_manager_msgs.msg import ControllerState
            from controller_manager_msgs.srv import ListControllers, SwitchController
        except ImportError:
            log.info("controller_manager_msgs is not installed: controllers cannot be listed and switched")
            return

        def list_controllers(request: Any, response: Any) -> Any:
            with self._lock:
                listed = self._driver.controllers.listed()
            for one in listed:
                response.controller.append(
                    ControllerState(
                        name=one.name,
                        state=one.state,
                        type=one.type,
                        claimed_interfaces=list(one.claimed),
                        required_command_interfaces=list(one.required),
                    )
                )
            return response

        def switch_controller(request: Any, response: Any) -> Any:
            with self._lock:
                ok, why = self._driver.controllers.switch(
                    request.activate_controllers,
                    request.deactivate_controllers,
                    request.strictness,
                    self._driver.world.q,
                )
            response.ok = ok
            if hasattr(response, "message"):  # not on Humble
                response.message = why
            if why:
                self._manager.get_logger().error(why)
            return response

        self._manager.create_service(ListControllers, "~/list_controllers", list_controllers)
        self._manager.create_service(SwitchController, "~/switch_controller", switch_controller)

    def switch(self, activate: list[str]) -> str:
        """These motion controllers and no others: for people without controller_manager_msgs."""
        controllers = self._driver.controllers
        with self._lock:
            active = [controllers.active] if controllers.active else []
            ok, why = controllers.switch(
                activate, [name for name in active if name not in activate], 2, self._driver.world.q
            )
        if not ok:
            raise RobotError(f"{why}.")
        return f"active: {', '.join(activate) or 'none'}"
