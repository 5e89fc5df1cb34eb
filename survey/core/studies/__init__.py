"""What a study is before it is answered: plan, lists, rankings, questions, blinding, digest."""
