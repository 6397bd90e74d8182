"""A collector's address by OpenTelemetry's variables, and what its exporters say of it."""

import pytest

from echoic.errors import SettingsError
from echoic.tracing.collector import Collector, CollectorError, endpoint
from tests.echoic.tracing import collectors


def test_the_endpoint_is_read_as_open_telemetry_says() -> None:
    """The traces' own variable wins, the path is added."""
    plain = endpoint("http://127.0.0.1:4318/", {})
    named = endpoint(
        "http://a:1", {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "https://b:2/x"}
    )

    assert (plain.url, plain.is_loopback) == ("http://127.0.0.1:4318/v1/traces", True)
    assert (named.url, named.is_loopback) == ("https://b:2/x", False)
    assert endpoint(None, {}).url == "http://127.0.0.1:4318/v1/traces"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("", 2.0), ("5", 5.0), ("0.5", 0.5), ("10000", 10.0), ("0", 2.0), ("x", 2.0)],
)
def test_the_timeout_is_bounded(text: str, seconds: float) -> None:
    """Whoever means milliseconds does not make anything wait for hours."""
    found = endpoint(None, {"OTEL_EXPORTER_OTLP_TIMEOUT": text})

    assert found.timeout_s == seconds


def test_a_wrong_endpoint_is_named() -> None:
    """The error shows the value and what would be right."""
    with pytest.raises(SettingsError, match=r"'collector:4318/v1/traces'") as raised:
        endpoint("collector:4318", {})

    assert "http://" in (raised.value.next_step or "")


def test_a_wrong_protocol_is_named() -> None:
    """The error shows the value and what would be right."""
    with pytest.raises(SettingsError, match="'grpc'") as raised:
        endpoint(None, {"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"})

    assert "http/protobuf" in (raised.value.next_step or "")


def test_a_wrong_compression_is_named() -> None:
    """As the protocol is; nothing is sent in a form that nobody asked for."""
    with pytest.raises(SettingsError, match="'zip'") as raised:
        endpoint("http://a", {"OTEL_EXPORTER_OTLP_COMPRESSION": "zip"})

    assert "gzip" in (raised.value.next_step or "")


@pytest.mark.parametrize("protocol", ["http/protobuf", "http/json"])
def test_headers_are_read_as_open_telemetry_says(
    protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unquoted, beside the type of the body; the variable of the traces wins."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20t,n=1")
    variables = {"OTEL_EXPORTER_OTLP_PROTOCOL": protocol}
    with collectors.taking() as (port, heard):
        Collector(endpoint(f"http://127.0.0.1:{port}", variables)).send({}, [])
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "n=2")
        Collector(endpoint(f"http://127.0.0.1:{port}", variables)).send({}, [])

    kind = "json" if protocol == "http/json" else "x-protobuf"
    assert b"authorization: Bearer t\r\n" in heard[0]
    assert b"n: 1\r\n" in heard[0]
    assert f"content-type: application/{kind}\r\n".encode() in heard[0]
    assert b"n: 2\r\n" in heard[1]
    assert b"authorization" not in heard[1]


@pytest.mark.parametrize(
    ("variable", "protocol"),
    [("CERTIFICATE", "http/protobuf"), ("HTTP_CREDENTIAL_PROVIDER", "http/protobuf")],
)
def test_what_the_exporter_cannot_use_is_named(
    variable: str, protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Certificates and credentials are the exporter's matter, and so is the reason."""
    # The library that posts lets these win.
    monkeypatch.delenv("REQUESTS_CA_BUNDLE", raising=False)
    monkeypatch.delenv("CURL_CA_BUNDLE", raising=False)
    python = "PYTHON_" if "PROVIDER" in variable else ""
    monkeypatch.setenv(f"OTEL_{python}EXPORTER_OTLP_{variable}", "/no/such")
    variables = {"OTEL_EXPORTER_OTLP_PROTOCOL": protocol}
    with collectors.hanging() as port:
        collector = Collector(endpoint(f"https://127.0.0.1:{port}", variables))
        with pytest.raises(CollectorError, match="/no/such"):
            collector.send({}, [])


def test_a_busy_collector_is_asked_twice() -> None:
    """What passes is waited for, within the time that a batch may take."""
    with collectors.busy() as port:
        Collector(endpoint(f"http://127.0.0.1:{port}", {})).send({}, [])


@pytest.mark.parametrize("protocol", ["http/protobuf", "http/json"])
def test_a_refusal_says_why(protocol: str) -> None:
    """The notice that an operator reads holds the status."""
    variables = {"OTEL_EXPORTER_OTLP_PROTOCOL": protocol}
    with collectors.refusing() as port:
        refusing = Collector(endpoint(f"http://127.0.0.1:{port}", variables))
        with pytest.raises(CollectorError, match="503 Service Unavailable"):
            refusing.send({}, [])
