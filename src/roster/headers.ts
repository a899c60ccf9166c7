import type { ColumnSettings, PartyColumnSettings } from './settings.js';

type ColumnRole =
  | 'id'
  | 'name'
  | 'first_name'
  | 'middle_name'
  | 'last_name'
  | 'company'
  | 'type'
  | 'birth_date'
  | 'countries'
  | 'risk_tier'
  | 'aliases'
  | 'active'
  | 'end_date';

/** Common headers in some forty languages; the order of their words does not matter. */
const words: Readonly<Record<ColumnRole, string>> = {
  id: `id, no, customer id, customer no, customer ref, customer reference, customer, cif, cif no, cif id, client id,
    client no, client ref, account id, account no, party id, party ref, member id, member no, contact id, contact no,
    reference, ref, external id, uuid, guid, key, record id, kunde, kundenr, kunde nr, kundennr, kundennummer,
    kunde id, kundenummer, kundnr, kundnummer, debitor, debitor nr, debitornummer, konto, kontonummer,
    mandantennummer, personennummer, geschaftspartner, kundenkennung, klantnummer, klantnr, klant id, relatienummer,
    relatie id, client number, id client, code client, identifiant, identifiant client, reference client, matricule,
    matricule client, cliente id, codigo cliente, codigo, identificador, codice cliente, codice, codice anagrafica,
    nag, ndg, klient number, klient id, identyfikator, numer klienta, asiakasnumero, asiakas id, asiakastunnus,
    cislo klienta, cislo zakaznika, klient cislo, ugyfelszam, ugyfel azonosito, ugyfelkod, musteri no,
    musteri numarasi, musteri kodu, cod client, numar client, sifra klijenta, broj klijenta, клиент код, клиент номер,
    клиент id, ид клиента, номер клиента, код, код контрагента, κωδικος πελατη, αριθμος πελατη, κωδικος, 客户编号, 客户号,
    客户代码, 编号, 客戶編號, 顧客番号, 顧客id, 会員番号, 顧客コード, 고객번호, رقم العميل, رقم الزبون, معرف العميل, kunnr, lifnr, partner, cid,
    uid, custno, custid, kliendi kood, kliendi number, klienta numurs, klienta kods, kliento kodas, kliento numeris,
    код клієнта, номер клієнта, клиентски номер, stevilka stranke, מספר לקוח, รหัสลูกค้า, ma khach hang,
    nomor nasabah, id nasabah, kode pelanggan, user id, userid, user no`,
  name: `name, full name, fullname, customer name, client name, legal name, party name, display name, account name,
    customer full name, complete name, registered name, navn, fulde navn, fullt navn, fullstandigt namn, namn, naam,
    volledige naam, vollstandiger name, kundenname, name vorname, nachname vorname, name und vorname, nom complet,
    nom prenom, nom et prenom, prenom nom, nombre completo, nombre y apellidos, apellidos y nombre, nome completo,
    nome cognome, cognome nome, nominativo, intestazione, nazwa, imie nazwisko, nazwisko imie, nimi, koko nimi,
    jmeno prijmeni, cele jmeno, nev, teljes nev, ugyfel neve, ad soyad, adi soyadi, musteri adi, nume complet,
    nume prenume, ime i prezime, фио, полное имя, имя фамилия, наименование, наименование клиента, клиент имя,
    название, ονοματεπωνυμο, 姓名, 客户姓名, 客户名称, 名称, 氏名, 名前, 顧客名, 성명, 이름, 고객명, الاسم الكامل, الاسم, اسم العميل, nm,
    short name, nama, nama lengkap, ho ten, ho va ten, ime in priimek, meno a priezvisko, vards uzvards,
    vardas pavarde, ees perekonnanimi, піб, назва, שם, שם מלא, ชื่อ นามสกุล, نام کامل, nafn, fullt nafn`,
  first_name: `first name, firstname, first, given name, givenname, forename, vorname, vornamen, rufname, fornavn,
    fornavne, fornamn, tilltalsnamn, voornaam, voornamen, roepnaam, prenom, prenoms, prenom usuel, nombre, nombres,
    nombre pila, nome, nome proprio, imie, imie pierwsze, pierwsze imie, etunimi, etunimet, krestni jmeno, jmeno,
    meno, keresztnev, utonev, ad, adi, prenume, ime, имя, ονομα, μικρο ονομα, 名, 이름 이, الاسم الاول,
    vorname adressattyp naturl person, eesnimi, vards, vardas, імя, ім я, שם פרטי, ชื่อ, ten, nama depan, eiginnafn,
    نام, given`,
  middle_name: `middle name, middlename, second name, middle, mellemnavn, mellomnavn, mellannamn, tussenvoegsel,
    tussenvoegsels, zweiter vorname, weitere vornamen, deuxieme prenom, segundo nombre, secondo nome, drugie imie,
    отчество, ikinci adi, πατρωνυμο, по батькові, бащино име, презиме, ten dem`,
  last_name: `last name, lastname, last, surname, family name, familyname, nachname, familienname, zuname, efternavn,
    etternavn, efternamn, slaktsnamn, achternaam, familienaam, nom, nom famille, nom naissance, nom usage, nom usuel,
    apellido, apellidos, primer apellido, cognome, sobrenome, apelido, ultimo nome, nazwisko, sukunimi, prijmeni,
    priezvisko, csaladnev, vezeteknev, soyad, soyadi, nume familie, nume, prezime, фамилия, επωνυμο, επιθετο, 姓, 성,
    اللقب, اسم العائلة, name adressattyp naturl person, perekonnanimi, perenimi, uzvards, pavarde, прізвище, priimek,
    שם משפחה, นามสกุล, ho, nama belakang, eftirnafn, نام خانوادگی`,
  company: `company, company name, organisation, organisation name, business name, entity name, corporate name,
    corp name, firm, firm name, firma, registered company name, trading company, firmenname, unternehmen,
    unternehmensname, unternehmensbezeichnung, gesellschaft, firmierung, firmanavn, virksomhed, virksomhedsnavn,
    selskab, selskabsnavn, bedrijf, bedrijfsnaam, handelsnaam, statutaire naam, raison sociale, denomination,
    denomination sociale, societe, nom societe, nom entreprise, entreprise, razon social, empresa, nombre empresa,
    denominacion social, denominacion, ragione sociale, denominazione, denominazione sociale, azienda, razao social,
    denominacao social, foretag, foretagsnamn, bolag, bolagsnamn, foretak, foretaksnavn, nazwa firmy,
    nazwa przedsiebiorstwa, yritys, yrityksen nimi, yhtio, nazev firmy, nazev spolecnosti, firma neve, cegnev,
    ceg neve, unvan, sirket, sirket adi, firma adi, denumire, denumire firma, naziv, naziv tvrtke, организация,
    компания, название компании, наименование организации, επωνυμια, εταιρεια, 公司名称, 企业名称, 会社名, 法人名, 회사명, اسم الشركة,
    الشركة, name adressattyp unternehmen, ettevote, firma nimi, uznemums, imone, imones pavadinimas, фирма,
    підприємство, компанія, podjetje, spolocnost, nazov firmy, nama perusahaan, perusahaan, cong ty, ten cong ty,
    חברה, שם חברה, บริษัท, fyrirtaki, شرکت`,
  type: `type, customer type, client type, party type, entity type, kind, customer kind, legal form, person or entity,
    category, customer category, customer class, person type, legal status, entity kind, is company, is person,
    is organisation, is individual, is business, is entity, is legal entity, kundentyp, kundenart, personenart,
    personentyp, partnertyp, adressattyp, art, rechtsform, kundetype, kundtyp, klanttype, soort, soort klant,
    soort relatie, type client, type personne, nature juridique, nature client, tipo, tipo cliente, tipo persona,
    tipo personeria, tipo soggetto, natura giuridica, tipo pessoa, typ klienta, rodzaj klienta, osoba, asiakastyyppi,
    typ osoby, ugyfel tipus, ugyfeltipus, tipus, musteri tipi, tip client, tip, тип, тип клиента, вид клиента,
    тип лица, τυπος, τυπος πελατη, 客户类型, 类型, 顧客区分, 種別, 고객유형, نوع العميل, النوع, klienditüüp, kliendi tüüp, isiku liik,
    klienta tips, kliento tipas, тип клієнта, вид лице, vrsta stranke, vrsta klijenta, סוג לקוח, ประเภทลูกค้า,
    jenis nasabah, loai khach hang`,
  birth_date: `birth date, birthdate, birth, dob, d o b, birthday, born, born on, year of birth, yob, date naissance,
    bdate, bday, birthdt, geburtsdatum, geburtstag, geboren, geboren am, geb datum, geb dat, geb am, geb, gebdat,
    gebdatum, geburtsdat, gbdat, geburtsjahr, fodselsdato, fodselsdag, fodselsdata, fodt, fodd, fodelsedatum,
    fodelsear, geboortedatum, geboortejaar, naissance, ne, nee, ne nee, fecha nacimiento, nacimiento, fecha nac,
    data nascita, nascita, nato, nato il, data nasc, data nascimento, nascimento, data urodzenia, data ur, ur, urodzony,
    syntymaaika, syntymapaiva, datum narozeni, narozen, datum narodenia, datum rodenja, datum rojstva,
    szuletesi datum, szuletesi ido, szuletett, dogum tarihi, dogum, data nasterii, дата рождения, рождение,
    год рождения, ημερομηνια γεννησης, γεννηση, 出生日期, 生日, 出生年月日, 生年月日, 誕生日, 생년월일, تاريخ الميلاد, sunniaeg,
    sunnikuupaev, dzimsanas datums, gimimo data, gimimo metai, дата народження, дата на раждане, раждане,
    датум рођења, rojstni datum, תאריך לידה, วันเกิด, วันเดือนปีเกิด, ngay sinh, tanggal lahir, tgl lahir,
    fadingardagur, تاریخ تولد, tarikh lahir`,
  countries: `country, country residence, residence country, residence, nationality, nationalities, nation,
    citizenship, citizen, country citizenship, country nationality, nationality country, country incorporation,
    incorporation country, country registration, country origin, origin country, country domicile, country name,
    country region, home country, jurisdiction, domicile, residency, land, staat, staatsangehorigkeit,
    staatsburgerschaft, nationalitat, nation, wohnsitzland, wohnland, wohnsitzstaat, sitzland, herkunftsland,
    ansassigkeit, nationalitet, statsborgerskab, statsborgerskap, statsborger, nasjonalitet, bopalsland, bopelsland,
    hjemland, medborgarskap, hemvist, hemvistland, nationaliteit, landcode, woonland, vestigingsland, pays,
    pays residence, pays siege, pays nationalite, nationalite, citoyennete, pais, pais residencia, residencia,
    nacionalidad, nacionalidade, cidadania, paese, paese residenza, stato, stato residenza, nazione, nazionalita,
    cittadinanza, residenza, kraj, kraj zamieszkania, obywatelstwo, narodowosc, kansalaisuus, maa, asuinmaa, kotimaa,
    zeme, stat, statni prislusnost, statni obcanstvi, obcanstvi, narodnost, allampolgarsag, orszag, uyruk, uyrugu,
    ulke, ulkesi, vatandaslik, cetatenie, cetatenia, tara, nationalitate, drzava, drzavljanstvo, гражданство, страна,
    страна регистрации, υπηκοοτητα, χωρα, ιθαγενεια, 国籍, 国家, 国家地区, 國籍, 国, 居住国, 국적, 국가, الجنسية, البلد, الدولة,
    بلد الاقامة, country birth, tax country, country tax residence, tax residence, pays naissance, geburtsland,
    kodakondsus, riik, elukohariik, pilsoniba, valsts, pilietybe, salis, громадянство, країна, гражданство, държава,
    држављанство, држава, drzavljanstvo, krajina, statna prislusnost, obcianstvo, אזרחות, מדינה, לאום, สัญชาติ,
    ประเทศ, quoc tich, quoc gia, kewarganegaraan, warganegara, negara, rikisfang, land, ملیت, تابعیت, کشور`,
  risk_tier: `risk, risk tier, risk rating, risk level, risk class, risk category, risk score class, customer risk,
    risiko, risikoklasse, risikostufe, risikoklassifizierung, risikoeinstufung, risikoniveau, risikogruppe, riskklass,
    riskniva, risicoklasse, risico, risque, niveau risque, classe risque, riesgo, nivel riesgo, perfil riesgo,
    rischio, livello rischio, profilo rischio, risco, nivel risco, ryzyko, poziom ryzyka, kategoria ryzyka, riziko,
    kockazat, kockazati szint, риск, уровень риска, 风险等级, リスク`,
  aliases: `alias, aliases, aka, a k a, also known as, other names, other name, former name, former names,
    maiden name, previous name, previous names, native name, native script name, name native script, trading name,
    trade name, doing business as, dba, geburtsname, tidligere navn, nom jeune fille`,
  active: `active, is active, status, customer status, account status, state, aktiv, er aktiv, actif, activo, ativo,
    attivo, actief`,
  end_date: `end date, enddate, closed on, closing date, close date, date closed, closed at, terminated on,
    termination date, left on, leaving date, relationship end, valid to, valid until, ophort, slutdato, slutdatum,
    enddatum, einddatum, date fin, fecha baja, data fine`,
};

