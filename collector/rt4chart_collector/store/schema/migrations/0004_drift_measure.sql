-- The detector watches two measures of a route, each with a state of its own: Measure says which claims its
-- shares count. Rows of earlier versions are of the unfaithful ones.
ALTER TABLE {database}.rt4chart_drift
    ADD COLUMN IF NOT EXISTS Measure Enum8('unfaithful' = 0, 'misleading' = 1) AFTER VerifierId,
    MODIFY ORDER BY (ServiceName, Route, VerifierId, Tick, Measure);
