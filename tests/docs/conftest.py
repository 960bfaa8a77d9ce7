"""A real browser for the pages."""

from __future__ import annotations

import importlib
import importlib.util
import os
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


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
        if os.environ.get("CI"):
            pytest.fail(lacking)
        pytest.skip(lacking)
    playwright = importlib.import_module("playwright.sync_api")
    with playwright.sync_playwright() as started:
        running = started.chromium.launch(executable_path=program, args=FLAGS)
        yield running
        running.close()
