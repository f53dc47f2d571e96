"""`python -m toprank.cli` is `toprank`."""

from . import main

if __name__ == "__main__":
    main()
