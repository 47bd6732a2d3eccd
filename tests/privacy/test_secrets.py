"""What a mask takes out and what it leaves, by kind: tokens, names, places, addresses, words that only look so."""

from __future__ import annotations

import random
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.cost import assert_linear

from decision_hooks.privacy import mask
from decision_hooks.privacy.rules import tokens
from decision_hooks.privacy.rules.secrets import CATEGORIES

WORD = string.ascii_letters + string.digits
URL = WORD + "_-"
HEX = "0123456789abcdef"
LOWER = string.ascii_lowercase + string.digits
CAPITALS = string.ascii_uppercase + string.digits
BASE64 = WORD + "+/"
UUID = "9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d"


def rest(alphabet: str, length: int, seed: int = 0) -> str:
    """Random characters, the same in each run; the first is a digit, so that none is a word by chance."""
    source = random.Random(f"{alphabet}{length}{seed}")
    first = "7" if "7" in alphabet else alphabet[0]
    return first + "".join(source.choice(alphabet) for _ in range(length - 1))


def left_of(secret: str, text: str) -> str:
    """The longest part of a secret of eight characters or more that is still in a text."""
    for length in range(len(secret), 7, -1):
        for at in range(len(secret) - length + 1):
            if secret[at : at + length] in text:
                return secret[at : at + length]
    return ""


TOKENS = {
    "gsk_": "gsk_" + rest(WORD, 52),
    "xai-": "xai-" + rest(WORD, 80),
    "pplx-": "pplx-" + rest(WORD, 48),
    "r8_": "r8_" + rest(WORD, 37),
    "sk- with T3BlbkFJ": "sk-" + rest(WORD, 20) + "T3BlbkFJ" + rest(WORD, 20, 1),
    "sk-lf- uuid": "sk-lf-" + UUID,
    "SG.": "SG." + rest(URL, 22) + "." + rest(URL, 43),
    "glrt-": "glrt-" + rest(WORD, 20),
    "shpat_": "shpat_" + rest(HEX, 32),
    "dop_v1_": "dop_v1_" + rest(HEX, 64),
    "hvs.": "hvs." + rest(URL, 95),
    "dapi": "dapi" + rest(HEX, 32),
    "figd_": "figd_" + rest(WORD, 40),
    "ntn_": "ntn_" + rest(string.digits, 11) + rest(WORD, 35),
    "lin_api_": "lin_api_" + rest(WORD, 40),
    "ya29.": "ya29." + rest(URL, 120),
    "sbp_": "sbp_" + rest(HEX, 40),
    "glsa_": "glsa_" + rest(WORD, 32) + "_" + rest(HEX, 8),
    "NRAK-": "NRAK-" + rest(CAPITALS, 27),
    "dp.st. with a config": "dp.st.prd_eu." + rest(WORD, 43),
    "ABSK of base64": "ABSK" + rest(BASE64, 120),
    "sntrys_ of base64": "sntrys_eyJ" + rest(BASE64, 150) + "_" + rest(WORD, 43),
    "telegram": "1234567890:AA" + rest(URL, 33),
    "azure ad": "aB7" + "8Q~" + rest(WORD, 34),
    "terraform": rest(WORD, 14) + ".atlasv1." + rest(WORD, 64),
    "mailgun": rest(HEX, 32) + "-" + rest(HEX, 8) + "-" + rest(HEX, 8, 2),
    "mailchimp": rest(HEX, 32) + "-us12",
    "asana": "1/1234567890123456:" + rest(HEX, 32),
    "salesforce": "00D" + rest(WORD, 12) + "!" + rest(WORD, 96),
    "age": "AGE-SECRET-KEY-1" + rest("023456789ACDEFGHJKLMNPQRSTUVWXYZ", 58),
    "AKIA of letters": "AKIAQWERTZUIPASDFGHJ",
    "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhYmNkZWYifQ." + rest(URL, 43),
}
AROUND = (
    "We keep {} in the vault.",
    "`{}`",
    "токен:{}",
    '{{"a":"\\u0022{}\\u0022"}}',
    "first\\n{}\\nlast",
    "https://x.org/cb?state=a%3D{}%26b=1",
    "\\u001b[32m{}\\u001b[0m",
    "| key | {} | prod |",
    "X_{}",
)


