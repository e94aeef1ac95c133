"""What was forgotten stays forgotten: a library that every service with a store uses.

A tombstone says of a memory, a conversation, one exchange of it or a whole scope that everything
that was said of it until then is forgotten. It has a time and a name that is a hash, and no
content. What was said later is new, and is stored.
"""
