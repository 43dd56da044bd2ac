"""What only `exchange-summary` needs: policy, parameter object, the cut between exchanges, the abridged history."""
