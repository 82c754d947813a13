"""ur-admittance library: where the compiled controller is, for programs in C and C++."""

import platform
import shlex
from typing import Annotated

import typer


def library(
    cflags: Annotated[bool, typer.Option("--cflags", help="Print what the compiler needs: -I ...")] = False,
    libs: Annotated[bool, typer.Option("--libs", help="Print what the linker needs: -L ... -l ...")] = False,
    cmake: Annotated[
        bool, typer.Option("--cmake", help="Print the folder for CMake: -Dur_admittance_DIR=... or CMAKE_PREFIX_PATH.")
    ] = False,
) -> None:
    """Show where the compiled controller and its C header are."""
    from ur_admittance.compiler.c_header import CMAKE, HEADER
    from ur_admittance.library import NAME, digest, place

    folder = place()
    path = shlex.quote(str(folder))
    flags = [f"-I{path}"] if cflags else []
    flags += [f"-L{path}", f"-Wl,-rpath,{path}", "-lur_admittance"] if libs else []
    flags += [path] if cmake else []
    if flags:
        typer.echo(" ".join(flags))
        return
    typer.echo(f"library   {folder / NAME}")
    typer.echo(f"header    {folder / HEADER}")
    typer.echo(f"CMake     {folder / CMAKE}")
    typer.echo(f"platform  {platform.system()} {platform.machine()}")
    typer.echo(f"digest    {digest()}, of the Python text that it was made from")