const spellings: ReadonlyMap<string, string> = new Map(
  `nm:name nme:name names:name fst:first frst:first lst:last mid:middle mdl:middle fname:first_name lname:last_name
  mname:middle_name fnm:first_name lnm:last_name surnames:surname forenames:forename dt:date dte:date brth:birth
  bth:birth fec:fecha ctry:country cntry:country ctr:country cntr:country countries:country cd:code cod:codigo
  nat:nationality natl:nationality natio:nationality natn:nationality ntnlty:nationality ctzn:citizenship
  ctznshp:citizenship res:residence rsdnc:residence nr:no nbr:no num:no number:no numero:no nummer:no n:no
  cust:customer cst:customer cus:customer clnt:client cli:client clt:client kd:kunde kdn:kunde kunden:kunde kund:kunde
  acct:account acc:account mbr:member mem:member emp:employee org:organisation typ:type organization:organisation
  organizations:organisation indiv:individual ind:individual ident:id`
    .split(/\s+/)
    .map((pair) => {
      const [short = '', long = ''] = pair.split(':');
      return [short, long.replace('_', ' ')];
    }),
);

/** Articles and prepositions; a header means the same without them. */
const joints = new Set(
  'of the de du des di del della do da le la les el los d l s af av den der des und and et y e il i du'.split(' '),
);

