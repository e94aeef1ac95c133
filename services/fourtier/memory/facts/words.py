"""The words by which plain English statements are read.

Closed classes of the language for the most part; the open ones are nouns that name one plain value
("colour", "password") and nouns of which somebody may have several ("sister", "flight").
"""

import re

from fourtier.engines.vectors.sparse import terms
from fourtier.memory.statements.calendar_words import MONTHS, WEEKDAYS


# In one text each, because lists of quoted words are hard to read and to extend.
def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _stems(text: str) -> frozenset[int]:
    return frozenset(stem for word in text.split() for stem in terms(word))


#: Denied, wished, planned, supposed, long past, or true of several things: nothing that can take
#: another statement. Small letters only: "Never" in a title is a name.
UNSURE = re.compile(
    r"\?|n't\b|\b(?:not|never|neither|nor|no|none|cannot|any ?more|used to|until|unless|if|whether"
    r"|would|could|might|may|should|shall|will|maybe|perhaps|probably|possibly|potentially|likely"
    r"|supposed|supposedly|hopefully|hope|hopes|hoping|wish|wishes|think|thinks|thought|guess"
    r"|believe|believes|wonder|imagine|pretend|want|wants|wanted|plan to|plans to|planned|planning"
    r"|going to|gonna|wanna|about to|considering|almost|nearly|ago|once|back then"
    r"|back in (?:the|my|our|\d)"
    r"|sometimes|often|usually|mostly|occasionally|temporarily|for now|also|too|as well|another"
    r"|(?:when|while) (?:I|i|he|she|we|they) (?:was|were)|as a (?:kid|child|teenager|student)"
    r"|in my (?:teens|twenties|thirties|youth))\b"
)
#: Says that the statement replaces another one.
CHANGE = re.compile(
    r"(?:^|[\s,])(?:now|right now|currently|actually|instead|nowadays|these days|at the moment"
    r"|at present|from now on|as of (?:now|today|this \w+|next \w+|tomorrow)"
    rf"|since (?:the weekend|yesterday|today|last \w+|this \w+|{WEEKDAYS}|{MONTHS})"
    rf"|(?:starting|as of|effective|beginning|from)(?: on)? (?:today|tomorrow|next \w+"
    rf"|{WEEKDAYS}|(?:\d{{1,2}} )?(?:{MONTHS})(?: \d{{1,2}})?)(?: on(?:wards?)?)?(?! to\b| until\b)"
    r"|from (?:then|here|there|this \w+) on(?:wards?)?)(?=$|[\s,])"
    r"|(?:(?<=\bam)|(?<=\bis)|(?<=\bare))\s(?:down|up) to(?=\s\d)",
    re.IGNORECASE,
)
#: Stands between subject and verb and changes nothing.
ADVERB = r"(?:(?:just|only|currently|mostly|recently|finally|still|officially|already|since)\s+)*"
#: What may stand in front of a statement without being part of it.
OPENING = re.compile(
    r"^(?:(?:oh|well|for what it's worth|fwiw|to be honest|honestly|frankly|as you know|so|and"
    r"|but|hey|hi|yes|yeah|yep|ok|okay|sure|btw|by the way|fyi|note|anyway"
    r"|just so you know|for the record|please|remember that|remember|(?:good|bad|great) news"
    r"|(?P<change>(?:(?:quick|small|short)\s+)?update|actually|turns out|it turns out(?: that)?"
    r"|(?P<mistake>(?:(?:quick|small|short)\s+)?(?:correction|change of plans?|change"
    r"|(?:\w+\s+)?change)"
    r"|sorry|oops|no,? wait|wait|scratch that|my mistake|my bad|I was wrong|I misspoke"
    r"|I mistyped|I meant|I mean|I typed that wrong|typo))"
    r")(?:\s*[,:;!-]\s*|\s+))+",
    re.IGNORECASE,
)

