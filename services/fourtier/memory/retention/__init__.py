"""Of whom, how much and for how long memory is kept: a library that the services with stores share.

A user can opt out, a scope has a quota, and a memory may have a time to live. What is over a quota
or over its time is deleted as forgetting deletes, and leaves no tombstone: see `policy.py`.
"""
