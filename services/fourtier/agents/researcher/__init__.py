"""Research: questions that one search does not answer, searched for round by round.

Plan, search, take notes, check what is missing and follow up, after General Agentic Memory
(arXiv:2511.18423): by rule, or with a language model in each role and the rule where that fails.
"""
