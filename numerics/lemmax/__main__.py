"""``python -m lemmax`` is the command line."""

from lemmax.cli import main

main()
