"""The English words by which sentences are told apart. Lower case, apostrophes straight."""


# In one text each, because lists of quoted words are hard to read and to extend.
def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Say nothing by themselves: function words, and what only holds a sentence together.
FUNCTION = _words("""
    a an the this that these those there here it its it's that's there's here's what's let's
    i i'm i've i'd i'll me my mine myself we we're we've we'd we'll us our ours ourselves
    you you're you've you'd you'll your yours yourself he he's she she's him her his hers they
    they're they've them their theirs one who whom whose which what when where why how
    am is are was were be been being isn't aren't wasn't weren't do does did doing done don't
    doesn't didn't have has had having haven't hasn't hadn't can could will would shall should may
    might must can't couldn't won't wouldn't shouldn't gonna wanna gotta
    and or but so if then than because since as while though although also too either neither both
    of in on at by for with about to from into onto over under up down out off through after before
    again around near not no nor yes yeah yep
    just really very quite pretty much more most less least many lot lots some any all every each
    such only even still already yet now ever never always ok okay oh ah well like kind sort bit
    something anything everything nothing someone anyone everyone somebody thing things stuff way
    s re ve ll d m t u
""")

#: Praise, thanks, assent and feelings about what somebody else said. A sentence made of these and
#: of function words is small talk.
SMALL_TALK = _words("""
    hi hello hey hiya yo howdy greetings morning afternoon evening night day days bye goodbye cya
    later soon meet meeting chat chatting talk talking speak hear hearing heard see seeing seen
    thanks thank thx ty cheers appreciate appreciated grateful welcome sorry apologies pardon excuse
    please sure yup yes nope nah right alright agreed agree agrees absolutely totally definitely
    certainly exactly indeed course true fair enough understood noted perfect
    great good nice cool awesome amazing wonderful fantastic fabulous excellent brilliant lovely
    sweet beautiful gorgeous stunning incredible impressive inspiring interesting exciting excited
    fun funny helpful kind nicest best better super neat rad epic sick dope lit fine bad sad
    glad happy love loved loving loves proud thrilled wish wishing hope hoping hopes luck lucky
    congrats congratulations bravo kudos wow whoa omg gosh haha hahaha lol hehe hmm um uh aw aww
    sound sounds look looks looking feel feels seem seems mean means guess think thinks thought
    know knows say says said tell told get gets got keep going go goes come make makes made
    take care worries worry problem matter pleasure help helps helping helped support supporting
    job work point idea answer question questions info information advice suggestion suggestions
    tip tips words message reply response sharing share shared listening
    truly always forever together everything safe well-deserved deserve deserves cannot wait
    long time catch catching till until next back let possible
    mate dude buddy friend guys folks everybody man girl bro sis pal dear
""")

#: Begin a sentence that asks for something to be done, where no subject stands before them.
COMMANDS = _words("""
    add analyse analyze answer arrange ask assume avoid book brainstorm buy calculate call
    cancel change check choose clarify compare compile complete compose compute consider
    continue convert cook correct count create debug define delete describe design develop
    discuss display do don't draft draw edit elaborate enter estimate evaluate examine expand
    explain explore extend extract fetch fill find finish fix follow forget format generate get
    give go guess guide help highlight identify ignore imagine implement improve include insert
    introduce keep let let's list listen locate look make mention merge modify move name note
    open order organize outline paraphrase pay pick place plan play please pretend print proceed
    proofread propose prove provide pull push put rank rate read recall recap recommend record
    refactor remember remind remove rename reorder repeat rephrase replace reply report
    reschedule research reserve respond retry return review revise rewrite run save say schedule
    search see select send set share shorten show simplify simulate skip solve sort specify
    start state stop store submit suggest sum summarise summarize switch take talk teach tell
    test think throw transcribe transform translate try turn tweet update use verify visit wait
    wake watch write
""")

#: Commands that are as often the name of a thing: "Book club is on Monday", "Plan B failed".
ALSO_NOUNS = _words("""
    answer book call change check cook count design draft guess guide help list look move name note
    order pay place plan play print record reply report research return review run search set show
    skip sort start state stop switch talk test throw turn tweet visit wait watch
""")

#: Make a finite verb, or show that one is there.
VERBS = _words("""
    am is are was were be been isn't aren't wasn't weren't i'm i've i'd i'll we're we've we'd we'll
    you're you've they're they've he's she's it's that's there's here's do does did don't doesn't
    didn't have has had haven't hasn't hadn't can could will would shall should may might must can't
    couldn't won't wouldn't shouldn't gonna wanna gotta
    went go goes got get gets made make makes took take takes came come comes saw see sees knew know
    knows thought think thinks felt feel feels left leave leaves kept keep keeps began begin begins
    bought buy buys brought bring brings told tell tells said say says found find finds gave give
    gives met meet meets ran run runs won win wins lost lose loses sold sell sells spent spend sent
    send taught teach teaches wrote write writes read ate eat eats drank drink drove drive drives
    grew grow flew fly flies broke fell fall slept swam sang spoke stood understood paid pay pays
    built build builds cost costs cut hit hurt let put quit set shut split spread held hold holds
    led lead leads heard hear hears became become becomes chose choose like likes love loves hate
    hates want wants need needs prefer prefers live lives work works own owns use uses play plays
    study studies speak speaks hope plan plans start starts stay stays look looks sound sounds
    seem seems mean means call calls help helps miss wish believe enjoy enjoys try tries
""")

#: Abbreviations behind which a full stop does not end the sentence.
NEVER_END = _words("""
    dr mr mrs ms prof rev hon gen col lt sgt capt st mt e.g i.e vs cf approx no nos fig figs vol pp
    al ca est dept ext resp incl z.b bzw nr
""")

#: Those behind which it does, when the next word is one that begins sentences.
MAY_END = _words("""
    a.m p.m am pm u.s u.k u.s.a e.u etc inc ltd co corp jr sr jan feb mar apr jun jul aug sep sept
    oct nov dec mon tue tues wed thu thurs fri sat sun ph.d b.a m.a b.sc m.sc
""")
STARTERS = _words("""
    i i'm i've i'd i'll my we we're we've our it it's he he's she she's they they're you you're
    your this that that's there the a an and but so then also however in on at when what how who
    where why please can could do is
""")

#: The speaker, and those who are spoken to.
SPEAKER = _words("i i'm i've i'd i'll me my mine myself we we're we've we'd we'll us our ours")
LISTENER = _words("you you're you've you'd you'll your yours")
#: Begin a sentence whose subject was named before it.
PEOPLE = _words("he he's his she she's her they they're they've they'd their")
THINGS = _words("it it's its that that's this these those there both which")
#: Subjects behind which any word is the verb.
SUBJECTS = _words("i i'm i've we we're we've he he's she she's they they're they've")