#: A phrase that has one of these in it is not a plain name of a thing.
NOT_IN_A_NAME = _words(
    "i you he she it we they me him her us them this these those there what why how is are was"
    " were be been am has have had do does did because so but than then"
)
#: Begins a clause that tells which one is meant: "the company that ...".
RELATIVE = _words("that which who whom whose where when")
#: Ends the part of a phrase that its last noun heads.
PREPOSITIONS = _words("of for to in on at with from about by per during between towards under over")
#: Small words inside names.
CONNECTORS = _words(
    "of the and de du des von van der den la le les di da del al el es ibn bin & for in on at to"
    " from a an"
    " y e o 's"
)
#: Begin with a capital at the head of a sentence, and name nobody.
NOBODY = _words(
    "a an the this that these those there it he she they you what who which where when why how"
    " everyone everybody someone somebody anyone anybody people both all most some many few each"
    " every one two his her their your its its' my our if as at in on for with from by after"
    " before since because although though while"
)
#: Ends the value and begins something that the statement says besides.
MORE = re.compile(
    r"\s*(?:[;(]|,(?!\s*(?:[A-Z0-9]))|\s-\s|\s(?:and|but|because|so|which|who|where|when|while"
    r"|although|though|including|plus|with|without|as|after|before|or|since|until|that)\b)"
)

#: Nouns of which one may have several: "my sister" fits more than one, "my flight number" too.
SEVERAL = _stems(
    "brother sister sibling son daughter child children kid baby twin cousin uncle aunt nephew"
    " niece grandson granddaughter grandchild friend buddy mate roommate flatmate housemate"
    " neighbour neighbor colleague coworker teammate classmate student pupil teacher client"
    " customer patient"
    " pet dog puppy cat kitten horse bird fish rabbit plant tree car bike"
    " book movie film song album show series game toy photo picture painting gift present idea"
    " recipe dish meal post message note story poem joke question answer problem reason"
    " trip flight train bus meeting appointment class lesson course exam test interview call match"
    " race run walk hike workout session party concert festival event visit date lunch dinner"
    " breakfast order package ticket booking reservation bill invoice purchase task project"
    " thing item part point piece example memory moment day night weekend hobby interest skill"
    " dream wish plan goal account card device computer room bag shirt dress shoe"
)
#: Nouns that have several values even where a statement came with them as its attribute.
MANY = _stems(
    "hobby interest skill language allergy pet child sibling friend like dislike preference goal"
    " habit plan activity sport talent fear dream strength weakness diet restriction symptom"
    " condition medication certification degree membership subscription tool colleague task"
)
#: Unless a word before it says which: "my favourite book".
WHICH = _stems("favourite favorite main primary current home work emergency middle first last full")
#: Nouns whose value may be any plain words: "the official language is Russian".
PLAIN = _stems(
    "name surname nickname username handle email mail address password passcode passphrase code pin"
    " colour color language type kind sort genre brand model make nationality religion occupation"
    " profession major subject gender status title destination currency headquarters pronoun"
    " motto password species breed material flavour flavor style format size diet"
)
_FAVOURITE = _stems("favourite favorite preferred")
#: Nouns whose value is a time.
DATED = _stems(
    "date day time deadline birthday birthdate anniversary start end beginning hour hours schedule"
    " checkout checkin departure arrival bedtime expiry due"
)
#: Says little beside another word of the name: "the Hawaii trip budget".
LIGHT = _stems(
    "trip travel vacation holiday journey visit stay tour project event thing overall total"
)
#: Tells one of several that have the rest of their name in common.
CONTRAST = _stems(
    "old former previous last next other second third original initial first extra minimum maximum"
    " min max daily weekly monthly yearly annual"
)
#: Says that the thing is not the one it was; no part of its name.
FRESH = _words("new updated revised latest actual")
#: Says that the thing is the one that is meant anyway.
CURRENT = _words("current present")


def takes_any_words(head: frozenset[int], rest: frozenset[int]) -> bool:
    """Whether the value may be any plain words."""
    return bool(head & PLAIN or rest & _FAVOURITE)


