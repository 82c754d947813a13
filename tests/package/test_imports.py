"""What import-linter's layers do not see: modules of one room that import each other in a circle, or for types only."""

import grimp


def test_no_module_imports_itself_through_others() -> None:
    graph = grimp.build_graph("ur_admittance", "ur_admittance_lab", cache_dir=None)
    circles = [
        (one, *graph.find_shortest_chain(importer=other, imported=one))
        for one in graph.modules
        for other in graph.find_modules_directly_imported_by(one)
        if graph.chain_exists(importer=other, imported=one)
    ]
    assert circles == []
