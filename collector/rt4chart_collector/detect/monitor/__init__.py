"""The monitor that watches all routes in rounds."""
