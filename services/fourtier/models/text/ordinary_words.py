"""Words that begin with a capital at the head of a sentence, or always, and name nobody.

Stop words are known to the engine (`terms`); these are the open classes beside them, as far as
everyday and working life needs them.
"""


# In one text each, because lists of quoted words are hard to read and to extend.
def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Days, months and feasts: times, wherever they stand.
TIMES = _words(
    """
    apr april aug august christmas dec december diwali easter feb february fri friday fridays
    halloween hanukkah jan january jul july jun june mar march may mon monday mondays nov
    november oct october pentecost ramadan sat saturday saturdays sep sept september sun sunday
    sundays thanksgiving thu thur thurs thursday thursdays tue tues tuesday tuesdays wed
    wednesday wednesdays xmas
    """
)
#: People and languages, where nothing but these is written with a capital.
NATIONALITIES = _words(
    """
    afghan african albanian algerian american americans arab arabic argentinian asian australian
    austrian belgian brazilian brazilians british brits bulgarian canadian canadians catalan
    chilean chinese christian colombian croatian cuban czech danes danish dutch egyptian english
    estonian ethiopian european europeans farsi filipino finnish flemish french georgian german
    germans ghanaian greek hebrew hindi hungarian icelandic indian indians indonesian iranian
    iraqi irish israeli italian italians jamaican japanese jewish kenyan korean kurdish latin
    latvian lebanese lithuanian malaysian maltese mandarin mexican mexicans mongolian moroccan
    muslim nepali nigerian nordic norwegian norwegians pakistani persian peruvian polish
    portuguese punjabi romanian russian russians sami scandinavian scottish serbian slovak
    slovenian somali spanish swahili swedes swedish swiss syrian taiwanese tamil thai tibetan
    tunisian turkish ukrainian urdu vietnamese welsh
    """
)
#: Stand before a name, or for one, and are none.
TITLES = _words(
    """
    aunt auntie aunty boss captain coach cousin dad daddy doctor dr grandad granddad grandma
    grandpa granny lady lord madam mama miss mister mom mommy mr mrs ms mum mummy nan nana papa
    prof professor rev reverend sir uncle
    """
)
#: Written with capitals, and no name of anything in particular.
CAPITALISED = _words(
    """
    adhd ai am api asap atm bbq bsc btw cd ceo cfo coo cto diy dna dvd eta faq fyi god gps hr
    html id internet it kpi led lgbt lgbtq lgbtq+ lol mba ml msc nb ok okay omg pc pdf phd pm ps
    ptsd roi rsvp sms sql suv t-shirt t-shirts tba tbd tldr tv url usb vip web wi-fi wifi x-ray
    x-rays
    """
)
#: Begin a sentence beside its subject, or ask for something: a name may come right behind them.
OPENERS = _words(
    """
    a about above absolutely according across actually add after afternoon again ago agree
    agreed ah all allow almost along already alright also although always am amazing amid among
    an and another any anybody anymore anyone anything anytime anyway anyways anywhere apart
    apparently appreciate are around as ask assuming at attached awesome aww awww back basically
    be because before behind being believe below beside besides best better between beyond big
    book both bring brings btw bummer but buy by bye call can cancel catch certainly change
    check cheers choose clean clearly close come compared complete concerning congrats
    congratulations consider contact continue cool could count create currently damn dang dear
    decide definitely delete describe despite did do does don't double down dozens draft drop
    due during each early eight either else email enclosed enjoy enough ensure especially even
    eventually ever every everybody everyone everything everywhere exactly except explain far
    feel feels few file fill final finally find fine finish first five fix follow for forget
    former fortunately forward four from fun further generally get give given glad go gonna good
    goodbye gosh got gotta great greetings guess had haha half hang happy hardly has have having
    he hello help hence her here hey hi his hmm hold honestly hooray hope hopefully hour how
    however hugs hundreds i if imagine important in including indeed initially inside instead
    interested interesting into invite is it its join just keep kindly kudos last lastly late
    lately later learn least leave less let lets like likely listen loads long look looks lot
    lots love lovely luckily made mainly make makes many maybe me meanwhile meet mention merry
    message met might millions mind mine mmm more moreover morning most mostly move much must my
    nah near nearly need neither never nevertheless new next nice nine no nobody none nope nor
    normally not note nothing now nowadays obviously odd of off often oh old on once one ones
    only onto oof oops open or order originally other others otherwise ouch ought our out
    outside over overall owing own past pay perhaps personally pick place plan play please
    plenty plus possibly post prefer prepare presently pretty previously print probably put
    quick quite rarely rather read reading ready really recently regarding regardless regards
    remember remind repeat reply return review right run sadly said same save say schedule
    search second see seems seldom send set seven several shall share she should show similarly
    simply since sincerely six so some somebody somehow someone something sometimes somewhere
    soon sorry sounds speak start started stay stick still stop strangely such suddenly super
    sure surely surprisingly take talk tell ten than thank thanks that the their them then there
    therefore these they things think third this those though thousands three through throughout
    throw thus till to today together tomorrow tonight tons too top totally toward towards
    translate true truly try turn twice two typically ugh under understand unfortunately unless
    unlike until up update upon us use used usually very via visit wait wanna want wash watch
    way we welcome well were what whatever when whenever where wherever whether which while who
    whoa whole whom whose why will wish with within without woah wonderful woo woohoo work would
    wow write wrong yay yea yeah yep yes yesterday yet you your yours yum yup zero
    """
)
#: Things, and what they are like: alone at the head of a sentence they name nobody, but "Red Cross"
#: and "Spring Valley" do.
NOUNS = _words(
    """
    accommodation account advice air alcohol anger animals appointment appointments art autumn
    babies baby backups bacon baking basketball bath battery beautiful beer biking bills biology
    birthday birthdays black blood blue board books boyfriend boys brave bread breakfast brother
    brothers brown budget bug bugs business busy butter cake camping car cars cash cat cats
    challenges cheese chemistry chess chicken child childcare children chocolate church cinema
    class classes clients climate clothes code coffee cold colleagues college company complaints
    concert confident contract contractors conversations cooking cost costs crazy cream crime
    customers cute cycling dance data daughter deadline deadlines death delivery development
    dinner dinners doctors documentation dog dogs domestic dust economy education eggs
    electricity employees energy epic equipment evening evenings exam exams excited exercise
    expenses experience faith family fantastic father feedback film fingers fire fish fishing
    fitness flight flights flour flowers food football freedom freelance friend friends fruit
    fuel funding furniture gardening gas girlfriend girls glass gold golf gorgeous gravity gray
    green grey groceries guests guitar hair hard health heat heating hiking hilarious hiring
    history hockey holiday holidays home homework honey horses hospital hot hotels hours house
    housing huge hunger husband ice impressive information injury insurance interest invoices
    jazz jealous jewelry jogging juice karate kids kitchen knowledge labour land language
    laughter laundry law lessons library life light literature little logs love luck luggage
    lunch lunches machine maintenance management marketing marriage math maths meal meals meat
    medicine meditation meeting meetings membership memory men mental metal milk mixed money
    month months morning mornings mother mountain movie movies music nature neighbors neighbours
    news night nights noise nurses office oil onboarding orange overtime paint paper parents
    parking partner passengers password passwords patience payment payments peace pension people
    perfect performance pets physics piano pink pizza planning plans plants plastic police
    politics pool poor positive potatoes pregnancy price prices privacy production profit
    programming progress project projects property purple quality rain reality rehearsal
    rehearsals rejections releases rent research retirement revenue rice rooms rugby running
    safety salad salaries salary sales salt sand school science security server servers service
    setbacks shift shifts shipping shoes shop shopping silence silver simple sister sisters
    skiing skin sleep small smoking snow soccer social software son soup space spaghetti sport
    sports spring sprint staff steel stories strength stress strong students study sugar summer
    sunlight sunset supper support surgery swimming tax taxes tea teacher teachers teaching team
    teams technology tennis testing tests theatre therapy thoughts tickets time times tofu
    tomatoes tough tournaments trade traffic training transport travel traveling travelling
    trees truth tuition tuna turnover twins unemployment university vacation vegetables version
    violence visitors volleyball volunteers wages warm water weather wedding weddings week
    weekdays weekend weekends weeks weight white wife wind wine winter women wood words workers
    working worries year years yellow yoga young youth
    """
)
#: Stand right behind a verb, or behind a subject that stands for several or for a thing.
AFTER_NO_NAME = _words(
    """
    a am an any are aren't begin belong come contain cost do don't each eat every feel get give
    go grow have haven't he help her him his i i'd i'll i'm i've it its keep know like look love
    make me my need of our remain require say seem she some start take tend the their them there
    these they think this those to us use want we were weren't work you your
    """
)
#: Names that end as other words do.
ENDING_LIKE_WORDS = _words(
    """
    ahmed alfred beijing beverly billy boeing browning carly charity charly chongqing clarence
    clement constance corning dolly ealing emily epping felicity fielding fleming florence
    golding hamed harding holly italy kelly kimberly lamont lawrence lilly lily manning mildred
    milly mohamed mohammed molly nanjing nelly orly polly provence sally shelly sicily sterling
    terence torrance tring trinity turing verity wilfred willy winifred wyoming
    """
)
ENDINGS = (
    "ing",
    "ly",
    "ed",
    "tion",
    "sion",
    "ness",
    "ment",
    "ship",
    "ism",
    "ence",
    "ance",
    "ity",
    "able",
)
