"""National identity, social security and tax numbers of persons.

The check digits are those of `idnumbers`. A number whose form is like no other (a French
INSEE number, a Swedish personnummer with its hyphen) counts by itself. One that any run of digits
may be counts where the words around say that it is one: every eleventh number of nine digits is
also a Dutch BSN.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import idnumbers

from fourtier.runtime.privacy.context import WORD, is_named, is_thing

_NAMES = re.compile(
    r"\b(?:national|citizen|identity|identification|insurance|social\ssecurity|tax(?:payer)?"
    r"|fiscal|personal|resident|medicare)[\s-](?:id\w*|card|number|no\b|code|file)"
    r"|\b(?:ssn|sin|nino|bsn|nif|nie|dni|cpf|cnp|egn|egn|pesel|oib|jmbg|emšo|amka|tfn|itin|tckn|cuil"
    r"|cuit|rut|run|curp|pps|ppsn|aadhaar|aadhar|uidai|nric|hkid|my\s?number|inn|snils|ahv|avs"
    r"|teudat\szehut|kennitala|isikukood|asmens\skodas|personas\skods|personnummer|fødselsnummer"
    r"|fodselsnummer|cpr|henkilötunnus|burgerservicenummer|rijksregisternummer|numéro\snational"
    r"|rodné\sčíslo|codice\sfiscale|contribuinte|cartão\sde\scidadão|steuer-?(?:id\w*|nummer)"
    r"|identifikationsnummer|sozialversicherungsnummer|personalausweis\w*|ausweisnummer"
    r"|sécurité\ssociale|numéro\sfiscal|cédula|carta\sd.identità|carte\sd.identité"
    r"|idnr|id-nr|identiteitskaart|dowod\w*|dowód\w*|tc\skimlik|kimlik|ЕГН|ИНН|СНИЛС"
    r"|id[\s-]?(?:card|number|no\b))|マイナンバー|身份证|주민등록",
    re.IGNORECASE,
)
#: Numbers that count where they are named, also the reserved ones that nobody has.
_NAMED_ONES = (
    (
        re.compile(r"\bssn\b|social\ssecurity", re.IGNORECASE),
        re.compile(r"(?<![\w.,/+-])\d{3}[- ]?\d{2}[- ]?\d{4}(?![\w/-]|[.,]\d)"),
    ),
    (
        re.compile(r"\bnino\b|\bNI\sn|national\sinsurance", re.IGNORECASE),
        re.compile(r"(?<!\w)[A-Z]{2} ?\d{2} ?\d{2} ?\d{2} ?[A-D](?!\w)"),
    ),
    (
        re.compile(r"\bcui[lt]\b", re.IGNORECASE),
        re.compile(r"(?<!\w)\d{2}-?\d{8}-?\d(?!\w)"),
    ),
)
_LETTERS_TOO = re.compile(r"[^0-9A-Za-z]")


def _plain(number: str) -> str:
    return _LETTERS_TOO.sub("", number).upper()


def _as_written(number: str) -> str:
    return number


def _hyphen_before_last(digits: int) -> Callable[[str], str]:
    def normalised(number: str) -> str:
        plain = _plain(number)
        return f"{plain[:-digits]}-{plain[-digits:]}"

    return normalised


@dataclass(frozen=True, slots=True)
class _Form:
    """How one country writes its numbers.

    Attributes:
        country: whose check digits they have (ISO 3166).
        pattern: how they are written.
        normalised: the form that is checked.
        named: whether words around must say what it is.
    """

    country: str
    pattern: str
    normalised: Callable[[str], str] = _plain
    named: bool = False

    def is_right(self, number: str) -> bool:
        """Whether form and check digits are those of the country."""
        return bool(idnumbers.validate(self.country, self.normalised(number)))

    def is_said(self, text: str, start: int, end: int) -> bool:
        """Whether nothing around speaks against it, or, where it must, something for it."""
        named = is_named(_NAMES, text, start, end)
        return named or not (self.named or is_thing(text, start))


def _spanish(number: str) -> str:
    """Of a foreigner the first letter stands for a digit."""
    plain = _plain(number)
    return plain.replace(plain[0], str("XYZ".index(plain[0])), 1) if plain[0] in "XYZ" else plain


def _chilean(number: str) -> str:
    plain = _plain(number)
    return f"{plain[:-7]}.{plain[-7:-4]}.{plain[-4:-1]}-{plain[-1]}"


def _swiss(number: str) -> str:
    plain = _plain(number)
    return f"{plain[:3]}.{plain[3:7]}.{plain[7:11]}.{plain[11:]}"


_FORMS = (
    _Form("US", r"\d{3}[- ]\d{2}[- ]\d{4}", lambda number: number.replace(" ", "-")),
    _Form("CA", r"\d{3}[- ]?\d{3}[- ]?\d{3}", named=True),
    _Form("GB", r"[A-CEGHJ-PR-TW-Z]{2} ?\d{2} ?\d{2} ?\d{2} ?[A-D]"),
    _Form("IE", r"\d{7}[A-W][A-IW]?"),
    _Form("FR", r"[12] ?\d{2} ?\d{2} ?[\dAB]{2} ?\d{3} ?\d{3} ?\d{2}"),
    _Form("DE", r"\d{2} ?\d{3} ?\d{3} ?\d{3}", named=True),
    _Form("CH", r"756[. ]?\d{4}[. ]?\d{4}[. ]?\d{2}", _swiss),
    _Form("ES", r"(?:\d{8}|[XYZ][- ]?\d{7})[- ]?[A-HJ-NP-TV-Z]", _spanish),
    _Form("PT", r"\d{3} ?\d{3} ?\d{3}", named=True),
    _Form("IT", r"[A-Z]{6} ?\d{2}[A-EHLMPR-T]\d{2} ?[A-Z]\d{3}[A-Z]"),
    _Form("NL", r"\d{4}[. ]?\d{2}[. ]?\d{3}|\d{9}", named=True),
    _Form("BE", r"\d{2}\.\d{2}\.\d{2}-\d{3}\.\d{2}"),
    _Form("BE", r"\d{11}", named=True),
    _Form("SE", r"(?:19|20)?\d{6}[-+]\d{4}", _as_written),
    _Form("SE", r"(?:19|20)?\d{10}", _hyphen_before_last(4), named=True),
    _Form("NO", r"\d{6} ?\d{5}"),
    _Form("DK", r"\d{6}-\d{4}"),
    _Form("DK", r"\d{10}", named=True),
    _Form("FI", r"\d{6}[-+A-FU-Y]\d{3}[0-9A-FHJ-NPR-Y]", _as_written),
    _Form("IS", r"\d{6}-\d{4}", named=True),
    _Form("EE", r"[1-8]\d{10}", named=True),
    _Form("LT", r"[1-8]\d{10}", named=True),
    _Form("LV", r"\d{6}-\d{5}"),
    _Form("PL", r"\d{11}", named=True),
    _Form("CZ", r"\d{6}/\d{3,4}"),
    _Form("RO", r"[1-8]\d{12}"),
    _Form("BG", r"\d{10}", named=True),
    _Form("HR", r"\d{11}", named=True),
    _Form("SI", r"\d{13}", named=True),
    _Form("RS", r"\d{13}", named=True),
    _Form("TR", r"[1-9]\d{10}", named=True),
    _Form("IL", r"\d{9}|\d{8}-\d", named=True),
    _Form("ZA", r"\d{6} ?\d{4} ?\d{3}"),
    _Form("BR", r"\d{3}\.\d{3}\.\d{3}-\d{2}"),
    _Form("BR", r"\d{11}", named=True),
    _Form("CL", r"\d{1,2}\.\d{3}\.\d{3}-[\dKk]", _chilean),
    _Form("CL", r"\d{7,8}-[\dKk]", _chilean, named=True),
    _Form("MX", r"[A-Z]{4}\d{6}[HMX][A-Z]{5}[A-Z\d]\d"),
    _Form("IN", r"[2-9]\d{3}[- ]?\d{4}[- ]?\d{4}", named=True),
    _Form("CN", r"\d{17}[\dXx]"),
    _Form("TW", r"[A-Z][12]\d{8}"),
    _Form("HK", r"[A-Z]{1,2}\d{6}\([\dA]\)"),
    _Form("SG", r"[STFGM]\d{7}[A-Z]"),
    _Form("KR", r"\d{6}-[1-8]\d{6}", _as_written),
    _Form("JP", r"\d{4}[- ]?\d{4}[- ]?\d{4}", named=True),
    _Form("AU", r"\d{3} ?\d{3} ?\d{3}", named=True),
    _Form("AE", r"784-?\d{4}-?\d{7}-?\d"),
)
_COMPILED = [
    (form, re.compile(rf"(?<!{WORD})(?<![.,/+-])(?:{form.pattern})(?!{WORD}|[/-]|[.,]\d)"))
    for form in _FORMS
]

#: Numbers without check digits, where the words around say that they are one.
_UNCHECKED = re.compile(r"(?<![\w.,/+-])(?=[A-Z]{0,3}\d)[A-Z0-9]{6,14}(?![\w/-]|[.,]\d)")
_CARD_OF = re.compile(
    r"\b(?:id(?:entity)?[\s-]?card|personalausweis\w*|ausweisnummer|carte\sd.identité|dni|cédula"
    r"|carta\sd.identità|dow[oó]d\w*(?:\sosobist\w+)?|identiteitskaart|driv(?:er.?s|ing)\slicen[cs]e"
    r"|führerschein\w*|permis\sde\sconduire|national\sid)\b[^.!?\n\d]{0,25}\Z",
    re.IGNORECASE,
)


def national_ids(text: str) -> Iterator[tuple[int, int]]:
    """Where there are numbers of persons."""
    for form, pattern in _COMPILED:
        for found in pattern.finditer(text):
            if form.is_right(found[0]) and form.is_said(text, *found.span()):
                yield found.span()
    yield from _named(text)


def _named(text: str) -> Iterator[tuple[int, int]]:
    """Numbers that have no check digit: the words before say what they are."""
    for names, pattern in _NAMED_ONES:
        for found in pattern.finditer(text):
            if is_named(names, text, *found.span()):
                yield found.span()
    for found in _UNCHECKED.finditer(text):
        if _CARD_OF.search(text, max(0, found.start() - 60), found.start()):
            yield found.span()
