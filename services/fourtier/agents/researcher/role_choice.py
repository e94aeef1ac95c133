"""By which method a research goes: as its request says, or else the flow."""

from typing import get_args

from fourtier.agents.researcher.budget import Budget
from fourtier.agents.researcher.facts import FactReader
from fourtier.agents.researcher.fallback import RolesWithFallback
from fourtier.agents.researcher.overview import OverviewReader
from fourtier.agents.researcher.parameters import ResearcherParameters
from fourtier.agents.researcher.roles import Roles
from fourtier.agents.researcher.roles_by_model import RolesByModel
from fourtier.agents.researcher.roles_by_rule import RolesByRule
from fourtier.models.text.prompts import read_prompt
from fourtier.runtime.rpc.caller import Caller
from fourtier.runtime.settings import Settings
from fourtier.schema.researcher import ResearchRequest, Role


class RoleChoice:
    """Makes the roles of each research.

    Raises:
        StartupError: the flow names a prompt that cannot be read, or is empty.
    """

    def __init__(
        self, caller: Caller, settings: Settings, parameters: ResearcherParameters
    ) -> None:
        self._caller = caller
        self._settings = settings
        self._parameters = parameters
        self._facts = FactReader(caller, parameters.facts_seconds)
        self._prompts: dict[Role, str] = {
            role: read_prompt("fourtier.agents.researcher", role, parameters.prompts.get(role))
            for role in get_args(Role)
        }

    def of(self, request: ResearchRequest) -> tuple[Roles, Budget]:
        """The roles for a request, and the budget that they share."""
        parameters = self._parameters
        method = parameters.method_of(request, self._settings)
        budget = Budget(parameters.research_seconds, method, parameters.max_completions)
        if method == "rule":
            names = parameters.names_from_facts
            mentioning = self._facts.of(request) if names else None
            return RolesByRule(mentioning, names), budget
        # What a research by a model has searched for is kept for a while, so none of its searches
        # may come from a fact that can be forgotten meanwhile.
        overview = OverviewReader(
            self._caller, request.scope, parameters.memo_tokens, request.embedding
        )
        model = RolesByModel(
            self._caller, self._prompts, budget, parameters.prompt_tokens, overview
        )
        return RolesWithFallback(
            model, RolesByRule(), budget, parameters.completion_seconds
        ), budget
