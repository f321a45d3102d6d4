"""`python -m proofs` is `blockpool`."""

from proofs.cli import main

if __name__ == "__main__":
    main()
