"""Contracts for `lint-imports` beyond those that import-linter brings along."""

from __future__ import annotations

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, output


class PrivacyContract(Contract):
    """Allow importing a private module only inside the package that it belongs to.

    A module or package whose name starts with an underscore belongs to the package that contains it:
    `root.a.b._c` may be imported from `root.a.b` and from what lies below it. Modules and packages directly below
    the root package are thereby shared by everyone. What lies inside a private package is imported only from within
    that package; everyone else imports from the package itself.
    """

    type_name = "privacy"

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        violations = []
        for importer in sorted(graph.modules):
            for imported in sorted(graph.find_modules_directly_imported_by(importer)):
                owner = find_owner(imported)
                if owner and not (importer == owner or importer.startswith(f"{owner}.")):
                    details = graph.get_import_details(importer=importer, imported=imported)
                    lines = sorted({detail["line_number"] for detail in details})
                    violations.append((importer, imported, owner, lines))
        return ContractCheck(kept=not violations, metadata={"violations": violations})

    def render_broken_contract(self, check: ContractCheck) -> None:
        violations = check.metadata["violations"]
        for importer, imported, owner, lines in violations:
            where = ", ".join(map(str, lines))
            output.print_error(f"- {importer} imports {imported} (line {where}), which is private to {owner}.")
        output.new_line()
        output.print_error(f"{len(violations)} private imports. Import a public name, or give the name a public home.")
        output.new_line()


def find_owner(module: str) -> str:
    """Find the innermost package outside of which a module must not be imported; empty if everyone may import it."""
    parts = module.split(".")
    owner = ""
    for place, part in enumerate(parts):
        if part.startswith("_") and not part.startswith("__"):
            inside = place < len(parts) - 1  # of a private package
            owner = ".".join(parts[: place + 1] if inside else parts[:place])
    return owner
