"""What is promised of numbers, tried just below, at and just above them."""
