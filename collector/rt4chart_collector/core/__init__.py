"""What every part of the service needs: settings, counters, logging."""
