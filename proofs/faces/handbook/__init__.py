"""The handbook: pages made of the objects that are checked, so that they cannot say anything else."""
