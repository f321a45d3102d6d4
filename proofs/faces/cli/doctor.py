"""`blockpool doctor`."""

from blockpool.proofs.faces.cli.session import JsonFile, Session, interruptible


def doctor(json_file: JsonFile = None) -> None:
    """Examine the installation: versions, cores and memory, and whether each tool finds what is planted.

    Run it first where a verdict looks strange, and after every update. A missing optional tool is only mentioned.
    """
    from blockpool.proofs.faces.cli.installation import examine

    session = Session("installation", json_file)
    with interruptible(session):
        for obligation in examine():
            session.decide([obligation])
    session.end()
