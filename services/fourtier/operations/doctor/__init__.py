"""`fourtier doctor`: what is well in a flow, and what to do about the rest."""
