"""How much of the evidence that questions need is found again."""
