"""Texts of providers, programs and proxies: which kind of trouble each is, and what is content all the same."""

from __future__ import annotations

import json

import pytest

from decision_hooks.backends.answers import Answer, read_result
from decision_hooks.backends.troubles import SPENT_NOTHING
from decision_hooks.replies.decisions import decisions, has_form
from decision_hooks.replies.operations import operations
from decision_hooks.system.process import Result
from support.adr_texts import block
from support.cost import assert_linear

TEXTS = {
    "login": """
        Invalid API key · Please run /login
        API Error: 401 {"type":"error","error":{"type":"authentication_error","message":"OAuth token has expired."}}
        Error: 401 Incorrect API key provided: sk-12. You can find your API key at https://platform.openai.com.
        {"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}
        [{"error":{"code":403,"message":"Permission denied on resource project x.","status":"PERMISSION_DENIED"}}]
        AccessDeniedException: You don't have access to the model with the specified model ID.
        UnrecognizedClientException: The security token included in the request is invalid.
        CredentialsProviderError: Could not load credentials from any providers
        Error: Could not load the default credentials. Browse to the documentation
        401 Access denied due to invalid subscription key or wrong API endpoint.
        Error: No API key found for anthropic. Set ANTHROPIC_API_KEY or run pi and type /login
        The OPENAI_API_KEY environment variable is missing or empty
        Error: Authentication required. Please run 'agent login' first, or set CURSOR_API_KEY.
        Not logged in. Please run cursor-agent login
        No auth credentials found
        404 User not found.
        This organization has been disabled.
        Error: 403 Country, region, or territory not supported
        {"code":"unauthenticated:bad-credentials","error":"The API key is invalid."}
        Your account has been suspended
        Failed to authenticate. API Error: 403 Forbidden
        Failed to refresh token: session expired
    """,
    "credit": """
        Credit balance is too low
        Error: 429 You exceeded your current quota, please check your plan and billing details.
        insufficient_quota
        Error: 402 Insufficient Balance
        402 {"error":{"message":"Insufficient credits. Add more using https://example.org/credits","code":402}}
        Error: This request requires more credits, or fewer max_tokens. You requested up to 65536 tokens
        Error: 403 Your newly created team doesn't have any credits: you are out of credits
        Budget has been exceeded! Current cost: 11.0, Max budget: 10.0
        Your account is past due
        billing_not_active: billing is not active
        HTTP 402 Payment Required
    """,
    "rate": """
        Claude AI usage limit reached|1760000000
        5-hour limit reached ∙ resets 3pm
        You've hit your weekly limit · resets Monday
        API Error: 529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}
        Error: 429 Rate limit reached for gpt-5 in organization org-1 on tokens per min (TPM): Limit 30000
        {"error":{"code":429,"message":"Resource has been exhausted (e.g. check quota).","status":"RESOURCE_EXHAUSTED"}}
        {"error":{"code":503,"message":"The model is overloaded. Please try again later.","status":"UNAVAILABLE"}}
        ThrottlingException: Too many tokens, please wait before trying again.
        ServiceQuotaExceededException: Your request exceeds the service quota for your account.
        429 Requests to the ChatCompletions_Create Operation have exceeded call rate limit. Retry after 22 seconds.
        Requests rate limit exceeded
        The server is currently busy. Please try again later.
        Service tier capacity exceeded for this model.
        The server is busy. Please try again later: server overloaded
        You've hit your usage limit. Upgrade to Pro
        ActionRequiredError: You have reached your free request limit.
        error code: 1015
        litellm.RateLimitError: RateLimitError: too many requests
    """,
    "network": """
        Error: connect ECONNREFUSED 127.0.0.1:11434
        getaddrinfo EAI_AGAIN api.openai.com
        Error: request to https://api.anthropic.com failed, reason: read ECONNRESET
        APIConnectionError: Connection error.
        API Error: Request timed out.
        Error: could not connect to ollama app, is it running?
        curl: (6) Could not resolve host: openrouter.ai
        error sending request for url (https://api.x.ai/v1/chat/completions)
        Error: self-signed certificate in certificate chain
        [SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: unable to get local issuer certificate
        stream disconnected before completion: error sending request
        API Error: 500 {"type":"error","error":{"type":"api_error","message":"Internal server error"}}
        502 Bad Gateway
        upstream connect error or disconnect/reset before headers. reset reason: connection timeout
        HTTP/1.1 407 Proxy Authentication Required
        Error: tunneling socket could not be established, statusCode=503
        <html><head><title>504 Gateway Time-out</title></head><body><center>nginx</center></body></html>
        <!DOCTYPE html><html><body>Web server is down. Error 521 Cloudflare</body></html>
        {"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}
        InternalServerException: The system encountered an unexpected error.
        ssl3_get_server_certificate: handshake failure
        Error: socket hang up
        OSError: [Errno 101] Network is unreachable
    """,
    "start": """
        env: node: No such file or directory
        Error: ENOSPC: no space left on device, mkdir '/tmp/x'
        Error: EMFILE: too many open files, open '/x'
        FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory
        sh: 1: exec: node: command not found
        Error: Cannot find module '/usr/lib/node_modules/pi/dist/cli.js'
        Error: EROFS: read-only file system, mkdir '/home/x/.pi'
        error while loading shared libraries: libstdc++.so.6: cannot open shared object file
        Error: model requires more system memory (9.0 GiB) than is available (3.1 GiB)
        fork: retry: Resource temporarily unavailable
        Error: Claude Code requires Node.js version 18 or higher
        It looks like your version of Claude Code (1.0.1) needs an update.
    """,
    "context": """
        Prompt is too long
        API Error: 400 {"error":{"message":"prompt is too long: 210000 tokens > 200000 maximum"}}
        Error: 400 This model's maximum context length is 128000 tokens. However, your messages resulted in 140000.
        context_length_exceeded
        {"error":{"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."}}
        ValidationException: Input is too long for requested model.
        the request exceeds the available context size, try increasing it
        Error: request (9000 tokens) exceeds the available context size (4096 tokens)
    """,
    "model": """
        Error: model 'qwen3:8b' not found, try pulling it first
        {"error":{"message":"The model `gpt-9` does not exist or you do not have access.","code":"model_not_found"}}
        There's an issue with the selected model (sonet). It may not exist or you may not have access to it.
        {"error":{"code":"DeploymentNotFound","message":"The API deployment for this resource does not exist."}}
        Error: 404 No endpoints found for mistralai/x.
        No models loaded. Please load a model in the developer page
        ValidationException: The provided model identifier is invalid.
        Cannot use this model: gpt-x. Available models: auto, sonnet-4
        Unknown model: foo/bar
        API Error: 404 {"type":"error","error":{"type":"not_found_error","message":"model: claude-x"}}
        Invalid model: mistral-huge
        models/gemini-0 is not found for API version v1beta
        Error: Model "gemma" not found
    """,
}
ROWS = [(kind, text.strip()) for kind, texts in TEXTS.items() for text in texts.strip().splitlines()]


