"""Pictures of the built pages, to be looked at: ``python docs/screenshots.py FOLDER``.

Every kind of page, and every figure with what stands around it, at the widths of a desk, a tablet
and a phone, light and dark.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

SITE = Path(__file__).parent / "_build" / "html"
PAGES = (
    "index.html",
    "ledger.html",
    "graph.html",
    "graph.html#lemmax/repaired-corollary-1",
    "claims/wong/argmax-rank-one.html",
    "claims/dana/figure-3.html",
    "errata.html",
    "check.html#wong/example-3.3",
    "try.html",
    "search.html?q=Theorem+1+Dana",
    "papers/dana.html",
    "papers/dana-paragraphs.html",
    "proofs/index.html",
    "proofs/dana/theorem-1-free-heads.html",
    "certificates.html",
    "kernel.html",
    "hardening.html",
    "glossary.html",
    "command-line.html",
    "bibliography.html",
    "reference/index.html",
    "reference/lemmax.constructions.wong.blowups.html",
)
WIDTHS = {"desk": 1280, "tablet": 820, "phone": 390}


def main(target: Path) -> None:
    """Write the pictures."""
    target.mkdir(parents=True, exist_ok=True)
    drawn = [
        page.relative_to(SITE).as_posix()
        for page in sorted(SITE.rglob("*.html"))
        if "cell_output" in (text := page.read_text(encoding="utf-8")) and "_images/" in text
    ]
    with sync_playwright() as started:
        browser = started.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        for scheme in ("light", "dark"):
            for device, width in WIDTHS.items():
                size = {"width": width, "height": 844}
                page = browser.new_page(viewport=size, color_scheme=scheme)  # type: ignore[arg-type]
                for address in (*PAGES, *drawn):
                    path = re.split(r"[?#]", address)[0]
                    page.goto((SITE / path).as_uri() + address.removeprefix(path))
                    page.wait_for_load_state("networkidle")
                    page.wait_for_timeout(300)  # formulas are set after loading
                    name = f"{re.sub(r'[/.#?=+]', '-', address)}-{device}-{scheme}"
                    page.screenshot(path=target / f"{name}.png")
                    figures = page.locator(".cell_output img:visible")
                    for number, image in enumerate(figures.all(), 1):
                        image.screenshot(path=target / f"{name}-figure{number}.png")
                page.close()
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
