"""Fuzz what reads files: every file is taken or refused, in little time and memory."""
