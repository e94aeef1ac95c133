"""The calculator and the clock."""

from datetime import datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from fourtier.tools.contract import ToolError


def calculator(expression: str) -> str:
    """Work out an arithmetic expression, such as "12 * (3.5 + 1)" or "2 ** 10 % 7"."""
    from simpleeval import InvalidExpression, simple_eval  # noqa: PLC0415 - of the extra `service`

    try:
        return str(simple_eval(expression.replace("^", "**")))
    except (InvalidExpression, SyntaxError, ArithmeticError, TypeError, ValueError) as error:
        raise ToolError(f"{expression!r} cannot be worked out: {error}") from error


def clock(time_zone: str = "UTC") -> str:
    """Tell the date, the weekday and the time in a time zone, such as "Europe/Oslo"."""
    try:
        now = datetime.now(ZoneInfo(time_zone))
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise ToolError(
            f"{time_zone!r} is not a time zone: use a name such as Europe/Oslo"
        ) from error
    return now.strftime("%A, %Y-%m-%d %H:%M:%S %Z")
