"""Lets `python -m tanglewood` run the command line."""

import sys

from tanglewood.cli import main

sys.exit(main())
