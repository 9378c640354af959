/**
 * Irregular forms of English words, which the stemmer does not know, and regular forms that it gets wrong (try and
 * tried have different stems, evening has the stem of even). Each line is a word followed by its other forms. A word
 * alone on its line is not stemmed.
 *
 * Forms that are usually another word are left out: rose, ground, wound, bore, lay, bit, leaves, and "am", which is
 * usually a time of day.
 */
const LINES = `
add added adding
alumnus alumni
appendix appendices
arise arose arisen
awake awoke awoken
be is are was were been
bear borne
beat beaten
become became
begin began begun
bend bent
bite bitten
bleed bled
blow blew blown
break broke broken
breed bred
bring brought
build built
burn burnt
bus buses
businessman businessmen
businesswoman businesswomen
buy bought
cactus cacti
calf calves
catch caught
child children
choose chose chosen
cling clung
come came
creep crept
crisis crises
criterion criteria
cry cries cried
deal dealt
diagnosis diagnoses
die dies died dying
dig dug
do does did done
draw drew drawn
dream dreamt
drink drank drunk
drive drove driven
dry dries dried
eat ate eaten
elf elves
evening
evening evenings
fall fell fallen
feed fed
feel felt
fight fought
find found
fireman firemen
fisherman fishermen
flee fled
fling flung
fly flies flew flown
foot feet
forbid forbade forbidden
foresee foresaw foreseen
forget forgot forgotten
forgive forgave forgiven
free freed
freeze froze frozen
fry fries fried
fungus fungi
gas gases
gentleman gentlemen
get got gotten
give gave given
go goes went gone
goose geese
grandchild grandchildren
grow grew grown
half halves
hang hung
have has had
hear heard
hide hid hidden
his
hold held
hypothesis hypotheses
index indices
keep kept
kneel knelt
knife knives
know knew known
lay laid
lead led
lean leant
leap leapt
learn learnt
leave left
lend lent
lie lies lied lying
light lit
loaf loaves
lose lost
make made
man men
matrix matrices
mean meant
meet met
mislead misled
mistake mistook mistaken
misunderstand misunderstood
mouse mice
news
outgrow outgrew outgrown
overcome overcame
oversee oversaw overseen
ox oxen
pay paid
phenomenon phenomena
pie pies
policeman policemen
prove proven
quiz quizzes
rebuild rebuilt
redo redoes redid redone
rewrite rewrote rewritten
ride rode ridden
ring rang rung
rise risen
run ran
say said
scarf scarves
see saw seen
seek sought
self selves
sell sold
send sent
sew sewn
shake shook shaken
shelf shelves
shine shone
shoot shot
show shown
shrink shrank shrunk
sing sang sung
sink sank sunk
sit sat
sky skies
sleep slept
slide slid
smell smelt
snowman snowmen
sow sown
speak spoke spoken
speed sped
spell spelt
spend spent
spill spilt
spin spun
spit spat
spoil spoilt
spring sprang sprung
spy spies spied
stand stood
steal stole stolen
stick stuck
sting stung
stink stank stunk
strike struck stricken
strive strove striven
swear swore sworn
sweep swept
swell swollen
swim swam swum
swing swung
take took taken
teach taught
tear tore torn
tell told
thesis theses
thief thieves
think thought
throw threw thrown
tie ties tied tying
tooth teeth
tread trod trodden
try tries tried
understand understood
undertake undertook undertaken
undo undoes undid undone
vertex vertices
wake woke woken
wear wore worn
weave wove woven
weep wept
wife wives
win won
withdraw withdrew withdrawn
wolf wolves
woman women
write wrote written
`;

/** Maps an irregular form to its word, and a word that is not stemmed to itself. All in lower case. */
export const IRREGULAR: ReadonlyMap<string, string> = new Map(
  LINES.trim()
    .split("\n")
    .flatMap((line): [string, string][] => {
      const [word = "", ...forms] = line.split(" ");
      return (forms.length > 0 ? forms : [word]).map((form) => [form, word]);
    }),
);
