"""What every part of the package needs: errors, attribute names, guards, text and durations."""