/** The words of phrases that may be written without blanks, such as DATEOFBIRTH. */
const glued = new Map<string, readonly string[]>();

const roles: ReadonlyMap<string, ColumnRole> = new Map(
  Object.entries(words).flatMap(([role, list]) =>
    isRole(role) ? list.split(',').map((phrase) => [toKey(toTokens(phrase)), role] as const) : [],
  ),
);

for (const phrase of Object.values(words).flatMap((list) => list.split(','))) {
  const folded = foldHeader(phrase);
  if (folded.includes(' ')) glued.set(folded.replaceAll(' ', ''), toTokens(phrase));
}

function isRole(role: string): role is ColumnRole {
  return Object.hasOwn(words, role);
}

/** Gives the fact that a header names; null when it names none. */
export const readHeaderRole = (header: string): ColumnRole | null => readTokens(toTokens(header));

const readTokens = (tokens: readonly string[]): ColumnRole | null => roles.get(toKey(tokens)) ?? null;

function toKey(tokens: readonly string[]): string {
  return [...tokens].sort().join(' ');
}

/** The folded words of a header without abbreviations. */
function toTokens(header: string): readonly string[] {
  const folded = foldHeader(header);
  const known = glued.get(folded);
  if (known !== undefined) return known;
  const tokens = folded.split(' ').flatMap((token) => (spellings.get(token) ?? token).split(' '));
  const significant = tokens.filter((token) => !joints.has(token));
  return significant.length > 0 ? significant : tokens;
}

