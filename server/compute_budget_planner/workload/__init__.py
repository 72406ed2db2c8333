"""What is to be trained: facts, their basis, and the training run they describe."""
