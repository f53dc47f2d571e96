"""Worst cases over rankings: structural support vector machines for measures of the whole list."""
