"""Tokens that are known by their shape: one row a family. Facts of public lists of such shapes, in our own words.

A token is looked for where a long run of letters and digits is. There its beginning is looked up in a table, and the
expression of a family is compiled when its beginning is met, so that a family more costs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from decision_hooks.privacy.rules.hits import Hit, Text, is_sample_token, occurrences

_HEAD = 256  # characters of a token that may show it to be a sample
_GLUED = 4  # characters of a beginning that is known even when letters precede it

# What follows a beginning, in classes of one character.
_CLASSES = {
    "w": "[A-Za-z0-9]",
    "u": "[A-Za-z0-9_-]",
    "s": "[A-Za-z0-9+/]",
    "h": "[0-9a-fA-F]",
    "l": "[a-z0-9]",
    "c": "[A-Z0-9]",
    "d": "[0-9]",
}
_UUID = "h{8}-h{4}-h{4}-h{4}-h{12}"

# category, beginnings, what follows: classes with counts, all else literal; "$" no letter or digit may follow
_FAMILIES: tuple[tuple[str, str, str], ...] = (
    ("cloud_access_key_id", "ABSK", "s{90,}={0,2}"),
    ("cloud_access_key_id", "apk_user_ fm2_ fm1r_ fm1a_", "s{60,}={0,2}"),
    ("cloud_access_key_id", "ops_", "eyJ[A-Za-z0-9+/_-]{100,}={0,2}"),
    ("cloud_access_key_id", "SWMKEY-1-", "s{40,}={0,2}"),
    ("cloud_access_key_id", "dp.st.", "w{36,}"),
    ("chat_webhook_token", "xoxd-", "[A-Za-z0-9+/%]{60,}={0,2}"),
    ("generic_secret_assignment", "whsec_", "s{24,}={0,2}"),
    ("generic_secret_assignment", "sntrys_", "eyJ[A-Za-z0-9+/=_-]{80,}"),
    ("generic_secret_assignment", "glc_", "[A-Za-z0-9+/_-]{40,}={0,2}"),
    ("cloud_access_key_id", "AKIA ASIA AGPA AIDA AROA ANPA ANVA ABIA ACCA", "c{16}$"),
    ("cloud_access_key_id", "LTAI", "w{12,24}$"),
    ("cloud_access_key_id", "AIza", "u{35,}"),
    ("cloud_access_key_id", "AQ.", "Ab8RN6u{30,}"),
    ("cloud_access_key_id", "ya29.", "u{30,}"),
    ("cloud_access_key_id", "GOCSPX-", "u{24,}"),
    ("cloud_access_key_id", "1//", "0u{30,}"),
    ("cloud_access_key_id", "AQVN", "u{33,38}$"),
    ("cloud_access_key_id", "t1.", "u{40,}.u{80,}={0,2}"),
    ("cloud_access_key_id", "hf_ api_org_", "w{30,}"),
    ("cloud_access_key_id", "sk_live_ rk_live_ sk_test_ rk_test_ rk_prod_ sk_prod_", "w{16,}"),
    ("cloud_access_key_id", "sk-", "w{20,}$"),
    (
        "cloud_access_key_id",
        "sk-ant- sk-proj- sk-svcacct- sk-admin- sk-or- sk-api- sk-lf- sk-None-",
        "u{16,}",
    ),
    ("cloud_access_key_id", "gsk_", "w{40,}"),
    ("cloud_access_key_id", "xai-", "[A-Za-z0-9_]{50,}"),
    ("cloud_access_key_id", "pplx-", "w{40,}"),
    ("cloud_access_key_id", "r8_", "w{30,}"),
    ("cloud_access_key_id", "csk-", "l{40,}"),
    ("cloud_access_key_id", "nvapi-", "u{40,}"),
    ("cloud_access_key_id", "tgp_v1_", "u{36,}"),
    ("cloud_access_key_id", "pcsk_", "w{4,8}_w{40,}"),
    ("cloud_access_key_id", "sk_", f"(?:h{{40,}}|{_UUID})$"),
    ("cloud_access_key_id", "sk_1x1_", "h{48,}"),
    ("cloud_access_key_id", "lsv2_pt_ lsv2_sk_", "h{32}_h{8,}"),
    ("cloud_access_key_id", "wandb_v1_", "[A-Za-z0-9_]{50,}"),
    ("cloud_access_key_id", "key_", "h{64}$"),
    ("cloud_access_key_id", "BSA", "u{27,31}$"),
    ("cloud_access_key_id", "dop_v1_ doo_v1_ dor_v1_", "h{48,}"),
    ("cloud_access_key_id", "ucat_", "w{20,}"),
    ("cloud_access_key_id", "cfut_ cfat_ cfk_", "w{36,}"),
    ("cloud_access_key_id", "v1.0-", "h{24}-h{100,}"),
    ("cloud_access_key_id", "HRKU-", "u{36,}"),
    ("cloud_access_key_id", "nfp_ nfc_ nfo_ nfu_", "w{30,}"),
    ("cloud_access_key_id", "vcp_ vci_ vck_ vca_ vcr_", "u{40,}"),
    ("cloud_access_key_id", "rnd_", "w{24,}$"),
    ("cloud_access_key_id", "fo1_", "u{36,}"),
    ("cloud_access_key_id", "sbp_", "(?:oauth_|v0_)?h{36,}"),
    ("cloud_access_key_id", "sb_secret_", "u{24,}"),
    ("cloud_access_key_id", "napi_", "w{50,}"),
    ("cloud_access_key_id", "pscale_tkn_ pscale_oauth_ pscale_pw_", "[A-Za-z0-9_.=-]{30,}"),
    ("cloud_access_key_id", "CCDB1_", "w{20,}_w{36,}"),
    ("cloud_access_key_id", "AstraCS:", "w{18,26}:h{60,}"),
    ("cloud_access_key_id", "mdb_sa_sk_", "u{36,}"),
    ("cloud_access_key_id", "dapi dose dkea", "h{32}(?:-d)?$"),
    ("cloud_access_key_id", "essu_", "u{50,}={0,2}"),
    ("cloud_access_key_id", "4b1d", "w{38}$"),
    ("cloud_access_key_id", "dp.pt. dp.ct. dp.scim. dp.audit. dp.said.", "w{36,}"),
    ("cloud_access_key_id", "ico-", "w{32,}$"),
    ("cloud_access_key_id", "pul-", "h{40,}$"),
    ("cloud_access_key_id", "hvs. hvb. hvr.", "u{20,}"),
    ("cloud_access_key_id", "pnu_ pnb_", "w{30,}"),
    ("cloud_access_key_id", "pat.", "u{20,24}.h{20,26}.w{18,}"),
    ("cloud_access_key_id", "API-", "(?=[A-Z]*[0-9])c{26}$"),
    ("cloud_access_key_id", "tk-us- tk-eu-", "u{40,}"),
    ("cloud_access_key_id", "sha256~", "u{40,}"),
    ("cloud_access_key_id", "ddp_ ddw_ ddo_", "w{30,}"),
    ("cloud_access_key_id", "tskey-", "[a-z]{3,12}-w{8,}(?:-w{16,})?"),
    ("cloud_access_key_id", "A3-", "c{6}-c{6,11}(?:-c{5}){3,5}$"),
    ("cloud_access_key_id", "AGE-SECRET-KEY- AGE-PLUGIN-", "c{20,}(?:-c{20,})?"),
    ("cloud_access_key_id", "SWMTKN-1-", "l{40,}-l{20,}"),
    ("source_control_token", "ghp_ gho_ ghu_ ghs_ ghr_", "w{36,}"),
    ("source_control_token", "github_pat_", "[A-Za-z0-9_]{22,}"),
    ("source_control_token", "glpat-", "u{20,}(?:.l{2}.l{7,9})?"),
    (
        "source_control_token",
        "gldt- glrt- glrtr- glft- glimt- glagent- gloas- glsoat- glffct- glptt- glwt-",
        "u{18,}(?:.l{2}.l{7,9})?",
    ),
    ("source_control_token", "glcbt-", "w{1,5}_u{18,}"),
    ("source_control_token", "GR1348941", "u{20,}"),
    ("source_control_token", "_gitlab_session=", "h{32}"),
    ("source_control_token", "ATBB", "w{24,}$"),
    ("source_control_token", "ATATT3 ATCTT3", "[A-Za-z0-9_=-]{60,}"),
    ("source_control_token", "CCIPAT_ CCIPRJ_", "w{20,}_h{40,}"),
    ("source_control_token", "bkua_ bkaj_ bkct_ bkpt_", "h{36,}"),
    ("source_control_token", "squ_ sqp_ sqa_", "h{36,}"),
    ("source_control_token", "sqco_", "w{50,}"),
    ("source_control_token", "sgp_", "(?:(?:local_|h{16}_)?h{40,}|w{64})$"),
    ("source_control_token", "slk_", "h{60,}"),
    ("source_control_token", "npm_", "w{36,}"),
    ("source_control_token", "pypi-", "(?=[a-z0-9_-]{0,200}[A-Z])u{30,}"),
    ("source_control_token", "rubygems_", "h{40,}"),
    ("source_control_token", "cio", "(?=[a-zA-Z]*[0-9])w{32}$"),
    ("source_control_token", "oy2", "(?=[a-z]*[0-9])l{43}$"),
    ("source_control_token", "CLOJARS_", "h{50,}"),
    ("source_control_token", "csa_", "h{30}w{4,}$"),
    ("source_control_token", "AKCp", "w{60,}"),
    ("source_control_token", "cmVmdGtu", "w{50,}"),
    ("source_control_token", "dckr_pat_ dckr_oat_", "u{24,}"),
    ("chat_webhook_token", "xoxa- xoxb- xoxp- xoxr- xoxs- xapp- xoxc- xoxo-", "[A-Za-z0-9-]{10,}"),
    ("chat_webhook_token", "xoxe- xoxe.xoxp- xoxe.xoxb-", "[A-Za-z0-9-]{40,}"),
    ("chat_webhook_token", "M N O", "u{22,27}.u{6}.u{27,}"),
    ("chat_webhook_token", "SG.", "u{16,}.u{30,}"),
    ("chat_webhook_token", "SK", "h{32}$"),
    ("chat_webhook_token", "key-", "h{32}$"),
    ("chat_webhook_token", "mlsn.", "h{50,}"),
    ("chat_webhook_token", "xkeysib- xsmtpsib-", "h{60,}-w{12,}"),
    ("chat_webhook_token", "os_v2_app_ os_v2_org_", "[a-z2-7]{60,}"),
    ("generic_secret_assignment", "sq0atp- sq0csp- sq0idp-", "u{20,}"),
    ("generic_secret_assignment", "EAAA", "u{56,}"),
    ("generic_secret_assignment", "EAA", "(?=[A-Za-z]*[0-9])w{80,}"),
    ("generic_secret_assignment", "access_token$production$ access_token$sandbox$", "l{12,}\\$h{30,}"),
    ("generic_secret_assignment", "rzp_live_ rzp_test_", "w{14,}"),
    ("generic_secret_assignment", "FLWSECK- FLWSECK_TEST-", "w{30,}(?:-X)?"),
    ("generic_secret_assignment", "pi_ seti_", "w{20,}_secret_w{20,}"),
    ("generic_secret_assignment", "access-production- access-development- access-sandbox-", _UUID),
    ("generic_secret_assignment", "shippo_live_ shippo_test_", "h{36,}"),
    ("generic_secret_assignment", "EZAK EZTK", "w{50,}"),
    ("generic_secret_assignment", "live_ test_", "(?:h{35}|(?=u{0,9}[0-9])u{40})$"),
    ("generic_secret_assignment", "pdl_live_ pdl_sdbx_", "(?:apikey_)?l{20,}_w{20,}(?:_w{3})?"),
    ("generic_secret_assignment", "ramp_sec_", "w{40,}"),
    ("generic_secret_assignment", "duffel_live_ duffel_test_", "u{36,}"),
    ("generic_secret_assignment", "$aact_prod_ $aact_hmlg_ $aact_", "[A-Za-z0-9:_=-]{50,}"),
    ("generic_secret_assignment", "polar_oat_ polar_pat_", "w{36,}"),
    ("generic_secret_assignment", "pat-na1- pat-na2- pat-na3- pat-eu1- pat-ap1-", _UUID),
    ("generic_secret_assignment", "00D", "w{12,15}![A-Za-z0-9._]{60,}"),
    ("generic_secret_assignment", "ntn_", "d{9,}w{30,}"),
    ("generic_secret_assignment", "secret_", "w{43}$"),
    ("generic_secret_assignment", "pat", "w{14}.h{64}$"),
    ("generic_secret_assignment", "key", "(?=[A-Za-z]*[0-9])w{14}$"),
    ("generic_secret_assignment", "lin_api_ lin_oauth_ lin_wh_", "w{36,}"),
    ("generic_secret_assignment", "figd_ figu_ figo_", "u{36,}"),
    ("generic_secret_assignment", "pk_", "d{7,9}_c{30,}$"),
    ("generic_secret_assignment", "tfp_", "[A-Za-z0-9_-]{36,}"),
    ("generic_secret_assignment", "CFPAT-", "u{40,}"),
    ("generic_secret_assignment", "sdk- api- mob- rel-", _UUID),
    ("generic_secret_assignment", "configcat-sdk-1/", "u{20,}/u{20,}"),
    ("generic_secret_assignment", "dvc_server_ dvc_client_ dvc_mobile_", "w{16,}"),
    ("generic_secret_assignment", "phx_", "w{36,}"),
    ("generic_secret_assignment", "sntryu_ sntrya_ sntryi_", "h{60,}"),
    ("generic_secret_assignment", "NRAK- NRJS- NRAL- NRIQ-", "w{19,}$"),
    ("generic_secret_assignment", "NRII- NRRA- NRSP-", "w{30,}"),
    ("generic_secret_assignment", "glsa_", "w{30,}_h{8}"),
    ("generic_secret_assignment", "eyJrIjoi", "w{60,}={0,2}"),
    ("generic_secret_assignment", "dt0c01. dt0s01. dt0s02. dt0s16. dt0s06.", "c{24}.c{60,}"),
    ("generic_secret_assignment", "u+", "u{18}$"),
    ("generic_secret_assignment", "rootly_", "h{60,}"),
    ("generic_secret_assignment", "PMAK-", "h{24}-h{30,}"),
    ("generic_secret_assignment", "shpat_ shpca_ shppa_ shpss_ shptka_ shpua_", "h{32,}"),
    ("generic_secret_assignment", "rdme_", "l{60,}"),
    ("generic_secret_assignment", "p8e- p8_", "w{32}$"),
    ("generic_secret_assignment", "sl. sl.u.", "u{100,}"),
    ("generic_secret_assignment", "sk.", "eyJu{60,}.u{20,}"),
    ("generic_secret_assignment", "AAAAAAAAAAAAAAAAAAAA", "(?=[A-Za-z%]*[0-9])[A-Za-z0-9%]{60,}$"),
    ("generic_secret_assignment", "1000.", "h{32}.h{32}"),
    ("generic_secret_assignment", "aio_", "w{28}$"),
    ("generic_secret_assignment", "apify_api_ apify_ui_", "w{30,}"),
    ("generic_secret_assignment", "unkey_", "w{20,}$"),
    ("generic_secret_assignment", "waka_ waka_sec_", f"(?:{_UUID}|w{{60,}})"),
    ("generic_secret_assignment", "lip_ lio_", "w{18,}$"),
    ("generic_secret_assignment", "zpka_", "h{30,}_h{8,}"),
    ("generic_secret_assignment", "endr+", "w{16,}"),
    ("generic_secret_assignment", "VF.DM. VF.WS.", "h{24}.w{14,}"),
    ("generic_secret_assignment", "thog-secret- thog-agent-", "h{30,}"),
    ("generic_secret_assignment", "KEY", "[0-9A-F]{32}_w{20,}"),
    ("generic_secret_assignment", "2", "w{26}_5w{20}$"),
    ("generic_secret_assignment", "YC", "u{38}$"),
    ("generic_secret_assignment", "tvly-", "(?:dev-|prod-)?w{28,}"),
    ("generic_secret_assignment", "fw_ fpk_", "w{22,}$"),
    ("generic_secret_assignment", "jina_ voy_ pa- fc- e2b_ exa_ re_", "[A-Za-z0-9_-]{28,}$"),
    ("generic_secret_assignment", "ctx7sk- nk_live_ dsec_ trigger_ tr_prod_ tr_dev_", "u{20,}$"),
)

# category, the mark right before a run, what is before the mark and its longest reach, the run
_BEHIND: tuple[tuple[str, str, str, int, str], ...] = (
    ("generic_secret_assignment", "Q~", "u{3}d{1}", 4, "u{31,}"),
    ("generic_secret_assignment", ".atlasv1.", "w{12,20}", 20, "[A-Za-z0-9_=-]{50,}"),
    ("generic_secret_assignment", "|", "d{15,17}", 17, "u{25,30}$"),
    ("chat_webhook_token", ":", "d{8,10}", 10, "AAu{32,}"),
    ("generic_secret_assignment", ":", "[0-2]/(?:d{13,16}/)?d{13,16}", 36, "h{32}$"),
    ("cloud_access_key_id", ".", "dp.st.[a-z0-9_-]{2,35}", 41, "w{36,}"),
)

# category, lengths of a run that is a token as a whole, its shape
_WHOLE: tuple[tuple[str, tuple[int, ...], str], ...] = (
    ("generic_secret_assignment", (50,), "h{32}-h{8}-h{8}"),
    ("chat_webhook_token", (36, 37), "h{32}-usd{1,2}"),
    ("generic_secret_assignment", (40,), "w{6}_w{29}_mmk"),
    ("generic_secret_assignment", (106,), f"w{{64}}_PF84_{_UUID}"),
    ("generic_secret_assignment", (52,), "s{42}[+]ACRw{6}"),
)
_LEAST_RUN = 14  # characters of a run that may be a token
_BEFORE_RUNS = ("~", ".", "|", ":")
_LEAST_REST = 12  # characters of a run from where a token may begin, or behind its beginning
_HASH = 64  # characters of the longest hash
_CHECKSUMS = ("sha512-", "sha256-", "sha384-", "sha1-")  # before the base64 of a hash
_LETTERS = 18  # letters in a row that may be a token without a digit
_SEPARATORS = "_-+/"  # that are in a run, and behind which a token may begin
_ONE_CASE = bytes.maketrans(b"A", b"a")
_FLAT = bytes.maketrans(b"0A_", b"aaa")


def find_tokens(t: Text) -> Iterator[Hit]:
    """Tokens of all families, in no order."""
    text = t.raw
    yield from _with_equals_signs(text)
    heads, tails, wholes = _beginnings()
    firsts = _firsts()
    is_hex = _hex().fullmatch
    done = 0
    for start, end in _runs(t):
        before = text[start - 2 : start] if start > 1 else ""
        if before[1:] in _BEFORE_RUNS:
            for hit in _behind(text, start):
                done = hit.end
                yield hit
        for number in wholes.get(end - start, ()):
            if _whole(number).fullmatch(text, start, end):
                yield Hit(_WHOLE[number][0], start, end)
        if text.startswith(_CHECKSUMS, start) or (end - start <= _HASH and is_hex(text, start, end)):
            starts = [start] if before in tails else []  # of a hash or a UUID only what is before it counts
        else:
            starts = _starts(text, start, end)
        for at in starts:
            if at < done or end - at < _LEAST_REST:
                continue
            one, found = text[at], tails.get(text[at - 2 : at], ()) if at > 1 else ()
            if one not in firsts and not found and (at == start or end - at not in wholes):
                continue
            if at > start and end - at in wholes:
                for number in wholes[end - at]:
                    if _whole(number).fullmatch(text, at, end):
                        yield Hit(_WHOLE[number][0], at, end)
            if one in firsts:
                found += heads.get(text[at : at + 2], ()) + heads.get(one, ())
            for length, beginning, number in found:
                begin = at - length
                if begin >= done and text.startswith(beginning, begin):
                    stop = _stop(text, begin, begin + len(beginning), number)
                    done = max(done, stop)
                    if stop > begin and _is_token(text, begin, begin + len(beginning), stop):
                        yield Hit(_FAMILIES[number][0], begin, stop)


def _runs(t: Text) -> Iterator[tuple[int, int]]:
    """Long runs of letters, digits and separators that have a digit beside a letter or very many letters."""
    kinds, flat = t.kinds, t.kinds.translate(_FLAT)
    least = b"a" * _LEAST_RUN
    start = flat.find(least)
    while start >= 0:
        end = flat.find(b" ", start + _LEAST_RUN)
        end = end if end >= 0 else len(flat)
        kind = kinds[start:end].translate(_ONE_CASE)
        if b"0a" in kind or b"a0" in kind or b"a" * _LETTERS in kind or t.raw.startswith("xox", start):
            yield start, end
        start = flat.find(least, end)


def _with_equals_signs(text: str) -> Iterator[Hit]:
    """Atlassian's: equals signs may cut them into short runs."""
    done = 0
    for at in occurrences(text, "ATATT3"):
        match = _atlassian().match(text, at) if at >= done else None
        if match:
            done = match.end()
            yield Hit("source_control_token", at, done)