/** `Kunde-Nr.`, `kunde_nr` and `KundeNr` fold to one header, as do `Geschäft` and `Geschaeft`. */
export function foldHeader(header: string): string {
  return header
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{L})(\p{Nd})/gu, '$1 $2')
    .toLowerCase()
    .replace(/ø/g, 'o')
    .replace(/æ/g, 'a')
    .replace(/ß/g, 'ss')
    .replace(/ł/g, 'l')
    .replace(/ı/g, 'i')
    .replace(/đ/g, 'd')
    .replace(/[º°]/g, 'o ')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/ς/g, 'σ')
    .replace(/([aou])e/g, '$1')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}

/** The headers of a roster that need no mapping. */
export const standardHeaders = {
  id: 'customer_id',
  name: 'name',
  type: 'type',
  birthDate: 'birth_date',
  countries: 'countries',
  riskTier: 'risk_tier',
} as const;

/** The headers of a source of related parties that need no mapping. */
export const standardPartyHeaders = {
  customerId: 'customer_id',
  role: 'role',
  name: 'name',
  type: 'type',
  birthDate: 'birth_date',
  countries: 'countries',
} as const;

/** Gives the predicate whether a mapping reads a header. */
export function createIsMapped(
  columns: ColumnSettings | PartyColumnSettings,
  standard: Readonly<Record<string, string>>,
): (header: string) => boolean {
  const { realNames: _, ...headers } = columns;
  const parties = 'parties' in columns ? columns.parties : [];
  const related = parties?.flatMap(({ separator: _, ...facts }) => Object.values(facts)) ?? [];
  const settings: unknown[] = [...Object.values({ ...standard, ...headers }), ...related];
  const names = new Set(settings.flatMap(listNames).map((name) => name.normalize('NFC')));
  return (header) => names.has(header.trim().normalize('NFC'));
}

