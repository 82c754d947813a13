"""A managed (life cycle) node that survives wrong requests and says why a transition failed."""

from collections.abc import Callable
from typing import Any

from lifecycle_msgs.srv import ChangeState
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn

from ur_admittance.errors import UrAdmittanceError

SUCCESS, FAILURE = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE


class ManagedNode(LifecycleNode):  # type: ignore[misc]
    """Subclasses write `configure`, `activate`, `deactivate`, `cleanup`; an UrAdmittanceError refuses the transition,
    and its sentence is logged and kept in `refusal`."""

    def __init__(self, name: str, **options: Any) -> None:
        super().__init__(name, **options)
        self.refusal = ""
        for service in self.services:
            if service.srv_type is ChangeState:
                service.callback = _answering(self, service.callback)

    @property
    def life(self) -> str:
        """unconfigured, inactive, active, finalized, or the name of a transition."""
        return str(self._state_machine.current_state[1])

    def configure(self) -> None: ...
    def activate(self) -> None: ...
    def deactivate(self) -> None: ...
    def cleanup(self) -> None: ...
    def asked(self) -> None:
        """Somebody outside asks for a transition, before it is tried."""

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        return self._try("configure", self.configure)

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        return self._try("activate", self.activate)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        return self._try("deactivate", self.deactivate)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        return self._try("cleanup", self.cleanup)

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        def close() -> None:
            self.deactivate()
            self.cleanup()

        return self._try("shutdown", close)

    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        return SUCCESS

    def _try(self, what: str, action: Callable[[], None]) -> TransitionCallbackReturn:
        try:
            action()
        except UrAdmittanceError as error:
            self.refusal = f"{what} refused: {error}"
            self.get_logger().error(self.refusal)
            return FAILURE
        except Exception as error:
            self.refusal = f"{what} failed ({type(error).__name__}): {error}"
            self.get_logger().error(self.refusal)
            return FAILURE
        self.refusal = ""
        self.get_logger().info(f"{what}: done")
        return SUCCESS


def _answering(node: ManagedNode, callback: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """rclpy raises for a transition that the present state does not have, out of spin: answer it instead."""

    def answer(request: Any, response: Any) -> Any:
        before = node.life
        node.asked()
        try:
            return callback(request, response)
        except Exception:
            wanted = request.transition.label or f"number {request.transition.id}"
            node.refusal = f"transition {wanted} refused: the node is {before}"
            node.get_logger().error(node.refusal)
            response.success = False
            return response

    return answer
