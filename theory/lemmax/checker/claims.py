"""What the claims of the papers say, where a refutation has to carry the claim's own statement.

They stand in claims.txt, one paragraph per claim: its id, then its statement; a # begins a remark.
"""

import os
from typing import Any

from .statements import Statement, statement

RESERVED = ("wong/", "dana/", "mahdavi/", "lemmax/")
STATEMENTS: dict[str, Statement] = {}
_loader: Any = globals()["__loader__"]  # of a folder or of an archive
_text = _loader.get_data(os.path.join(os.path.dirname(__file__), "claims.txt")).decode("utf-8")
for _paragraph in _text.split("\n\n"):
    _id, *_lines = [line for line in _paragraph.splitlines() if line[:1] not in ("#", "")]
    STATEMENTS[_id] = statement(" ".join(_lines))