function listNames(setting: unknown): readonly string[] {
  if (setting === 'all') return [];
  if (typeof setting === 'string') return [setting];
  if (Array.isArray(setting)) return setting.flatMap(listNames);
  if (typeof setting !== 'object' || setting === null) return [];
  if ('columns' in setting) return listNames(setting.columns);
  return 'column' in setting ? listNames(setting.column) : [];
}

/** The facts that a source may omit, and the consequence. A differently spelt header would lose one silently. */
const facts = [
  { key: 'type', role: 'type', otherwise: 'every party counts as a person' },
  { key: 'birthDate', role: 'birth_date', otherwise: 'no birth date is known' },
  { key: 'countries', role: 'countries', otherwise: 'no country is known' },
  { key: 'riskTier', role: 'risk_tier', otherwise: 'every customer counts as high risk' },
] as const satisfies readonly { key: string; role: ColumnRole; otherwise: string }[];

function listUnmapped(
  headers: readonly string[],
  columns: ColumnSettings | PartyColumnSettings,
  standard: Readonly<Record<string, string>>,
): (typeof facts)[number][] {
  const settings: Readonly<Record<string, unknown>> = columns;
  const given = new Set(headers.map((header) => header.normalize('NFC')));
  return facts.filter(({ key }) => {
    const header = standard[key];
    return header !== undefined && settings[key] === undefined && !given.has(header);
  });
}

