"""`python -m blockpool` is the command `blockpool`."""

from blockpool.proofs.faces.cli.main import main

if __name__ == "__main__":
    main()
