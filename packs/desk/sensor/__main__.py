"""Lets the folder run by path: makes the program's own folder importable first."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[3]))

from packs.desk.sensor.main import main

if __name__ == "__main__":
    sys.exit(main())