def read(stdout: str = "", status: int | None = 0, stderr: str = "", **more: bool) -> Answer:
    """What a capture reads out of the end of a program."""
    result = Result(status, stdout.encode(), stderr.encode(), more.pop("late", False), 1.0, **more)
    return read_result(result, lambda text: has_form(decisions, text))


@pytest.mark.parametrize(("kind", "text"), ROWS, ids=[text[:50] for _, text in ROWS])
def test_the_kind_of_a_failed_call(kind: str, text: str) -> None:
    for found in (read(text + "\n", 1), read("", 1, text + "\n")):
        assert (found.text, found.trouble) == ("", kind)


@pytest.mark.parametrize(("kind", "text"), ROWS, ids=[text[:50] for _, text in ROWS])
def test_an_error_is_never_content_whatever_the_exit_code(kind: str, text: str) -> None:
    assert (read("", 0, text).text, read("", 0, text).trouble) == ("", kind)
    assert read(json.dumps({"type": "result", "is_error": True, "result": text})).trouble == kind


@pytest.mark.parametrize("kind", ["login", "credit", "rate", "network", "start", "model", "context"])
def test_most_error_texts_on_stdout_with_exit_0_are_known(kind: str) -> None:
    texts = [text for of, text in ROWS if of == kind]
    known = [text for text in texts if read(text).trouble == kind]
    assert len(known) >= 0.7 * len(texts), sorted(set(texts) - set(known))


def test_a_long_error_object_with_exit_0_is_an_error() -> None:
    body = {"error": {"message": "Rate limit exceeded: free-models-per-day", "metadata": {"raw": "x" * 3000}}}
    assert read(json.dumps(body, indent=2)).trouble == "rate"
    assert read(json.dumps({"error": {"message": "what nobody has seen before"}})).trouble == "failed"


