"""`python -m holdfast.cli.tied PARENT WORDS…`: the command line of a program that works a job with several processes.

When that program dies, whatever of, this command is told to go, as by SIGTERM: nobody is left to look on or to stop it.
"""

from __future__ import annotations

import signal
import sys

from holdfast.cli.main import main
from holdfast.dispatch.local.fork_server import tie_to

if __name__ == "__main__":
    tie_to(int(sys.argv.pop(1)), signal.SIGTERM)
    sys.exit(main())
