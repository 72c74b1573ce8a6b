-- A lease that was given back is free at once, also for a clock that is behind the one of its holder.
ALTER TABLE {database}.rt4chart_leases
    ADD COLUMN IF NOT EXISTS IsReleased UInt8 AFTER Until;
