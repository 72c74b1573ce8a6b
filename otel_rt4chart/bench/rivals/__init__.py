"""Published detectors as judges of whole answers, for comparison in `rt4chart bench` alone."""