# A token without a beginning of its own begins at a word.
SHAPES = ("mailgun", "mailchimp", "terraform")


@pytest.mark.parametrize(
    ("name", "form"),
    [(name, form) for name in TOKENS for form in AROUND if form != "X_{}" or name not in SHAPES],
)
def test_a_token_vanishes_whole_whatever_is_before_it(name, form):
    assert left_of(TOKENS[name], mask.mask(form.format(TOKENS[name])).text) == ""


def test_a_long_beginning_is_known_within_a_word():
    token = "ghp_" + rest(WORD, 36)
    assert left_of(token, mask.mask(f"mytoken{token}").text) == ""


def test_every_row_of_the_tables_can_be_read():
    for number, (category, beginnings, _) in enumerate(tokens._FAMILIES):
        assert category in CATEGORIES
        assert beginnings.split()
        tokens._family(number)
    for number in range(len(tokens._BEHIND)):
        tokens._around(number)
    for number in range(len(tokens._WHOLE)):
        tokens._whole(number)


NAMED = [
    ("DATABASE_PASSWORD=Winter2031x", "Winter2031x"),
    ("DB_PASS=k3#mmZq!", "k3#mmZq!"),
    ("NPM_TOKEN=horsebatterystaplecorrect", "horsebatterystaplecorrect"),
    ('passphrase = "battery-staple-correct-horse"', "battery-staple-correct-horse"),
    ('{"signingKey": "Hh3CXlMaXZjljENUhJduRHHJEYXg4JdpmrcXgGCK"}', "Hh3CXlMaXZjljENUhJduRHHJEYXg4JdpmrcXgGCK"),
    ("password: 4k!rzPq2", "4k!rzPq2"),
    ("Passwort: 4k!rzPq2", "4k!rzPq2"),
    ("senha: 4k!rzPq2xx", "4k!rzPq2xx"),
    ("пароль - нет. Пароль: 4k!rzPq2", "4k!rzPq2"),
    ("machine git.io\n  login bob\n  password Mt6daguzDslM", "Mt6daguzDslM"),
    ("MYSQL_PWD=ZCq65km2n mysqladmin ping", "ZCq65km2n"),
    ("kubectl create secret generic s --from-literal=password=K9Pass2031x", "K9Pass2031x"),
    ("host=db user=app password=dvxAcB9MH4Q dbname=app", "dvxAcB9MH4Q"),
    ("CREATE USER a IDENTIFIED BY 'jKwy%TVS7rfH'", "jKwy%TVS7rfH"),
    ("<password>4yPtS5*rSv</password>", "4yPtS5*rSv"),
    ('<add key="ClearTextPassword" value="4yPtS5rSvq" />', "4yPtS5rSvq"),
    ("- name: DB_PASSWORD\n  value: 4yPtS5rSvq", "4yPtS5rSvq"),
    ("\\u0022password\\u0022:\\u0022Rm3vcxjZBnH\\u0022", "Rm3vcxjZBnH"),
    ("The password is 3V#UVD#qqf until Friday.", "3V#UVD#qqf"),
    ("The Cloudflare key is " + rest(WORD, 40) + ", it is old", rest(WORD, 40)),
    ("SNYK_TOKEN=" + UUID, UUID),
    ("Pwd={QFmkcplOpRdG8L};", "QFmkcplOpRdG8L"),
    ("curl -u ci:X2r9JRUxJfL https://a.io/x", "X2r9JRUxJfL"),
    ("curl -sS \\\n  --user 'ci:X2r9 JRUxJfL1' https://a.io/x", "JRUxJfL1"),
    ("mysql -u root -pJJaRS0TO5F shop", "JJaRS0TO5F"),
    ("sshpass -p 'zfCk!a6WBqX' ssh a@b", "zfCk!a6WBqX"),
    ("redis-cli -h c -a DI7nwdHQPS PING", "DI7nwdHQPS"),
    ("podman login r.io -u ci -p 8eCpW30KNdc", "8eCpW30KNdc"),
    ("ldapsearch -x -D cn=a -w JzfHT9YAoTRK -b dc=a", "JzfHT9YAoTRK"),
    ("echo 8eCpW30KNdc | docker login -u a --password-stdin", "8eCpW30KNdc"),
    ("echo 'bob:8eCpW30KNdc' | chpasswd", "8eCpW30KNdc"),
    ("Cookie: theme=dark; connect.sid=s%3A7Zk2mQ9xR4tV8wB1nC5p; a=b", "s%3A7Zk2mQ9xR4tV8wB1nC5p"),
    ("db.io:5432:orders:app:2d1S!4F5G%Y4g", "2d1S!4F5G%Y4g"),
    ('{"auths":{"r.io":{"auth":"Y2k6UFpVV2s1VnNFSWxXT2QzTg=="}}}', "Y2k6UFpVV2s1VnNFSWxXT2QzTg=="),
    ("kind: Secret\nmetadata:\n  name: a\ndata:\n  user: YWRtaW4=\n  uri: cG9zdGdyZXM6Ly8x\n", "cG9zdGdyZXM6Ly8x"),
    ('{"kty":"EC","x":"abc","d":"' + rest(URL, 43) + '"}', rest(URL, 43)),
    ("Private-Lines: 1\n" + rest(BASE64, 60) + "\nPrivate-MAC: 1", rest(BASE64, 60)),
    ("jdbc:oracle:thin:crm/1KszDUOYsKZs@//o.io:1521/XE", "1KszDUOYsKZs"),
    ("https://" + rest(WORD, 40) + "@git.io/a.git", rest(WORD, 40)),
    ("postgres://app:k9V@Tz!4qWb7@db:5432/app", "k9V@Tz!4qWb7"),
    ("https://uptime.betterstack.com/api/v1/heartbeat/" + rest(WORD, 24), rest(WORD, 24)),
    ("https://hc-ping.com/" + UUID, UUID),
    ("https://discordapp.com/api/webhooks/123456789012345678/" + rest(URL, 68), rest(URL, 68)),
    ("https://hooks.zapier.com/hooks/catch/1234567/q4apqkj/", "q4apqkj"),
    ("https://n8n.acme.io/webhook/" + UUID, UUID),
    ("https://maker.ifttt.com/trigger/door/with/key/" + rest(URL, 43), rest(URL, 43)),
    ("https://b.s3.amazonaws.com/k?X-Amz-Date=1&X-Amz-Signature=" + rest(HEX, 64), rest(HEX, 64)),
    ("https://d.cloudfront.net/v?Expires=1&Signature=" + rest(URL, 90) + "__&Key-Pair-Id=K2", rest(URL, 90)),
    ("https://a.io/app.atom?feed_token=" + rest(WORD, 20), rest(WORD, 20)),
    ("otpauth://totp/a?secret=KL6GK6ADE26XORCRA6B4ALND&issuer=a", "KL6GK6ADE26XORCRA6B4ALND"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "secret"), NAMED)
