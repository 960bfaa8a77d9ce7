"""A real browser for the pages that ``make docs`` built.

Without them, or without Chromium, a test is skipped, and says so; where CI is set it fails instead.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

SITE = Path(__file__).parent.parent.parent / "docs" / "_build" / "html"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def missing(what: str) -> None:
    """Skip, or fail where nothing may be missing."""
    if os.environ.get("CI"):
        pytest.fail(what)
    pytest.skip(what)


@pytest.fixture(scope="module")
def site() -> Path:
    """The folder of the pages."""
    if not (SITE / "index.html").is_file():
        missing("the pages are not built: run make docs")
    return SITE


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium; without it a test is skipped, or fails where CI is set."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    lacking = None
    if program is None:
        lacking = "there is no chromium: make system installs it"
    elif importlib.util.find_spec("playwright") is None:
        lacking = "playwright is not installed"
    if lacking:
        missing(lacking)
    playwright = importlib.import_module("playwright.sync_api")
    with playwright.sync_playwright() as started:
        running = started.chromium.launch(executable_path=program, args=FLAGS)
        yield running
        running.close()


class Visit:
    """A page that remembers what it asked for and what it complained about."""

    def __init__(self, browser: Browser, **options: Any) -> None:
        self.context = browser.new_context(**options)
        self.page: Page = self.context.new_page()
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self.page.on("request", lambda r: self.requests.append(r.url))
        self.page.on("requestfailed", lambda r: self.complaints.append(f"failed: {r.url}"))
        self.page.on("pageerror", lambda e: self.complaints.append(str(e)))
        self.page.on(
            "console",
            lambda m: self.complaints.append(m.text) if m.type in ("error", "warning") else None,
        )

    def open(self, name: str) -> Page:
        """The page of that name, as a file, once its formulas are set."""
        self.page.goto((SITE / name.partition("#")[0]).as_uri() + "#" + name.partition("#")[2])
        if "MathJax-script" in self.page.content() or self.page.query_selector(".math"):
            self.page.wait_for_function("window.MathJax?.startup?.promise !== undefined")
            self.page.evaluate("MathJax.startup.promise")
        return self.page


Visits = Callable[..., Visit]


@pytest.fixture
def visits(browser: Browser, site: Path) -> Iterator[Visits]:
    """Makes visits, with the settings of a browser that they need."""
    made: list[Visit] = []

    def visit(**options: Any) -> Visit:
        made.append(Visit(browser, **options))
        return made[-1]

    yield visit
    for each in made:
        each.context.close()


@pytest.fixture
def visit(visits: Visits) -> Visit:
    """A visit like any other."""
    return visits()


class Quiet(SimpleHTTPRequestHandler):
    """The server that the pages tell a reader to start."""

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@pytest.fixture
def server(site: Path) -> Iterator[str]:
    """The address of the pages, served."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()
        thread.join()
