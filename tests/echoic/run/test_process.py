"""What every process sets up for itself."""

import re
import subprocess
import sys

_LINE = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} WARNING streams\.x: the broker is away\n"


def test_what_a_process_logs_has_its_time() -> None:
    """A line on stderr; what is only of use to who develops is not among them."""
    code = (
        "import logging; from echoic.run.process import log_to_stderr; log_to_stderr();"
        "log = logging.getLogger('streams.x');"
        "log.warning('the broker is away'); log.info('a detail')"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert re.fullmatch(_LINE, ran.stderr), ran.stderr
