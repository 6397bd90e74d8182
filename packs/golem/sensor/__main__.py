"""Makes the folder runnable by path, by putting the repository on the import path first."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[3]))

from packs.golem.sensor.main import main

if __name__ == "__main__":
    sys.exit(main())
