-- What single chunks say of a claim, the OR-join; '' where no chunk was asked. Rows of earlier versions have the final
-- label there.
ALTER TABLE {database}.rt4chart_claims
    MODIFY COLUMN LocalLabel Enum8('' = 0, 'entailed' = 1, 'contradicted' = 2, 'baseless' = 3, 'undecided' = 4, 'not_a_claim' = 5);
