import { createRequire } from 'node:module';
import countries from 'i18n-iso-countries/index.js';
import type { DoubtReason } from '../vocabulary.js';
import { saysUnknown } from './doubts.js';

// The package's main entry loads the names of every language; here only English is loaded.

const require = createRequire(import.meta.url);

/** Common English names that the ISO list lacks, each with its alpha-2 code. */
const shortForms: readonly (readonly [name: string, alpha2: string])[] =
  `gb: england, scotland, wales, northern ireland, britain, u k; sy: syria; mm: burma; sz: swaziland;
  mo: macau, macao sar; cd: dr congo, drc, congo kinshasa, democratic republic of congo;
  cg: congo brazzaville, congo; tl: east timor; la: laos; md: moldova; bn: brunei; fm: micronesia;
  va: vatican, vatican city, holy see; nl: holland; mk: macedonia; ve: bolivarian republic of venezuela;
  kp: democratic peoples republic of korea, dprk; cn: prc; bo: plurinational state of bolivia;
  ps: palestinian territory, palestinian territories; ba: bosnia; vn: viet nam; cv: cabo verde;
  hk: hong kong sar; sk: slovak republic; kg: kyrgyz republic; ie: republic of ireland; xk: republic of kosovo;
  vi: us virgin islands`
    .split(/;\s+/)
    .flatMap((line) => {
      const [alpha2 = '', names = ''] = line.split(': ');
      return names.split(', ').map((name) => [name, alpha2] as const);
    });

const codes = collectCodes();

/** Gives the lower-case alpha-2 code of an ISO 3166-1 code or an English name; null for any other text. */
export function toCountryCode(text: string): string | null {
  const plain = codes.get(text.trim().toLowerCase());
  if (plain !== undefined) return plain;
  const folded = foldCountry(text);
  // A name that looks like a code after folding is not a code: Belgium is B\u1ec9 in Vietnamese, and BI is Burundi.
  if (/^[a-z]{2,3}$/.test(folded)) return null;
  return codes.get(folded) ?? codes.get(foldCountry(reverseName(text))) ?? null;
}

function collectCodes(): ReadonlyMap<string, string> {
  countries.registerLocale(require('i18n-iso-countries/langs/en.json'));
  const found = new Map<string, string>();
  const names = countries.getNames('en', { select: 'all' });
  for (const [alpha2, all] of Object.entries(names)) {
    for (const name of [...all.map(reverseName), ...all]) found.set(foldCountry(name), alpha2.toLowerCase());
  }
  for (const [name, alpha2] of shortForms) found.set(foldCountry(name), alpha2);
  for (const [alpha2, alpha3] of [...Object.entries(countries.getAlpha2Codes()), ['XK', 'XKX'] as const]) {
    found.set(alpha2.toLowerCase(), alpha2.toLowerCase());
    found.set(alpha3.toLowerCase(), alpha2.toLowerCase());
  }
  return found;
}

