"""Certificates to trust besides the system's: a company's own authority works (ux 3.2)."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import holdfast as hf
from cli.commands import holdfast
from fetch.hostile import CERTIFICATE, HostileSite, in_a_thread
from holdfast.config.certificates import more_roots
from holdfast.errors import BadParams

PAGES = {"/": b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\nfrog"}


@pytest.fixture
def site() -> Iterator[HostileSite]:
    site = HostileSite(tls=True, more=dict(PAGES))
    with in_a_thread(site):
        yield site


def words(site: HostileSite) -> list[str]:
    return ["crawl", "https://world.test/", "--name", "frogs", "--resolve", f"world.test={site.address}", "--json"]


def test_a_site_of_ones_own_authority_is_crawled_with_its_certificate(tmp_path: Path, site: HostileSite) -> None:
    """Without it the page fails; the file stays with the job, so a resume from elsewhere knows it."""
    done = holdfast(*words(site), cwd=tmp_path)
    assert (done.code, done.json()["failed_by"]) == (8, {"tls_error": 1}), done.err
    shutil.copy(CERTIFICATE, tmp_path / "company.pem")
    done = holdfast(*words(site), "--ca-bundle", "company.pem", "--start-paused", "--new", cwd=tmp_path)
    assert done.code == 0, done.err
    (tmp_path / "elsewhere").mkdir()
    done = holdfast("--data", str(tmp_path / "holdfast-data"), "resume", "frogs", "--json", cwd=tmp_path / "elsewhere")
    assert (done.code, done.json()["counts"]["succeeded"]) == (0, 1), done.err


def test_ssl_cert_file_is_trusted_too_and_so_is_the_file_of_a_job_file(tmp_path: Path, site: HostileSite) -> None:
    done = holdfast(*words(site), cwd=tmp_path, SSL_CERT_FILE=str(CERTIFICATE))
    assert (done.code, done.json()["counts"]["succeeded"]) == (0, 1), done.err
    shutil.copy(CERTIFICATE, tmp_path / "company.pem")
    (tmp_path / "toads.toml").write_text(
        'kind = "site"\nseeds = ["https://world.test/"]\nca_bundle = "company.pem"\n'
        f'[resolve]\n"world.test" = "{site.address}"\n'
    )
    done = holdfast("run", "toads.toml", "--json", cwd=tmp_path)
    assert (done.code, done.json()["counts"]["succeeded"]) == (0, 1), done.err


def test_python_takes_it_too(tmp_path: Path, site: HostileSite) -> None:
    resolve = {"world.test": site.address}
    job = hf.crawl("https://world.test/", resolve=resolve, ca_bundle=str(CERTIFICATE), data=str(tmp_path))
    assert job.run().counts.succeeded == 1


UNUSABLE = pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, "cannot be read: No such file or directory"),
        ("", "has no certificate in PEM form"),
        ("frog", "has no certificate in PEM form"),
        ("-----BEGIN CERTIFICATE-----\nfrog\n-----END CERTIFICATE-----\n", "has a certificate that cannot be read"),
    ],
    ids=["missing", "empty", "no certificate", "a broken one"],
)


@UNUSABLE
def test_a_file_that_cannot_be_used_is_refused_and_no_job_is_made(
    tmp_path: Path, content: str | None, sentence: str
) -> None:
    file = tmp_path / "company.pem"
    if content is not None:
        file.write_text(content)
    done = holdfast("crawl", "https://world.test/", "--name", "frogs", "--ca-bundle", str(file), cwd=tmp_path)
    assert (done.code, f"--ca-bundle: {file} {sentence}" in done.err) == (2, True), done.err
    assert holdfast("status", "frogs", cwd=tmp_path).code == 5


@UNUSABLE
def test_a_variable_that_names_no_usable_file_is_told_once_and_ignored(
    tmp_path: Path, site: HostileSite, content: str | None, sentence: str
) -> None:
    """It may be a leftover, and be there for other programs."""
    file = tmp_path / "gone.pem"
    if content is not None:
        file.write_text(content)
    done = holdfast(*words(site), "--ca-bundle", str(CERTIFICATE), cwd=tmp_path, SSL_CERT_FILE=str(file))
    assert (done.code, done.json()["counts"]["succeeded"]) == (0, 1), done.err
    assert f"SSL_CERT_FILE: {file} {sentence}" in done.err
    assert done.err.count("it is ignored") == 1


def test_several_workers_tell_of_the_variable_once(tmp_path: Path, site: HostileSite) -> None:
    crew = (*words(site), "--ca-bundle", str(CERTIFICATE), "--processes", "2")
    done = holdfast(*crew, cwd=tmp_path, SSL_CERT_FILE=str(tmp_path / "gone.pem"))
    assert (done.code, done.err.count("it is ignored")) == (0, 1), done.err


def test_the_systems_certificates_stay_trusted(tmp_path: Path) -> None:
    """Both files are read, one after the other."""
    (tmp_path / "other.pem").write_bytes(CERTIFICATE.read_bytes())
    both = more_roots(str(CERTIFICATE), {"SSL_CERT_FILE": str(tmp_path / "other.pem")})
    assert both.count(b"-----BEGIN CERTIFICATE-----") == 2
    assert more_roots("", {}) == b""
    (tmp_path / "large.pem").write_bytes(bytes(11_000_000))
    with pytest.raises(BadParams, match="too large"):
        more_roots(str(tmp_path / "large.pem"), {})


def test_a_certificate_signed_by_the_authority_is_trusted(tmp_path: Path) -> None:
    """A chain as companies have it: the file names the authority, and the site shows what that one signed."""
    chain = signed(tmp_path)
    site = HostileSite(tls=True, more=dict(PAGES), certificate=chain)
    with in_a_thread(site):
        done = holdfast(*words(site), "--ca-bundle", "authority.pem", cwd=tmp_path)
    assert (done.code, done.json()["counts"]["succeeded"]) == (0, 1), done.err


def signed(folder: Path) -> Path:
    """An authority in `authority.pem`, and a key with the certificate that it gave world.test."""

    def run(*more: str) -> None:
        subprocess.run(["openssl", *more], cwd=folder, check=True, capture_output=True)

    new = ("req", "-newkey", "rsa:2048", "-nodes")
    run(*new, "-x509", "-days", "30", "-subj", "/CN=Marsh", "-keyout", "authority.key", "-out", "authority.pem")
    run(*new, "-subj", "/CN=world.test", "-keyout", "site.key", "-out", "site.csr")
    (folder / "names").write_text("subjectAltName=DNS:world.test\n")
    run(
        "x509", "-req", "-in", "site.csr", "-CA", "authority.pem", "-CAkey", "authority.key", "-CAcreateserial",
        "-days", "30", "-extfile", "names", "-out", "site.pem",
    )  # fmt: skip
    chain = folder / "chain.pem"
    chain.write_bytes((folder / "site.key").read_bytes() + (folder / "site.pem").read_bytes())
    ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(chain)
    return chain
