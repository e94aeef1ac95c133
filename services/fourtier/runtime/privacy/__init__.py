"""Personal data: the one place that finds it, and the one that takes it out before a write.

What it is is found by form and check digit, and by the words around it where the form says too
little (`finding`). What happens to it is the flow's `privacy` section (`policy`). Services use
`redactor`: each redacts what it is about to write.
"""