@cache
def _atlassian() -> re.Pattern[str]:
    return re.compile(r"ATATT3[A-Za-z0-9_=-]{60,}")


def _behind(text: str, start: int) -> Iterator[Hit]:
    for number, (category, mark, _, reach, _) in enumerate(_BEHIND):
        if text.endswith(mark, 0, start):
            before, run = _around(number)
            first = before.search(text, max(0, start - len(mark) - reach), start - len(mark))
            rest = run.match(text, start)
            if first and rest and not is_sample_token(rest.group()[:_HEAD]):
                yield Hit(category, first.start(), rest.end())


def _starts(text: str, start: int, end: int) -> list[int]:
    """Where a token may begin in a run: at its start, behind the letters of an escape, and behind each - and _."""
    starts = [start]
    before = text[start - 1] if start else ""
    if before in _ESCAPES:
        escape = _escape().match(text, start - 1)
        if escape and escape.end() < end:
            starts.append(escape.end())
    starts += [mark.end() for mark in _separator().finditer(text, start, end)]
    return starts


_ESCAPES = frozenset("\\%[;=")


@cache
def _hex() -> re.Pattern[str]:
    return re.compile("[0-9a-f-]+")


@cache
def _separator() -> re.Pattern[str]:
    return re.compile(f"[{re.escape(_SEPARATORS)}]")


