"""From a stream's messages to workers, with offsets committed behind them."""
