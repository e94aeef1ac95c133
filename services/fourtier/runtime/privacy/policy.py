"""What a flow does with personal data: the section `privacy` of a flow file."""

from functools import cached_property
from typing import Literal, cast

from pydantic import Field

from fourtier.runtime.config import Config
from fourtier.runtime.privacy.kinds import KINDS, Kind
from fourtier.schema.message import Identifier

Action = Literal["keep", "redact", "reject"]


class PrivacyPolicy(Config):
    """For each kind: `keep` it, `redact` it, or `reject` the message that has it.

    What records what has happened cannot be rejected: there `reject` takes the data out as `redact`
    does. Which messages are rejected is up to the service that handles them (`require_allowed`).
    """

    credential: Action = Field(default="reject", description="passwords, keys, tokens, PINs")
    payment_card: Action = Field(default="reject", description="numbers of payment cards")
    iban: Action = Field(default="redact", description="bank accounts")
    passport: Action = Field(default="redact", description="passport numbers")
    national_id: Action = Field(
        default="redact", description="social security, tax and identity card numbers"
    )
    email: Action = Field(default="keep", description="e-mail addresses")
    telephone: Action = Field(default="keep", description="telephone numbers")
    health: Action = Field(
        default="redact", description="somebody's diagnoses and medication; not allergies and diets"
    )

    opted_out_users: frozenset[Identifier] = Field(
        default=frozenset(), description="who is never remembered, such as a shared guest account"
    )

    def action(self, kind: Kind) -> Action:
        """What happens to data of this kind."""
        return cast("Action", getattr(self, kind.replace("-", "_")))

    @cached_property
    def sought(self) -> frozenset[Kind]:
        """The kinds that may not be written."""
        return frozenset(kind for kind in KINDS if self.action(kind) != "keep")


#: For what is read by operators and programs, and not by memory: logs and the reasons of dead
#: letters. Illnesses are words as others are, and a log line says little without its words.
IN_LOGS = PrivacyPolicy.model_validate(dict.fromkeys(KINDS, "redact") | {"health": "keep"})