def test_a_secret_of_a_known_name_or_place_vanishes_whole(text, secret):
    masked = mask.mask(text).text
    assert secret not in masked
    assert left_of(secret, masked) == ""


HARMLESS = [
    "tokenizer = AutoTokenizer.from_pretrained('meta-llama/Llama-3.1-8B-Instruct')",
    "the tokenizer `cl100k_base` counts more than `o200k_base`",
    "token: gitlab-runner-registration-token-3",
    "token=long-lived-90day-sliding",
    "secret: kv/data/teams/core7/config2027",
    "csrf_token=csrf_token_4_form_name_y",
    "password: required, at least 14 characters",
    "пароль: мінімум 14 символів",
    "interface A { user: string; password: string }",
    "def verify(password: str, hashed: bytes) -> bool:",
    "password: process.env.DB_PASSWORD",
    "password = var.db_password",
    'const token = localStorage.getItem("accessToken");',
    "NPM_TOKEN: ***",
    "OPENAI_API_KEY=<your-key-here>",
    "OPENAI_API_KEY=sk-...",
    "api_key: ${{ secrets.API_KEY }}",
    "export VAULT_TOKEN=$(vault print token)",
    "curl -u user:password https://a.io",
    "curl -u $USER:$TOKEN https://a.io",
    'mysql -u root -p"$PW" shop',
    "docker login -u ci --password-stdin r.io",
    "docker run -p 8080:8080 -u 1000:1000 app",
    "postgres://user:password@localhost:5432/app",
    "jdbc:postgresql://localhost:5432/app is the default",
    "postgresql://app@db.acme.io/orders",
    "redis://localhost:6379/0",
    "https://hooks.slack.com/services/T…/B…/…",
    "https://discord.com/api/webhooks/<id>/<token>",
    "https://github.com/acme/webhook-relay/blob/main/src/hooks/use-session-token.ts",
    '"sessionId": "8e8a4b99-5bfa-44f1-9c17-8458cdfb2c81"',
    '"tokenId": "aa028d00-14fa-425a-8011-9563ad18b6ed"',
    '"publicKey": "MCowBQYDK2VwAyEAgVlN0DC2TPhfwuSZeF5u/Xgn5s1gWigcbM2QitU4Xho="',
    "resolution: {integrity: sha512-Ijfl0p2T19uB6pDC3Q3gYcco6b5SMPeji5e2xt4ftXw6a6Ul54wCIiTx==}",
    "git cherry-pick -x ffddfb2b2b3f96ec54c984a30bb16ea04c35d4fa",
    "Authorization: https://a.io/rfc6749",
    "admin:x:1000:1000:Admin,,,:/home/admin:/bin/bash",
    "10.0.4.7:54321 -> 10.0.4.9:5432 password authentication ok",
    "primary key is orders_2026_pkey_partition_17",
    "2026-05-18 token_count=17 api-v2/items/2026-05-18T09",
]


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_speaks_of_secrets_stays(text):
    assert mask.mask(text) == (text, {})


