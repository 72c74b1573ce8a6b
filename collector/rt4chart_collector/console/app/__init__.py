"""The console as a web application: access, sessions, errors, static files."""
