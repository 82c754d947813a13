"""ur-admittance ask: a request to a controller that runs in another terminal."""

import math
from typing import Annotated, Any

import typer

from ur_admittance.cli.values import assignments
from ur_admittance.errors import LifecycleError
from ur_admittance.runtime.registry import DEFAULT_NAME

PATIENCE_S = 10.0  # a loop that runs answers within a cycle; a reset may have to connect to the robot first


def ask(
    request: Annotated[
        str,
        typer.Argument(
            help="activate, deactivate, stop, reset_fault, unlock, retreat, latch_reference, resume_stages, "
            "zero_ft_sensor, zero_free_tool (you see that nothing touches the tool), or a new value of a parameter: "
            "admittance.mass=4."
        ),
    ],
    name: Annotated[str, typer.Option(help="Name of the controller; that of `demo` is demo.")] = DEFAULT_NAME,
) -> None:
    """Ask a running controller (`run`, `demo`, ROS 2) for something; its answer says what is in the way."""
    from ur_admittance.runtime.mailbox import send

    message = {"set": without_nan(assignments([request]))} if "=" in request else {"request": request}
    answer = send(message, name, timeout=PATIENCE_S)
    if not answer.accepted:
        raise LifecycleError(answer.text)
    typer.echo(answer.text)


def without_nan(value: Any) -> Any:
    """JSON has no NaN: unset is null there."""
    if isinstance(value, dict):
        return {name: without_nan(each) for name, each in value.items()}
    if isinstance(value, list):
        return [without_nan(each) for each in value]
    return None if isinstance(value, float) and math.isnan(value) else value
