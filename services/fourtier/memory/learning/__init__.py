"""What extraction and promotion share: from what was said to the commands that store it.

Both learn from one experience (a run, a turn of dialogue, a whole conversation) by one of two
methods: by rule (`statements_method`) or by asking a model (`model_method`). The result is one
`Learned`, whose commands `publishing` sends. What an experience is and when it is learned from
stays in the services, and so do the prompts.
"""
