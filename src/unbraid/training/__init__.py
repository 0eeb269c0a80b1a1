"""One run for all that is trained: identity, checkpoint, exact resume, Ctrl-C, devices, logs."""