/**
 * Gives the predicate whether a new or missing column matters: the mapping reads it, or its header names an unmapped
 * fact. `headers` are the current ones.
 */
export function createIsRead(
  headers: readonly string[],
  { ignore = [], ...columns }: ColumnSettings | PartyColumnSettings,
  standard: Readonly<Record<string, string>>,
): (header: string) => boolean {
  const isMapped = createIsMapped(columns, standard);
  const roles = new Set<ColumnRole | null>(listUnmapped(headers, columns, standard).map(({ role }) => role));
  const ignored = new Set(ignore.map((header) => header.normalize('NFC')));
  return (header) => !ignored.has(header) && (isMapped(header) || roles.has(readHeaderRole(header)));
}

/**
 * Describes the headers that name an unmapped fact, with the setting to write. Headers in any setting, also in
 * `attributes` or `ignore`, are excluded.
 */
export function describeUnmapped(
  headers: readonly string[],
  columns: ColumnSettings | PartyColumnSettings,
  standard: Readonly<Record<string, string>>,
): readonly string[] {
  const isMapped = createIsMapped(columns, standard);
  return listUnmapped(headers, columns, standard).flatMap(({ key, role, otherwise }) => {
    const found = headers.filter((one) => !isMapped(one) && readHeaderRole(one) === role);
    const [first] = found;
    if (first === undefined) return [];
    const quoted = found.map((one) => JSON.stringify(one));
    const all = `[${quoted.join(', ')}]`;
    const value = key === 'countries' && found.length > 1 ? all : quoted[0];
    const where = 'customerId' in standard ? 'this source of related parties' : 'this roster';
    const reads = found.length === 1 ? `column ${quoted[0]} reads` : `columns ${quoted.join(', ')} read`;
    return [
      `${reads} like ${key}, but no column is mapped for it, so ${otherwise}: write ${key}: ${value} under columns of ${where}, or ignore: ${all} if ${found.length === 1 ? 'it is' : 'they are'} something else`,
    ];
  });
}

/** A column of the source by its position, with its header for messages. */
export interface BoundColumn {
  header: string;
  index: number;
}

/** Headers in NFC; a blank one is named by its position, because several would otherwise be one. */
export const nameHeaders = (headers: readonly string[]): readonly string[] =>
  headers.map((header, index) => header.trim().normalize('NFC') || `column ${index + 1}`);

/** Possible headers of the customer's id; the second list applies only when nothing better exists. */
const plainIds =
  'id, no, ref, reference, uuid, record id, external id, guid, key, konto, codigo, codice, код, κωδικος, 编号';
const weakIds = 'account id, account no, external id, uuid, guid, key, kontonummer';
const weakOthers =
  'short name, country birth, tax country, country tax residence, tax residence, pays naissance, geburtsland';

/** Words for the customer: the rest of such a header is about the customer. */
const ownWords = new Set(
  toFolded(`customer client kunde kunden kundens klant klantens cliente klient member investor insured party partner
    person personen holder account billing main primary legal registered borrower debtor employee user entity ent
    company business trust firm corp corporate organisation applicant policyholder subscriber subject individual
    natural mandanten mitglieds klienten debitor debitoren relatie asiakas musteri ugyfel patient student donor tenant
    buyer supplier vendor creditor lieferanten kreditor contact c cu cst t tbl f k fld col crm kyc aml address addr
    permanent current full asiakkaan клиент клиента πελατη 客户 客戶 顧客 会員 titular titolare assure adherent societaire
    abonne`),
);

/** Final words that do not change the meaning of a header. */
const endings = new Set('code id desc description text txt value iso iso2 iso3 alpha 1 2 3'.split(' '));

