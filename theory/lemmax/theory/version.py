"""The version of lemmax, from what pip installed."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("lemmax")
except PackageNotFoundError:  # a clone on the path
    __version__ = "0+clone"