@pytest.mark.parametrize(
    "text",
    [
        block("Rate limit") + "\nOn 429 Too Many Requests we wait; on ECONNREFUSED too.\n",
        "NONE - the session only explained a 401 Unauthorized.",
        "Here they are:\n\n"
        + block("TLS at the proxy")
        + "\n503 Service Unavailable is sent to the client.\n",
    ],
)
def test_words_of_a_reply_that_quotes_errors_are_content(text: str) -> None:
    if has_form(decisions, text):
        assert (read(text).text, read(text).trouble) == (text, "")


def test_operations_whose_reason_quotes_an_error_are_content() -> None:
    text = '{"operations":[{"op":"delete","file":"a.md","reason":"rate limit exceeded: 429"}]}'
    result = Result(0, text.encode(), b"", False, 1.0)
    assert read_result(result, lambda reply: has_form(operations, reply)).text == text


@pytest.mark.parametrize(
    "text", ["I would choose a proxy with its own certificate.", "We talked about DNS, TLS and the tunnel."]
)
def test_prose_about_networks_counts_as_a_reply_of_the_part(text: str) -> None:
    assert read(text).trouble not in SPENT_NOTHING


@pytest.mark.parametrize(
    ("status", "stderr", "kind"),
    [
        (127, "/usr/bin/env: 'node': No such file or directory", "start"),
        (126, "sh: ./pi: Permission denied", "start"),
        (126, "bad interpreter: Exec format error", "start"),
        (127, "", "start"),
        (-9, "", "failed"),
        (1, "what nobody has seen before", "failed"),
        (-11, "", "failed"),
    ],
)
def test_a_program_that_could_not_start(status: int, stderr: str, kind: str) -> None:
    assert read("", status, stderr).trouble == kind


# -- the result object


def envelope(text: object, **more: object) -> dict[str, object]:
    """A result object of Claude Code."""
    return {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "result": text,
        "total_cost_usd": 0.5,
        **more,
    }


EVENTS = [{"type": "system", "subtype": "init"}, {"type": "assistant", "message": {"content": []}}]
FORMS = {
    "notices around": f"Update available!\n{json.dumps(envelope(block()))}\nRun `claude update`.\n",
    "pretty with notices around": f"Note: x\n{json.dumps(envelope(block()), indent=4)}\nBye\n",
    "events, the result not last": "\n".join(
        map(json.dumps, [*EVENTS, envelope(block()), {"type": "rate_limit"}])
    ),
    "array, the result not last": json.dumps([*EVENTS, envelope(block()), {"type": "rate_limit"}]),
    "pretty array": "x\n" + json.dumps([*EVENTS, envelope(block())], indent=1) + "\ny",
    "blocks": json.dumps(envelope([{"type": "text", "text": block()}])),
    "colours": f"\x1b[2K\x1b[32m{json.dumps(envelope(block()))}\x1b[0m\r\n",
    "carriage returns and a mark": "\ufeff" + json.dumps(envelope(block()), indent=1).replace("\n", "\r\n"),
    "two results": json.dumps(envelope("NONE")) + "\n" + json.dumps(envelope(block())),
    "a bracket in a notice": "[notice] {x\n" + json.dumps(envelope(block())),
}


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS.keys())
def test_the_result_object_is_found_wherever_it_is(text: str) -> None:
    found = read(text)
    assert (found.text, found.trouble, found.cost) == (block(), "", 0.5)


@pytest.mark.parametrize("cut", [EVENTS, [*EVENTS, {"type": "user"}]])
def test_events_without_a_result_are_no_content(cut: list[object]) -> None:
    assert read("\n".join(map(json.dumps, cut))).trouble == "failed"


def test_a_program_that_answered_and_did_not_end_has_answered() -> None:
    assert read(json.dumps(envelope(block())), -15, late=True).text == block()
    assert read(block(), -15, late=True, quiet=True).text == block()
    assert (
        read(block() + "\n## ADR Second\n\n## Deci", -15, late=True, quiet=True).trouble == "timeout"
    )  # cut
    assert read(block(), -15, late=True).trouble == "timeout"  # it may still have been writing
    assert read("thinking", -15, late=True, quiet=True).trouble == "timeout"


def test_too_much_output_is_its_own_trouble() -> None:
    found = read(block(), -15, late=True, too_long=True)
    assert (found.trouble, "4 MB" in found.detail) == ("too long", True)
    assert "too long" not in SPENT_NOTHING


@pytest.mark.parametrize(
    "line", ["[1,\n", '{"a":\n', "[notice]\n", '{"type":"system"}\n', "\x1b[1m{\n", "a://", "/a"]
)
def test_reading_a_reply_is_linear(line: str) -> None:
    assert_linear(read, line * 20_000)
