"""Would the tests notice? Small faults are put into the library, and the nearest tests are run."""