#: Behind a verb, before what it is about.
DETERMINERS = _words(
    "a an the my our his her their some any this that these those no every each all both many much"
    " several more most too really very just only first second third one's to back out up down off"
    " around away over"
)
#: Ends the phrase that says what a verb is about.
STOPS_OBJECT = _words(
    "that which who whom whose where when because so but and or since after before while if than"
    " called named yesterday today tonight tomorrow now again too also as well last next"
    " this every"
    " once twice often always still already yet together anymore either is are was were"
    " has have had"
)
#: What one feels or thinks of something; no sale and no farewell ends it.
ATTITUDES = _words(
    "like likes love loves hate hates enjoy enjoys prefer prefers miss misses want wants need needs"
    " know knows remember remembers think thinks hope hopes wish wishes admire admires fear fears"
    " recommend recommends dislike dislikes adore adores"
)
#: Nouns that name what one has of something: "a Netflix subscription", "a Sparbank account".
STATES = _stems(
    "subscription membership account contract insurance plan loan lessons classes course app"
    " service version"
)
#: "I sold the Skoda": these end that somebody has one thing.
BELONGING = _words("sold gave got lost returned donated scrapped threw traded given thrown")
#: Verbs of somebody by which something is over.
ENDING_VERBS = (
    r"sold|gave\s+(?:up(?:\s+on)?|away|back)|given\s+(?:up(?:\s+on)?|away|back)|got\s+rid\s+of|quit"
    r"|left|leaves(?!\s+(?:from|at|on|for|in|every)\b)|finished|stopped|cancell?ed|closed|lost"
    r"|ended(?!\s+up)|returned|donated|scrapped"
    r"|threw\s+(?:away|out)|thrown\s+(?:away|out)|traded\s+in|dropped(?:\s+out\s+of)?"
    r"|resigned\s+(?:from|as)"
    r"|stepped\s+down\s+(?:as|from)|withdrew\s+from|deleted|unsubscribed\s+from|terminated"
    r"|discontinued"
    r"|abandoned|decided\s+against|backed\s+out\s+of|called\s+off|paid\s+off|repaid"
    r"|pulled\s+out\s+of"
    r"|shut\s+down|retired\s+from|moved\s+out\s+of|cut\s+out|removed|decommissioned|uninstalled"
    r"|completed|scrapped|gone\s+off|went\s+off|ditched|binned"
)
#: Verbs by which something is over by itself.
ENDED_BY_ITSELF = (
    r"died|passed\s+away|stolen|cancell?ed|called\s+off|over|ended|gone|sold|expired"
    r"|closed(?:\s+down)?"
    r"|shut\s+down|discontinued|finished|lost|scrapped|put\s+down|ran\s+away|broken\s+up|dissolved"
    r"|retired|terminated|decommissioned|dropped|abandoned|demolished|wrecked|totall?ed"
)
#: Past forms that do not end in -ed: what they tell has happened.
PAST = _words(
    "went had got bought saw ran ate met made took gave found lost sold came left wrote told said"
    " built drove flew swam sang spoke began broke won paid sent spent slept felt kept thought"
    " brought caught taught fought knew grew drew threw wore chose rode woke heard held led lent"
    " meant sat stood stole stuck swore tore understood did was were became fell hid shot shook"
    " rose drank forgot forgave dealt dug fed hung laid"
)
#: Those who can have, do and like things themselves.
PERSONS = _stems(
    "brother sister sibling son daughter child children kid kids baby twin cousin uncle aunt nephew"
    " niece grandson granddaughter grandchild friend buddy mate roommate flatmate housemate"
    " neighbour neighbor colleague coworker teammate classmate student teacher client customer"
    " mother mum mom mama father dad papa parents parent husband wife partner boyfriend girlfriend"
    " fiance fiancee spouse grandmother grandma granny grandfather grandpa stepson stepdaughter"
    " stepmother stepfather boss manager landlord landlady tenant assistant intern dog cat horse"
    " coach captain doctor dentist lawyer accountant in-law mother-in-law father-in-law"
    " brother-in-law sister-in-law godson goddaughter ex team family"
)
#: Nouns that one topic has in common, so that a change of one can be told by another.
TOPICS: dict[int, str] = {
    stem: topic
    for topic, nouns in {
        "work": "job employer work profession occupation unemployed retired position role",
        "spouse": "married divorced single engaged separated widowed boyfriend girlfriend husband"
        " wife partner fiance fiancee spouse",
        "function": "function secretary treasurer chair chairman chairwoman chairperson president"
        " captain deputy leader spokesperson goalkeeper curator principal mayor moderator referee",
        "diet": "vegetarian vegan pescatarian meat fish diet",
    }.items()
    for stem in _stems(nouns)
}
#: What somebody may be by profession; other nouns behind "I am a" are true beside each other.
PROFESSION = (
    r"(?:nurse|doctor|teacher|chef|cook|baker|pilot|judge|clerk|lawyer|engineer|developer"
    r"|programmer"
    r"|designer|manager|director|consultant|accountant|analyst|architect|carpenter|plumber"
    r"|electrician|mechanic|driver|waiter|waitress|barista|cashier|secretary|assistant|translator"
    r"|journalist|editor|writer|photographer|pharmacist|dentist|vet|surgeon|paramedic|midwife"
    r"|therapist|psychologist|researcher|scientist|biologist|chemist|physicist|geologist|professor"
    r"|lecturer|librarian|officer|inspector|firefighter|soldier|sailor|farmer|gardener|florist"
    r"|hairdresser|tailor|butcher|salesman|saleswoman|salesperson|broker|banker|trader|auditor"
    r"|administrator|technician|operator|foreman|welder|painter|roofer|trainee|apprentice|intern"
    r"|freelancer|student|tutor|coach|trainer|lead|head|partner|associate|supervisor|coordinator"
    r"|receptionist|janitor|caretaker|carer|bartender|guide|stewardess|steward|conductor"
    r"|fisherman|postman|policeman|policewoman|actor|actress|miner|mason"
    r"|shepherd|courier|guard|optician|physiotherapist|radiologist|cardiologist|economist"
    r"|recruiter|locksmith|brewer|winemaker)"
)
#: What somebody may work for.
ORGANISATION = (
    r"(?:firm|company|agency|start-?up|bank|school|kindergarten|nursery|hospital|clinic"
    r"|practice|studio|shop|store"
    r"|bookshop|bakery|pharmacy|library|museum|theatre|restaurant|cafe|café|bar|hotel"
    r"|university|college|ministry|charity"
    r"|publisher|newspaper|lab|laboratory|factory|plant|warehouse|office|garage|salon"
    r"|supermarket|farm|airline|brewery"
    r"|foundation|institute|council|court|consultancy|insurer|shipyard|call\s+centre"
    r"|call\s+center|nursing\s+home|care\s+home|vineyard"
    r"|bookstore|florist|butcher|dealership|workshop|gallery|zoo|port|harbour|airport"
    r"|post\s+office)"
)
#: At what time something happened, at the end of what is told of it.
OCCASION = re.compile(
    rf"(?:\s+|^)(?:on\s+(?:{WEEKDAYS})(?!\w)|yesterday|today|tonight"
    r"|tomorrow"
    r"|(?:last|this|next)\s+\w+|(?:in|since|by|until|at\s+the\s+end\s+of"
    r"|at\s+the\s+beginning\s+of)\s+"
    rf"(?:{MONTHS}|spring"
    r"|summer|autumn|fall|winter|(?:19|20)\d\d)\b|(?:a|two|three|some|many"
    r"|\d+)\s+\w+\s+ago)[^,;]*$",
    re.IGNORECASE,
)
#: Begin the name of an event without an article: "Dinner with Eva is at eight".
EVENTS = _words(
    "dinner lunch breakfast brunch practice training rehearsal class school choir band"
    " football yoga"
    " swimming sprint check-in check-out checkout boarding departure arrival registration voting"
    " kick-off kickoff launch stand-up standup rent parking"
)
#: Count something, and tell nothing of what it is.
UNITS = _stems(
    "euro dollar pound kroner krone franc cent percent kilo kg gram mg ml litre liter"
    " metre meter km"
    " mile minute hour second day week month year cup glass piece bottle time person people point"
)
#: What somebody has in mind: it stands beside everything, and may be dropped.
PLAN = re.compile(
    r"^(?P<subject>.{1,40}?)\s+(?:(?:am|is|are)\s+)?(?:want|wants|plan|plans|planned|hope|hopes"
    r"|planning"
    r"|hoping|going|intend|intends|would\s+like|thinking\s+of|thinking\s+about|considering"
    r"|looking\s+to)\s+"
    r"(?:(?:to\s+)?(?:go(?:ing)?|travel(?:ling)?|fly(?:ing)?|mov(?:e|ing))\s+to\s+"
    r"|(?:to\s+)?visit(?:ing)?\s+|to\s+)?(?P<rest>.+)$"
)
#: What was arranged stands until it is called off.
ARRANGED = _words(
    "booked reserved scheduled arranged ordered subscribed joined enrolled registered signed"
    " adopted rented hired planned invited borrowed lent"
)
