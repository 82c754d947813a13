"""What MkDocs does beyond Markdown: formulas become MathML, which browsers draw themselves; no script, no font from elsewhere.

$`D \\ge K T`$     in a line, written as on GitHub        ```math     on lines of its own
"""

import re
from html import unescape
from typing import Any

from latex2mathml.converter import convert

INLINE = re.compile(r"\$<code>(.*?)</code>\$", re.DOTALL)
BLOCK = re.compile(r'<div class="formula">(.*?)</div>', re.DOTALL)


def on_page_content(html: str, page: Any, config: Any, files: Any) -> str:
    html = BLOCK.sub(lambda match: convert(unescape(match[1]).strip(), display="block"), html)
    return INLINE.sub(lambda match: convert(unescape(match[1])), html)