@cache
def _escape() -> re.Pattern[str]:
    # \\n \\u0022 \\x22 %3D, the end of a colour, an equals sign in a mail
    return re.compile(r"\\(?:u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|[nrtbfv0])|%[0-9A-Fa-f]{2}|[\[;][0-9]{0,3}m|=3D")


@cache
def _boundary() -> re.Pattern[str]:
    return re.compile(
        r"(?<![A-Za-z0-9])|(?<=\\[nrtbfv0])|(?<=\\u[0-9A-Fa-f]{4})|(?<=\\x[0-9A-Fa-f]{2})|(?<=%[0-9A-Fa-f]{2})"
        r"|(?<=[\[;][0-9]m)|(?<=[\[;][0-9]{2}m)|(?<=\[m)"
    )


_Rows = dict[str, tuple[tuple[int, str, int], ...]]


@cache
def _beginnings() -> tuple[_Rows, _Rows, dict[int, tuple[int, ...]]]:
    """Families by the first two letters of their beginning or, if it ends in a mark, the last two; and by length."""
    heads: _Rows = {}
    tails: _Rows = {}
    for number, (_, beginnings, _) in enumerate(_FAMILIES):
        for beginning in beginnings.split():
            if beginning[-1].isalnum():
                heads[beginning[:2]] = (*heads.get(beginning[:2], ()), (0, beginning, number))
            else:
                row = (len(beginning), beginning, number)
                tails[beginning[-2:]] = (*tails.get(beginning[-2:], ()), row)
    wholes: dict[int, tuple[int, ...]] = {}
    for number, (_, lengths, _) in enumerate(_WHOLE):
        for length in lengths:
            wholes[length] = (*wholes.get(length, ()), number)
    return heads, tails, wholes


