"""A secret is known by the form of its value; a word of a sentence is none, whatever is named."""

import pytest

from fourtier.runtime.privacy.credentials import credentials
from fourtier.runtime.privacy.finding import find

SECRETS = [
    ("TOKEN=abcdef1234567890", "abcdef1234567890"),
    ("export STRIPE_KEY=51HxQ2eKZvabc99", "51HxQ2eKZvabc99"),
    ("STRIPE_KEY: 'abc123def456'", "abc123def456"),
    ('"apiKey": "q8Zr71mmPz0w"', "q8Zr71mmPz0w"),
    ("AUTH_SECRET = 9f8e7d6c5b4a", "9f8e7d6c5b4a"),
    ("curl -u admin:pw https://example.com", "pw"),
    ("curl -s --user admin:pw https://example.com", "pw"),
    ("curl https://example.com -uadmin:'open sesame'", "open sesame"),
    ("mysqldump --password=swordfish shop", "swordfish"),
    ("DB_PASSWORD=swordfish", "swordfish"),
    ("my password is correct horse battery staple", "correct horse battery staple"),
    ("password=correct horse battery staple", "correct horse battery staple"),
    ("Passphrase: correct-horse-battery-staple.", "correct-horse-battery-staple"),
    ("The password is 'correct horse battery staple', ok?", "correct horse battery staple"),
    ("wJ8lrXUtnF4MIK7MD3Gb", "wJ8lrXUtnF4MIK7MD3Gb"),
    ("keep this: q2Zr-71mmPz0w_Kx4T9vBn", "q2Zr-71mmPz0w_Kx4T9vBn"),
    ("my passphrase is Tr0ub4dor&3", "Tr0ub4dor&3"),
    ("https://ann:open@example.com/x", "open"),
]
HARMLESS = [
    "The credentials of the Proton Mail bridge are kept by Ola.",
    "The secret key to happiness is patience",
    "My PIN is 1 of 3",
    "correct horse battery staple",
    "He wrote a comic about a correct horse battery staple.",
    "The recovery phrase is written on paper",
    "My password is hard to remember",
    "The password is always the same here.",
    "Her password was stolen last year.",
    "My passwords are all different",
    "Le mot de passe est obligatoire",
    "The security answer is Fluffy",
    "The password is case-sensitive",
    "The access token is base64 encoded",
    "password: 8-20 characters",
    "The PIN is 4 digits long",
    "The door code is in the 3rd drawer",
    "She has a basic internationalization course",
    "if (password == null) return;",
    "TOKEN=$OTHER_TOKEN",
    "token = os.environ['TOKEN']",
    "PASSWORD=<your password>",
    "Issue key: PROJECT-12345",
    "sort_key=created_at",
    "docker run -u 1000:1000 image",
    "commit 4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "run 4fa171d9-03a8-5198-9c2b-a08930b4330f",
    "TestHTTP2ServerConnectionPool3Factory fails",
    "key fingerprint SHA256:nThbg6kXUpJWGl7E1IGOCspRomTxdCARLviKw6E5SY8",
    "https://docs.example.com/d/1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms/edit",
    "conversation 20260301-101500-a1b2c3",
    "The meeting about access codes is at 10:30",
]


@pytest.mark.parametrize(("text", "secret"), SECRETS)
def test_a_secret_is_found_whole(text: str, secret: str) -> None:
    assert secret in {text[start:end] for start, end in credentials(text)}
    assert [span.kind for span in find(text, ["credential"])] == ["credential"]


@pytest.mark.parametrize("text", HARMLESS)
def test_a_harmless_sentence_stays_whole(text: str) -> None:
    assert list(credentials(text)) == []
