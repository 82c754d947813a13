"""What is published: everything that the repository has, and a page at the package index whose links lead somewhere."""

import platform
import re
import runpy
import shutil
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_bytes
from pathlib import Path
from xml.etree import ElementTree

import pytest
from markdown_it import MarkdownIt
from ruamel.yaml import YAML

ROOT = Path(__file__).resolve().parents[2]
NATIVE = ("libur_admittance.so", "ur_admittance.h", "ur_admittance-config.cmake")


@pytest.fixture(scope="module")
def built(tmp_path_factory, optional):
    """The folder with both distributions."""
    optional("hatchling")
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-d", folder], cwd=ROOT, check=True)
    return folder


@pytest.fixture(scope="module")
def wheel(built):
    with zipfile.ZipFile(next(built.glob("*.whl"))) as archive:
        yield archive


@pytest.fixture(scope="module")
def metadata(wheel):
    [name] = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
    return message_from_bytes(wheel.read(name))


@pytest.fixture(scope="module")
def urls(metadata):
    return dict(url.split(", ") for url in metadata.get_all("Project-URL"))


def listed(*which):
    command = ["git", "-c", "safe.directory=*", "ls-files", "-z", *which]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return {name for name in found.stdout.split("\0") if (ROOT / name).is_file()}


@pytest.fixture(scope="module")
def files(missing):
    """Every file of the repository."""
    return listed("--cached") or missing("not a git checkout")


@pytest.fixture(scope="module")
def untracked(built):
    """What lies around: it would be packed here, but is in no clean checkout."""
    return listed("--others", "--exclude-standard")


def test_the_source_distribution_has_every_file_of_the_repository(built, files, untracked):
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        names = {member.name.partition("/")[2] for member in archive if member.isfile()}
    assert names - untracked == files | {"PKG-INFO"}


def test_the_wheel_has_every_file_of_the_package_and_no_other(wheel, files, untracked):
    package = {name.removeprefix("src/") for name in files if name.startswith("src/")}
    package |= {f"ur_admittance/native/{name}" for name in NATIVE}
    names = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert names - {name.removeprefix("src/") for name in untracked} == package


def test_the_wheel_names_the_oldest_linux_that_its_library_runs_on(wheel, tmp_path, missing):
    """By the symbols' versions, as objdump reads them."""
    if not shutil.which("objdump"):
        missing("objdump is not installed")
    file = wheel.extract("ur_admittance/native/libur_admittance.so", tmp_path)
    said = subprocess.run(["objdump", "-T", file], capture_output=True, text=True, check=True).stdout
    needed = max(int(minor) for minor in re.findall(r"GLIBC_2\.(\d+)", said))
    tag = f"py3-none-manylinux_2_{max(28, needed)}_{platform.machine()}"
    assert Path(wheel.filename).stem.endswith(tag)
    [name] = [name for name in wheel.namelist() if name.endswith(".dist-info/WHEEL")]
    assert wheel.read(name).decode().splitlines()[-2:] == ["Root-Is-Purelib: false", f"Tag: {tag}"]


def test_nobody_needs_a_compiler_to_run_an_arm(metadata):
    requires = [line for line in metadata.get_all("Requires-Dist") if line.startswith(("numba", "llvmlite"))]
    assert requires
    assert all("extra ==" in line for line in requires)


def test_an_editable_install_compiles_nothing(optional, monkeypatch):
    optional("hatchling")
    monkeypatch.setattr(subprocess, "run", None)
    hook = runpy.run_path(str(ROOT / "hatch_build.py"))["CompiledController"](str(ROOT), {}, None, None, "", "wheel")
    data: dict[str, object] = {}
    hook.initialize("editable", data)
    assert data == {}


def test_links_of_the_published_readme_are_absolute_and_lead_to_files_of_the_version(metadata, urls):
    page = MarkdownIt().render(metadata.get_payload(decode=True).decode())
    links = re.findall(r'(?:href|src|srcset)="([^"]*)"', page)
    here = f"{urls['Homepage']}/(blob|raw|tree)/v{re.escape(metadata['Version'])}/([^#]+)"
    paths = {link: re.match(here, link) for link in links if link.startswith(urls["Homepage"])}
    assert [link for link in links if not link.startswith("https://")] == []
    assert len(paths) > 10
    for link, parts in paths.items():
        assert parts, link
        path = ROOT / parts[2]
        assert path.is_dir() if parts[1] == "tree" else path.is_file(), link
        assert parts[1] == "raw" or f'src="{link}"' not in page, f"{link}: a page, not a picture"


def test_the_package_index_shows_the_readme(built, optional):
    optional("twine")
    files = list(built.iterdir())
    done = subprocess.run([sys.executable, "-m", "twine", "check", "--strict", *files], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_the_project_has_one_home_one_name_and_one_set_of_authors(metadata, urls):
    home, main = urls["Homepage"], f"{urls['Homepage']}/blob/main/"
    citation = YAML(typ="safe").load(ROOT / "CITATION.cff")
    ros = ElementTree.parse(ROOT / "ros2/ur_admittance_ros/package.xml")
    assert set(urls) == {"Homepage", "Documentation", "Issues", "Changelog"}
    assert (ROOT / urls["Documentation"].removeprefix(main)).is_file()
    assert (ROOT / urls["Changelog"].removeprefix(main)).is_file()
    assert citation["repository-code"] == home
    assert {url.get("type"): url.text for url in ros.iter("url")} == {"repository": home, "bugtracker": urls["Issues"]}
    assert citation["version"] == metadata["Version"]
    assert sorted(citation["keywords"]) == sorted(metadata["Keywords"].split(","))
    authors = ", ".join(author["name"] for author in citation["authors"])
    setup = (ROOT / "ros2/ur_admittance_ros/setup.py").read_text()
    assert {metadata["Author"], ros.findtext("maintainer")} == {authors}
    assert f'maintainer="{authors}"' in setup


def test_every_python_that_the_package_names_is_tested(metadata):
    python = "Programming Language :: Python :: "
    named = [line.removeprefix(python) for line in metadata.get_all("Classifier") if re.match(python + r"3\.", line)]
    makefile = (ROOT / "Makefile").read_text()
    workflow = YAML(typ="safe").load(ROOT / ".github/workflows/ci.yml")
    assert metadata["Requires-Python"] == f">={named[0]}"
    assert re.search(r"^PYTHONS := (.*)$", makefile, re.MULTILINE)[1].split() == named
    assert workflow["jobs"]["quick"]["strategy"]["matrix"]["python"] == named
