"""XML text -> element tree, for text that comes from anywhere.

Not ``ElementTree.fromstring``: published URDF files use prefixes such as ``drake:acceleration`` without declaring
them, which a namespace-aware parser refuses, and a document type may define entities that grow without bound. So
expat runs here without namespaces, and a document type ends the reading at its first character.
"""

import xml.etree.ElementTree as ET
from typing import NoReturn
from xml.parsers import expat

from ur_admittance.errors import ModelError

LONGEST_QUOTE = 60  # characters of a file's text that a message repeats


def parse(text: str) -> ET.Element:
    """The root element of an XML text without document type and without unexpanded xacro."""
    if not text.strip():
        raise ModelError("URDF: the text is empty, must be an XML document with a <robot> element.")
    builder = ET.TreeBuilder()

    def start(tag: str, attributes: dict[str, str]) -> None:
        _refuse_xacro(tag, attributes)
        builder.start(tag, attributes)

    def end(tag: str) -> None:
        builder.end(tag)

    parser = expat.ParserCreate()
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.StartDoctypeDeclHandler = _refuse_doctype
    try:
        parser.Parse(text.strip(), True)
    except expat.ExpatError as error:
        reason = expat.errors.messages.get(error.code, str(error))
        raise ModelError(f"URDF: not well-formed XML in line {error.lineno}: {reason}.") from error
    except UnicodeEncodeError as error:
        raise ModelError(f"URDF: character {error.start} of the text is not valid Unicode.") from error
    return builder.close()


def _refuse_xacro(tag: str, attributes: dict[str, str]) -> None:
    advice = "expand the file with the xacro program first"
    if tag.startswith("xacro:"):
        raise ModelError(f"URDF: <{tag}> is a xacro macro; {advice}.")
    for name, value in attributes.items():
        if "${" in value or "$(" in value:
            raise ModelError(f'URDF: <{tag} {name}="{value[:LONGEST_QUOTE]}"> is a xacro expression; {advice}.')


def _refuse_doctype(name: str, _system_id: str | None, _public_id: str | None, _has_subset: bool) -> NoReturn:
    raise ModelError(f"URDF: a document type (<!DOCTYPE {name}>) is not allowed, a URDF has none.")
