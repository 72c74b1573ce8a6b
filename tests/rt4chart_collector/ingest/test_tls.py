"""The files of the certificate, and its dates."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from otel_rt4chart.core.errors import SettingsError
from rt4chart_collector.ingest.tls import Tls, checked_tls, date_doubt, load_tls
from rt4chart_collector.service.checks import check_certificate
from tests.rt4chart_collector.ingest.otlp.ways_in import certificate


def test_files_that_are_no_certificate_stop_the_start(tmp_path: Path) -> None:
    """The error names both variables and both files."""
    mine, other = certificate(tmp_path), certificate(tmp_path, "other")
    (tmp_path / "text").write_text("text")

    assert load_tls("", "") is None
    for cert, key in ((mine.cert, other.key), (mine.cert, str(tmp_path / "no")), ("text", "text")):
        with pytest.raises(SettingsError, match="RT4CHART_TLS_CERT and RT4CHART_TLS_KEY") as wrong:
            load_tls(cert, key)
        assert repr(key) in str(wrong.value)
    assert load_tls(mine.cert, mine.key) == Tls(mine.cert, mine.key)


def expired(folder: Path) -> Tls:
    """A certificate whose time ended a day ago, and its key."""
    tls = Tls(str(folder / "old.pem"), str(folder / "old.key"))
    request = ["openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    request += ["-nodes", "-keyout", tls.key, "-subj", "/CN=test", "-out", str(folder / "old.csr")]
    sign = ["openssl", "x509", "-req", "-in", str(folder / "old.csr"), "-key", tls.key]
    for command in (request, [*sign, "-days", "-1", "-out", tls.cert]):
        subprocess.run(command, check=True, capture_output=True)
    return tls


def test_a_certificate_that_clients_refuse_by_its_date_is_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Expired, or within two weeks of it; the doctor says so, too."""
    old, soon, good = (
        expired(tmp_path),
        certificate(tmp_path, "soon", days=3),
        certificate(tmp_path),
    )

    assert date_doubt(old) == (
        f"the certificate in {old.cert} has expired: clients that verify it send nothing"
    )
    assert date_doubt(soon).startswith(f"the certificate in {soon.cert} expires at 2")
    assert [date_doubt(good), date_doubt(None)] == ["", ""]
    assert checked_tls(old.cert, old.key) == old
    assert caplog.messages == [date_doubt(old)]
    checks = [check_certificate(one.cert, one.key) for one in (old, soon, good)]
    assert [check.state for check in checks] == ["failed", "failed", "ok"]
    assert check_certificate(good.cert, old.key).state == "failed"
