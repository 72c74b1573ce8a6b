"""What can be said of an answer beside its labels: one file a finding, `find` names them all."""
