"""ur-admittance compare: every contact case with this controller and with plain admittance."""

import json
from pathlib import Path
from typing import Annotated

import typer


def compare(
    out: Annotated[Path | None, typer.Option(help="Folder for the table (Markdown) and the figures.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Few seeds: a minute or two in place of ten.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print every figure as JSON.")] = False,
) -> None:
    """Contact, following, insertion, feel: this controller against plain admittance, as a table and figures."""
    from ur_admittance.bench.contact_report import as_dict, markdown, measure, write
    from ur_admittance.cli.bench import _progress

    with _progress() as say:
        result = measure(quick, say)
    typer.echo(json.dumps(as_dict(result), indent=2) if as_json else markdown(result))
    if out is not None:
        for path in write(result, out):
            typer.echo(f"written: {path}", err=True)
    if any(row.met is False for row in result["rows"]):
        raise typer.Exit(1)
