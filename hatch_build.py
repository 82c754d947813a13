"""The readme for the package index, which has no files beside it: links become absolute, to the tag of the version."""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

TARGET = re.compile(r'(\]\(|\b(?:href|src|srcset)=")(?!\w+:)([^)"\s]+)')  # of a link or a picture
PICTURES = {".gif", ".jpg", ".png", ".svg", ".webp"}


class AbsoluteLinks(MetadataHookInterface):
    def update(self, metadata: dict[str, Any]) -> None:
        root, home = Path(self.root), metadata["urls"]["Homepage"]
        version = re.search(r'^__version__ = "(.+)"', (root / "src/ur_admittance/__init__.py").read_text(), re.M)
        assert version

        def absolute(match: re.Match[str]) -> str:
            name = match[2] if match[2][0] != "#" else f"README.md{match[2]}"
            path = root / name.partition("#")[0]
            kind = "tree" if path.is_dir() else "raw" if path.suffix in PICTURES else "blob"
            return f"{match[1]}{home}/{kind}/v{version[1]}/{name}"

        text = TARGET.sub(absolute, (root / "README.md").read_text())
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
