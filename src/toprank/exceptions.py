"""Warnings that are toprank's own."""


class TrivialSolutionWarning(UserWarning):
    """The best score of the asked form is the same for every row: nothing was ranked."""