def test_numbers_and_addresses_in_a_row_are_all_masked():
    assert mask.mask("123-45-6789 " * 3).text == "[national_identifier] " * 3
    assert mask.mask("425-555-0100 " * 3).text == "[phone_number] " * 3
    assert mask.mask("https://a:s3cret@b.io/x " * 3).text == "[db_uri_with_credentials] " * 3


BEGINNINGS = [
    *(beginning for _, beginnings, _ in tokens._FAMILIES[::4] for beginning in beginnings.split()[:1]),
    "a",
    "1",
    "1a",
    "@",
    "@a.",
    "a@b.co ",
    "+1",
    "eyJ-",
    "_eyJaaaaaaaa.",
    "token=",
    "token=ghp_",
    "_authToken=",
    "key is ",
    "password: 'a",
    "--password ",
    "пароль: ",
    "ключ ",
    "://a:",
    "://a:b@",
    "http://a:b1@c ",
    "http://10.",
    "sig=",
    "?sig=",
    "host=a;database=b;",
    "server=a;",
    "jdbc:a:b@",
    "accountkey=",
    "authorization: ",
    "curl -u a:b1c2d3 ",
    " -p",
    "sshpass -p",
    "cookie: a=b;",
    '"kty" "d":"',
    "kind: Secret\n",
    "kind: Secret\ndata:\n a: b\n",
    "Private-Lines: 1\nAAAA\n",
    "mnemonic abc ",
    "hooks/aaa",
    "://hooks.slack.com/services/",
    ":5432:a:b:",
    "-----BEGIN PRIVATE KEY-----\n",
    "|",
    "Q~",
    "0a-0a_",
    "a/",
    '"',
    "`",
    "=",
    "\\u0022",
    "%3D",
    "123-45-6789 ",
    "425-555-0100 ",
    "067 123 45 67 ",
    "\n",
    "\0",
    "\\\n -u x:y",
]


@pytest.mark.parametrize("unit", BEGINNINGS)
def test_the_time_of_a_mask_grows_with_the_length_of_the_text(unit):
    assert_linear(lambda text: mask.mask(text, every=True), unit * (60_000 // len(unit)))


PIECES = [
    *(text for text, _ in NAMED),
    *HARMLESS[:12],
    *list(TOKENS.values())[:8],
    "-----BEGIN RSA PRIVATE KEY-----",
]
TEXTS = st.lists(
    st.one_of(
        st.sampled_from(PIECES),
        st.sampled_from([" ", "\n", "\\", "=", ": ", '"', "-u ", "\0"]),
        st.text(max_size=6),
    ),
    max_size=6,
).map("".join)


@settings(max_examples=300, deadline=None)
@given(st.lists(TEXTS, max_size=5))
def test_many_texts_in_one_pass_are_masked_as_each_alone(texts):
    assert mask.outgoing_all(texts, "/home/bob") == [mask.outgoing(text, "/home/bob") for text in texts]
