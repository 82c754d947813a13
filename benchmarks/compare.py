"""The benchmark of `ur-admittance bench`, for `make bench`."""

import sys

from ur_admittance.cli import app

if __name__ == "__main__":
    app(["bench", *sys.argv[1:]])
