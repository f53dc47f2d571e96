"""`python -m toprank` is the program `toprank`; its --version says how the core was built, too."""

import sys

if __name__ == "__main__":
    if sys.argv[1:] == ["--version"]:
        from ._versions import show_versions

        show_versions()
    else:
        from .cli import main

        main()