@cache
def _firsts() -> frozenset[str]:
    return frozenset(beginning[0] for beginning in _beginnings()[0])


def _stop(text: str, begin: int, body: int, number: int) -> int:
    if body - begin < _GLUED and not _boundary().match(text, begin):
        return 0
    match = _family(number).match(text, body)
    return match.end() if match else 0


def _is_token(text: str, begin: int, body: int, stop: int) -> bool:
    """Whether it is no sample, and not words only: "npm_config_cache_folder_of_the_project"."""
    return not is_sample_token(text[begin : min(stop, begin + _HEAD)]) and not _words().fullmatch(
        text, body, stop
    )


@cache
def _family(number: int) -> re.Pattern[str]:
    return re.compile(_expression(_FAMILIES[number][2]))


@cache
def _around(number: int) -> tuple[re.Pattern[str], re.Pattern[str]]:
    _, _, before, _, run = _BEHIND[number]
    return re.compile(_expression(before) + r"\Z"), re.compile(_expression(run))


@cache
def _whole(number: int) -> re.Pattern[str]:
    return re.compile(_expression(_WHOLE[number][2]))


@cache
def _words() -> re.Pattern[str]:
    return re.compile(r"[a-z]+(?:[_-][a-z]+){2,}|[A-Z]+(?:[_-][A-Z]+){2,}")


def _expression(shape: str) -> str:
    shape = re.sub(r"\.(?![^\[]*\])", r"\.", shape)
    shape = re.sub(r"([wushlcd])(?=\{)", lambda match: _CLASSES[match.group(1)], shape)
    return re.sub(r"(?<!\\)\$$", "(?![A-Za-z0-9])", shape)