/** Words for another person or thing: a header with one of them is not about the customer. */
const otherWords = new Set(
  toFolded(`spouse guarantor beneficiary beneficial ubo owner manager mgr adviser advisor agent broker officer
    director trustee settlor signatory contact emergency mother father parent child employer referrer referee
    introducer relationship rm secretary representative rep attorney accountant auditor created modified updated
    changed createdby by betreuer berater bearbeiter sachbearbeiter ansprechpartner vertreter vermittler ehepartner
    ehegatte burge arbeitgeber conseiller gestionnaire conjoint garant charge gestor gestore asesor conyuge consulente
    referente coniuge radgiver radgivare handlaggare kontaktperson aegtefaelle medarbejder opiekun doradca malzonek
    менеджер супруг temsilci state province provincia prov comune region county bundesland language lang sprache langue idioma lingua sprog
    sprak taal currency ccy wahrung waehrung devise moneda valuta bank branch product issuer issue issued phone mobile
    telefon email mail street strasse zip postal postcode postnummer plz cap iban bic passport pass ssn fax city town
    ort stadt ville ciudad citta by place birthplace lieu lugar luogo geburtsort industry sector occupation profession
    beruf note notes comment comments remark remarks bemerkung mnemonic`),
);

const otherDays = new Set(
  toFolded(`open opened opening since start started begin end ended created create creation modified modify
    modification updated update upd changed change last review reviewed join joined joining registered registration
    incorporated incorporation founded expiry expires expiration issue issued valid hire hired entry admission
    onboarding onboarded kyc contract signed active seit beginn eroffnung angelegt anlage anlagedatum geandert
    antragsdatum grundung grundungsdatum erfasst ouverture creation maj adhesion entree alta apertura baja ingreso
    creacion apertura iscrizione abertura oprettet oppretett siden skapad andrad registrerad stiftet sinds aangemaakt
    otwarcia utworzenia avattu zalozeno kayit открытия регистрации создания изменения 开户日期 注册日期 登録日 開設日 stamp
    timestamp ts erdat aedat crdat chdat settled`),
);

const birthWords = new Set(
  toFolded(
    'birth birthdate birthday born dob yob geburt geburtsdatum geboren naissance nacimiento nascita nascimento urodzenia narozeni рождения',
  ),
);
const countryWords = new Set(
  toFolded(
    'country nationality citizenship domicile jurisdiction residence nationalite nationalitat staatsangehorigkeit staatsburgerschaft land pays pais paese kraj страна гражданство',
  ),
);
const idWords = new Set(toFolded('id uid no ref reference'));

/** Things whose numbers are not the customer's id. */
const things = new Set(
  toFolded(`policy polizze police poliza polizza versicherung versicherungs contract vertrag vertrags contrat contrato
    contratto claim order invoice rechnung rechnungs portfolio depot ticket case akte aktenzeichen loan card karte
    file document dokument ausweis wallet transaction deal trade booking application request row line lfd seq sequence
    item sku asset lead opportunity campaign site batch session event log message tax vat steuer stceg cpf cnpj nif
    dni nie cuit rfc pesel oib bsn cpr ssn siret`),
);

const plain = toKeys(plainIds);
const weak = new Set([...toKeys(weakIds), ...toKeys(weakOthers)]);

/** Reads a header, also one with a prefix or with more words than needed, such as `c_dob` or `Insured Country Code`. */
export function readHeader(header: string) {
  const tokens = toTokens(header);
  const found = findRole(header, tokens);
  return {
    role: found?.role ?? null,
    /** 3: an exact header; 2: with omitted words, or one of several possible ids; 1: a last resort; 0: unknown. */
    strength: found?.strength ?? 0,
    isOther: found === null && tokens.some((token) => otherWords.has(token)),
    isOtherDay: tokens.some(
      (token) => otherDays.has(token) || otherDays.has(token.replace(/(datum|dato|date|tarihi)$/, '')),
    ),
    /** Whether it ends like an id, even of another person: agents may be the customers. */
    endsLikeId: idWords.has(tokens.at(-1) ?? ''),
    isOfThings: tokens.some(
      (token) => things.has(token) || [...things].some((thing) => thing.length > 3 && token.startsWith(thing)),
    ),
  };
}

