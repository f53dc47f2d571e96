"""The soft margin of the worst pairs, over weights of 1-norm one."""
