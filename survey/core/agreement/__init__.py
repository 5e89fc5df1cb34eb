"""Agreement of people with measures: answers, ballots and credits, differences, verdicts."""
