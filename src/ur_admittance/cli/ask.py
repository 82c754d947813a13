"""ur-admittance ask: a request to a controller that runs in another terminal."""

import math
from typing import Annotated, Any

import typer

from ur_admittance.cli.values import assignments
from ur_admittance.errors import LifecycleError, ParameterError
from ur_admittance.runtime.registry import DEFAULT_NAME

PATIENCE_S = 10.0  # a loop that runs answers within a cycle; a reset may have to connect to the robot first


def ask(
    request: Annotated[
        str,
        typer.Argument(
            metavar="REQUEST",
            help="activate, activate_with_load (you know the force on the tool, the arm may yield to it), deactivate, "
            "stop, reset_fault, unlock, retreat, latch_reference, resume_stages, zero_ft_sensor, zero_free_tool (you "
            "see that nothing touches the tool), or a new value of a parameter: admittance.mass=4.",
        ),
    ],
    name: Annotated[str, typer.Option(help="Name of the controller; that of `demo` is demo.")] = DEFAULT_NAME,
) -> None:
    """Ask a running controller for something: that of `run`, `demo` or ROS 2. Its answer says what is in the way."""
    from ur_admittance.runtime.mailbox import send

    message = {"set": as_json(assignments([request]), request)} if "=" in request else {"request": request}
    answer = send(message, name, timeout=PATIENCE_S)
    if not answer.accepted:
        raise LifecycleError(answer.text)
    typer.echo(answer.text)


def as_json(value: Any, request: str) -> Any:
    """JSON has no NaN: unset is null there; nor infinity, which is refused."""
    if isinstance(value, dict):
        return {name: as_json(each, request) for name, each in value.items()}
    if isinstance(value, list):
        return [as_json(each, request) for each in value]
    if isinstance(value, float) and math.isinf(value):
        raise ParameterError(f"{request}: no parameter may be infinite.")
    return None if isinstance(value, float) and math.isnan(value) else value