/** Gives "Islamic Republic of Iran" for "Iran, Islamic Republic of" and "Iran (Islamic Republic of)". */
function reverseName(name: string): string {
  const text = name.trim();
  const at = text.slice(1).search(/[,(]/) + 1;
  const behind = text.slice(at + 1).trim();
  const first = behind.length > 1 && behind.endsWith(')') ? behind.slice(0, -1).trimEnd() : behind;
  return at === 0 || first === '' ? name : `${first} ${text.slice(0, at).trimEnd()}`;
}

/** Folds the name of a country: no case, accents, punctuation and articles; Indic vowel signs are kept. */
function foldCountry(text: string): string {
  const bare = text
    .normalize('NFKD')
    .replace(/\p{Script=Inherited}/gu, '')
    .toLowerCase()
    .replace(/&/g, ' and ');
  return bare
    .replace(/['’`]/g, '')
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, ' ')
    .trim()
    .replace(/^the /, '')
    .replace(/^st /, 'saint ');
}

/** The country codes of a text, or why it names no country. */
type ReadCountry = { codes: readonly string[] } | { why: DoubtReason };

/**
 * Reads an ISO code of two or three letters (four for former countries), a name in any known language, or the English
 * adjective of a nationality. Names of `language` come first. Without a language, a name that languages read
 * differently is ambiguous.
 */
export function readCountry(text: string, language: string | null): ReadCountry {
  const given = text.trim();
  if (/^[A-Za-z]{2,3}$/.test(given)) {
    const code = toCountryCode(given);
    const isWord = code !== null && /^[A-Z][a-z]+$/.test(given);
    if (code !== null) return isWord ? readWord(given, code, language) : { codes: [code] };
  }
  const folded = foldCountry(given);
  if (stateless.has(folded)) return { why: 'stateless' };
  if (saysUnknown(given) || folded === '' || folded === 'xx' || folded === 'zz') return { why: 'says_unknown' };
  const inLanguage = language === null ? undefined : readNames(language).get(folded);
  if (inLanguage !== undefined) return toCountry(inLanguage);
  if (sharedNames.has(folded)) return { why: 'ambiguous_country' };
  const code = toCountryCode(given);
  if (code !== null) return { codes: [code] };
  const former = formerCountries.get(folded);
  if (former !== undefined) return { codes: former };
  const nationality = readNationality(folded);
  if (nationality !== null) return nationality;
  const found = readAllNames().get(folded) ?? readFurtherNames().get(folded);
  return found === undefined ? { why: 'unknown_country' } : toCountry(found);
}

const toCountry = (found: string): ReadCountry =>
  found === 'ambiguous' ? { why: 'ambiguous_country' } : { codes: [found] };

/** A code written like a word may be a name: Russia is Nga in Vietnamese, and NGA is Nigeria. */
function readWord(given: string, code: string, language: string | null): ReadCountry {
  const names = language === null ? readAllNames() : readNames(language);
  const name = names.get(foldCountry(given)) ?? code;
  if (name === code) return { codes: [code] };
  return language === null ? { why: 'ambiguous_country' } : toCountry(name);
}

const sharedNames = new Set(['congo']);

/** The languages in which country names are read. */
export function listLanguages(): readonly string[] {
  const locales: readonly string[] = require('i18n-iso-countries/supportedLocales.json');
  return locales;
}

const stateless = new Set(
  `stateless,stateless person,no nationality,without nationality,xxa,staatenlos,apatride,apatrida,apatrido,apolide,staatloos,statslos,
bezpanstwowiec,haymatlos,vatansiz,uden statsborgerskab`.split(/,\s*/),
);

/** ISO 3166-3: the code of four letters, former codes, names. A country with one successor gets its code. */
const former: readonly (readonly string[])[] = `
suhh: su, sun, ussr, soviet union, union of soviet socialist republics, sowjetunion, udssr, urss, ussr former,
  former ussr, former soviet union, cccp, ссср
yucs: yu, yug, yugoslavia, former yugoslavia, federal republic of yugoslavia,
  socialist federal republic of yugoslavia, jugoslawien, yougoslavie, jugoslavija, iugoslavia, jugoslavia,
  fr yugoslavia, sfr yugoslavia
cshh: csk, czechoslovakia, czecho slovakia, tschechoslowakei, tchecoslovaquie, ceskoslovensko,
  former czechoslovakia, czechoslovak socialist republic
csxx: scg, serbia and montenegro, serbien und montenegro, serbie et montenegro, srbija i crna gora
anhh: an, ant, netherlands antilles, niederlandische antillen, nederlandse antillen, antilles neerlandaises,
  dutch antilles
nthh: nt, ntz, neutral zone
pchh: pci, pacific islands, trust territory of the pacific islands, pacific islands trust territory
fqhh: atf, french southern and antarctic territories
gehh: gel, gilbert and ellice islands
ddde: dd, ddr, east germany, german democratic republic, gdr, deutsche demokratische republik, ostdeutschland,
  german dem rep
dede: brd, west germany, federal republic of germany, westdeutschland
zrcd: zr, zar, zaire
bumm: bu, bur
tptl: tp, tmp, portuguese timor
dybj: dy, dhy, dahomey
hvbf: hv, hvo, upper volta, haute volta, obervolta
rhzw: rh, rho, rhodesia, southern rhodesia
nhvu: nh, nhb, new hebrides
vdvn: vd, vdr, north vietnam, democratic republic of vietnam, south vietnam
ydye: yd, ymd, south yemen, north yemen, democratic yemen, yemen arab republic,
  peoples democratic republic of yemen
fxfr: fx, fxx, metropolitan france
byaa: bys, byelorussia, byelorussian ssr, belorussia
skin: skm, sikkim
aidj: afi, french afars and issas, french somaliland
ctki: ct, cte, canton and enderbury islands
jtum: jt, jtn, johnston island
mium: mi, mid, midway islands
puum: pu, pus
wkum: wk, wak, wake island
nqaq: nq, atn, dronning maud land
pzpa: pz, pcz, panama canal zone`
  .trim()
  .split(/\n(?! )/)
  .map((line) => line.split(/[:,]\s+/));

const formerCountries: ReadonlyMap<string, readonly string[]> = new Map([
  ...former.flatMap(([code = '', ...spellings]) =>
    [code, ...spellings].map((text): [string, string[]] => [text, [toSuccessor(code)]]),
  ),
  // Czechoslovakia, and Serbia and Montenegro after it.
  ['cs', ['cshh', 'csxx']],
  // Greece, as the European Union writes it.
  ['el', ['gr']],
]);

/** A country that changed its name or joined another one maps to its successor; a divided one does not. */
function toSuccessor(code: string): string {
  if (code === 'byaa') return 'by';
  return /(?:hh|xx|cs)$/.test(code) ? code : code.slice(2);
}

const adjectives = `
ad:andorran ae:emirati,emirian af:afghan ag:antiguan al:albanian am:armenian ao:angolan
ar:argentine,argentinian,argentinean at:austrian au:australian az:azerbaijani,azeri ba:bosnian,bosnian herzegovinian
bb:barbadian bd:bangladeshi be:belgian bf:burkinabe bg:bulgarian bh:bahraini bi:burundian bj:beninese bn:bruneian
bo:bolivian br:brazilian bs:bahamian bt:bhutanese bw:motswana,botswanan by:belarusian,belarussian,byelorussian
bz:belizean ca:canadian cf:central african ch:swiss ci:ivorian cl:chilean cm:cameroonian cn:chinese co:colombian
cr:costa rican cu:cuban cv:cape verdean cy:cypriot,cyprian cz:czech de:german dj:djiboutian dk:danish,dane dz:algerian
ec:ecuadorian,ecuadorean ee:estonian eg:egyptian er:eritrean es:spanish,spaniard et:ethiopian fi:finnish,finn
fj:fijian fm:micronesian fr:french ga:gabonese gb:british,briton,english,scottish,welsh,northern irish gd:grenadian
ge:georgian gh:ghanaian gm:gambian gn:guinean gq:equatorial guinean,equatoguinean gr:greek gt:guatemalan
gw:bissau guinean gy:guyanese hk:hong kong chinese,hongkonger hn:honduran hr:croatian,croat ht:haitian hu:hungarian
id:indonesian ie:irish il:israeli in:indian iq:iraqi ir:iranian,persian is:icelandic,icelander it:italian jm:jamaican
jo:jordanian jp:japanese ke:kenyan kg:kyrgyz,kyrgyzstani,kirghiz kh:cambodian ki:i kiribati km:comoran,comorian
kn:kittitian kp:north korean kr:south korean kw:kuwaiti ky:caymanian kz:kazakh,kazakhstani la:lao,laotian lb:lebanese
lc:saint lucian li:liechtensteiner lk:sri lankan lr:liberian ls:basotho,mosotho lt:lithuanian
lu:luxembourgish,luxembourger lv:latvian ly:libyan ma:moroccan mc:monegasque,monacan md:moldovan me:montenegrin
mg:malagasy mh:marshallese mk:macedonian,north macedonian ml:malian mm:burmese mn:mongolian mr:mauritanian mt:maltese
mu:mauritian mv:maldivian mw:malawian mx:mexican my:malaysian mz:mozambican na:namibian ne:nigerien ng:nigerian
ni:nicaraguan nl:dutch,netherlander no:norwegian np:nepalese,nepali nr:nauruan nz:new zealander om:omani pa:panamanian
pe:peruvian pg:papua new guinean pg:papuan ph:filipino,filipina,philippine pk:pakistani pl:polish,pole pr:puerto rican
ps:palestinian pt:portuguese pw:palauan py:paraguayan qa:qatari ro:romanian,rumanian rs:serbian,serb ru:russian
rw:rwandan sa:saudi,saudi arabian sb:solomon islander sc:seychellois sd:sudanese se:swedish,swede sg:singaporean
si:slovenian,slovene sk:slovak,slovakian sl:sierra leonean sm:sammarinese sn:senegalese so:somali,somalian
sr:surinamese ss:south sudanese st:sao tomean sv:salvadoran,salvadorian sy:syrian sz:swazi td:chadian tg:togolese
th:thai tj:tajik,tajikistani tl:timorese,east timorese tm:turkmen to:tongan tn:tunisian tr:turkish,turk tt:trinidadian
tv:tuvaluan tw:taiwanese tz:tanzanian ua:ukrainian ug:ugandan us:american,us american uy:uruguayan
uz:uzbek,uzbekistani va:vatican vc:saint vincentian ve:venezuelan vn:vietnamese vu:ni vanuatu ws:samoan
xk:kosovar,kosovan ye:yemeni,yemenite za:south african zm:zambian zw:zimbabwean suhh:soviet yucs:yugoslav,yugoslavian
cshh:czechoslovak,czechoslovakian`;

const sharedAdjectives = new Set(['korean', 'congolese', 'dominican', 'samoan', 'micronesian']);

const nationalities: ReadonlyMap<string, string> = new Map(
  [...adjectives.matchAll(/([a-z]{2,4}):((?:(?! ?[a-z]{2,4}:)[^\n])+)/g)].flatMap(([, code = '', words = '']) =>
    words.split(',').map((word) => [word.trim(), code] as const),
  ),
);

function readNationality(folded: string): ReadCountry | null {
  const word = folded.replace(/ (?:national|nationality|citizen|subject)$/, '');
  if (sharedAdjectives.has(word)) return { why: 'ambiguous_country' };
  const code = nationalities.get(word);
  return code === undefined ? null : { codes: [code] };
}

const namesByLanguage = new Map<string, ReadonlyMap<string, string>>();
let allNames: ReadonlyMap<string, string> | undefined;

/** The names of all languages with their codes. Loaded only when nothing else reads a text: it takes 0.2 s. */
function readAllNames(): ReadonlyMap<string, string> {
  if (allNames !== undefined) return allNames;
  const all = new Map<string, string>();
  for (const language of listLanguages()) {
    for (const [name, code] of readNames(language))
      all.set(name, (all.get(name) ?? code) === code ? code : 'ambiguous');
  }
  allNames = all;
  return all;
}

function readNames(language: string): ReadonlyMap<string, string> {
  const known = namesByLanguage.get(language);
  if (known !== undefined) return known;
  const { countries }: { countries: Readonly<Record<string, string | readonly string[]>> } = require(
    `i18n-iso-countries/langs/${language}.json`,
  );
  const names = new Map<string, string>();
  for (const [alpha2, each] of Object.entries(countries)) {
    for (const name of [each].flat()) {
      const folded = foldCountry(name);
      const code = alpha2.toLowerCase();
      names.set(folded, (names.get(folded) ?? code) === code ? code : 'ambiguous');
    }
  }
  namesByLanguage.set(language, names);
  return names;
}

const furtherLanguages = ['fr', 'de', 'it', 'es', 'nl', 'pl', 'pt'] as const;

/** Common and official names in these languages, most of which neither `i18n-iso-countries` nor CLDR has. */
const furtherForms = `
gb: angleterre, écosse, pays de galles, irlande du nord, grande-bretagne, großbritannien, schottland, nordirland,
  inghilterra, scozia, galles, irlanda del nord, gran bretagna, inglaterra, escocia, gales, irlanda del norte,
  gran bretaña, engeland, schotland, noord-ierland, groot-brittannië, anglia, szkocja, walia, irlandia północna,
  escócia, país de gales, irlanda do norte, grã-bretanha
us: états-unis d'amérique, vereinigte staaten von amerika, stati uniti d'america, estados unidos de américa,
  estados unidos da américa, verenigde staten van amerika, stany zjednoczone ameryki, ee uu, eeuu
ru: fédération de russie, fédération russe, russische föderation, federazione russa, federación rusa,
  federación de rusia, russische federatie, federacja rosyjska, federação russa, federação da rússia
cd: rdc, rd congo, congo rdc, république démocratique du congo, congo kinshasa, demokratische republik kongo,
  dr kongo, kongo kinshasa, repubblica democratica del congo, república democrática del congo,
  democratische republiek congo, demokratyczna republika konga, república democrática do congo
cg: république du congo, republik kongo, kongo brazzaville, repubblica del congo, república del congo,
  republiek congo, república do congo
mm: birmanie, birma, birmania, birmânia
cz: tchéquie, république tchèque, tschechien, tschechische republik, cechia, repubblica ceca, chequia,
  república checa, república tcheca, tsjechië, tsjechische republiek, czechy, republika czeska, chéquia, tchéquia
mk: macédoine, mazedonien, macedonië, macedónia, macedônia
ch: confédération suisse, confédération helvétique, schweizerische eidgenossenschaft, confederazione svizzera,
  confederación suiza, zwitserse confederatie, konfederacja szwajcarska, confederação suíça
mc: principauté de monaco, fürstentum monaco, principato di monaco, principado de mónaco, principado do mônaco,
  vorstendom monaco, księstwo monako
li: principauté de liechtenstein, fürstentum liechtenstein, principato del liechtenstein, principado de liechtenstein
ad: principauté d'andorre, fürstentum andorra, principato di andorra, principado de andorra
lu: grand-duché de luxembourg, großherzogtum luxemburg, granducato di lussemburgo, gran ducado de luxemburgo,
  groothertogdom luxemburg
de: république fédérale d'allemagne, rfa, bundesrepublik deutschland, repubblica federale di germania,
  república federal de alemania, bondsrepubliek duitsland, república federal da alemanha
fr: république française, französische republik, repubblica francese, república francesa
it: république italienne, italienische republik, repubblica italiana, república italiana
va: saint-siège, cité du vatican, heiliger stuhl, santa sede, città del vaticano, heilige stoel, stolica apostolska
ci: elfenbeinküste, costa d'avorio, costa de marfil, ivoorkust, wybrzeże kości słoniowej, costa do marfim
nl: hollande, olanda, holanda, holandia
by: biélorussie, weißrussland, bielorussia, bielorrusia, wit-rusland, bielorrússia
md: moldavie, moldawien, moldavia, moldavië, mołdawia, moldávia
kr: république de corée, republik korea, repubblica di corea, república de corea, republiek korea, república da coreia
kp: république populaire démocratique de corée, rpdc, demokratische volksrepublik korea
cn: république populaire de chine, rpc, volksrepublik china, vr china, repubblica popolare cinese,
  república popular china, volksrepubliek china, chińska republika ludowa, república popular da china
ir: république islamique d'iran, islamische republik iran, repubblica islamica dell'iran, república islámica de irán
sy: république arabe syrienne, arabische republik syrien, repubblica araba siriana, república árabe siria
ae: eau, vae, émirats, emirate, emirati
sk: république slovaque, slowakische republik, repubblica slovacca, república eslovaca
tl: timor oriental, osttimor, timor est, oost-timor
cv: cap-vert, kap verde, capo verde, kaapverdië
ps: palestina, palästina, palestyna, autorité palestinienne, territoires palestiniens`;

let furtherNames: ReadonlyMap<string, string> | undefined;

/** The names of CLDR and our own ones in some languages. They are read last, so they change no other reading. */
function readFurtherNames(): ReadonlyMap<string, string> {
  if (furtherNames !== undefined) return furtherNames;
  const found = new Map<string, string>();
  const add = (name: string, code: string): void => {
    const folded = foldCountry(name);
    found.set(folded, (found.get(folded) ?? code) === code ? code : 'ambiguous');
  };
  for (const language of furtherLanguages) {
    const display = new Intl.DisplayNames([language], { type: 'region' });
    for (const alpha2 of [...Object.keys(countries.getAlpha2Codes()), 'XK'])
      add(display.of(alpha2) ?? alpha2, alpha2.toLowerCase());
  }
  for (const line of furtherForms.trim().split(/\n(?! )/)) {
    const [code = '', names = ''] = line.split(': ');
    for (const name of names.split(',')) add(name, code);
  }
  furtherNames = found;
  return found;
}
