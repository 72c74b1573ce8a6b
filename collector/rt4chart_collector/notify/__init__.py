"""Messages to people elsewhere: what they say, when they are due, and the channels they take."""
