"""Taking part: arrivals, the way through, presentations, answers, own data, watching."""
