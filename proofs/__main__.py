"""`python -m blockpool` is `blockpool`."""

from blockpool.proofs.faces.cli.main import main

if __name__ == "__main__":
    main()
