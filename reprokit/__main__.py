"""`python -m reprokit`."""

from reprokit.cli import main

raise SystemExit(main())