function findRole(header: string, tokens: readonly string[]) {
  const key = toKey(tokens);
  const exact = readTokens(tokens);
  if (exact !== null) return { role: exact, strength: weak.has(key) ? 1 : plain.has(key) ? 2 : 3 };
  if (tokens.some((token) => otherWords.has(token))) return null;
  const both = readBothNames(tokens);
  if (both !== null) return { role: both, strength: 2 };
  for (const rest of [...dropOwnWords(tokens), ...splitCompound(header)]) {
    const role = readTokens(rest) ?? readTokens(dropEndings(rest));
    if (role === null) continue;
    return { role, strength: role === 'id' ? 3 : weak.has(toKey(rest)) ? 1 : 2 };
  }
  const role = readKeyWord(tokens);
  return role === null ? null : { role, strength: 1 };
}

/** Reads the end or one word of a longer header, as a last resort. */
function readKeyWord(tokens: readonly string[]): ColumnRole | null {
  for (let at = 1; at < tokens.length; at += 1) {
    const role = readTokens(tokens.slice(at));
    const isPart = role === 'first_name' || role === 'middle_name' || role === 'last_name' || role === 'birth_date';
    if (isPart && tokens.length - at > 1) return role;
  }
  const has = (list: ReadonlySet<string>): boolean => tokens.some((token) => list.has(token));
  if (tokens.length > 1 && readTokens(tokens.slice(-1)) === 'name' && !has(things)) return 'name';
  if (has(birthWords) && !tokens.some((token) => token === 'name' || countryWords.has(token))) return 'birth_date';
  if (has(countryWords)) return 'countries';
  const isId = idWords.has(tokens.at(-1) ?? '') || idWords.has(tokens[0] ?? '');
  return isId && tokens.length > 1 && !has(things) ? 'id' : null;
}

/** A column for the names of persons and companies, such as `Nom / Raison sociale`. */
function readBothNames(tokens: readonly string[]): ColumnRole | null {
  for (let at = 1; at < tokens.length; at += 1) {
    const [one, other] = [readTokens(tokens.slice(0, at)), readTokens(tokens.slice(at))];
    const pair = [one, other];
    if (
      pair.includes('company') &&
      pair.some((role) => role === 'name' || role === 'last_name' || role === 'first_name')
    ) {
      return pair.includes('first_name') ? 'name' : 'last_name';
    }
  }
  return null;
}

function dropOwnWords(tokens: readonly string[]): (readonly string[])[] {
  const rests = [tokens];
  for (let rest = tokens; rest.length > 1 && ownWords.has(rest[0] ?? ''); ) {
    rest = rest.slice(1);
    rests.push(rest);
  }
  if (tokens.length > 1 && ownWords.has(tokens.at(-1) ?? '')) rests.push(tokens.slice(0, -1));
  return rests;
}

function dropEndings(tokens: readonly string[]): readonly string[] {
  let end = tokens.length;
  while (end > 1 && endings.has(tokens[end - 1] ?? '')) end -= 1;
  return tokens.slice(0, end);
}

/** Splits compounds such as `CUSTNAME` and `Partnernummer`. */
function splitCompound(header: string): (readonly string[])[] {
  const [first = '', ...others] = foldHeader(header).split(' ');
  return [...ownWords, 'cust', 'cli', 'clnt', 'kunden', 'kd', 'acct', 'mbr']
    .filter((own) => own.length > (/[a-z]/.test(own) ? 2 : 1) && first.startsWith(own) && first.length > own.length + 1)
    .map((own) => toTokens([first.slice(own.length), ...others].join(' ')));
}

function toKeys(list: string): ReadonlySet<string> {
  return new Set(list.split(',').map((phrase) => toKey(toTokens(phrase))));
}

function toFolded(list: string): string[] {
  return list.split(/\s+/).map((word) => foldHeader(word));
}
