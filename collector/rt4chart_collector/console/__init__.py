"""The console: the service's web pages, from the rate of a route to the sentence behind it."""
